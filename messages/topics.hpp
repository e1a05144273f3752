#pragma once

/// What actors say to each other about topics and groups: see `requests.hpp` for the conventions.

#include "messages/error.hpp"
#include "messages/ids.hpp"
#include "messages/log_record.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace handfast {

struct topic_info {
  topic_id id;
  std::string name;
  std::uint32_t queues = 0;
  bool read_only = false; ///< views and system topics
  attributes options;
};
template <class Inspector>
auto inspect(Inspector& f, topic_info& x) {
  return f(x.id, x.name, x.queues, x.read_only, x.options);
}

/// connection -> topic_registry. `create`: make it with the defaults if it is missing and the
/// policy allows.
struct resolve_topic {
  correlation id;
  std::string name;
  bool create = false;
};
template <class Inspector>
auto inspect(Inspector& f, resolve_topic& x) {
  return f(x.id, x.name, x.create);
}

struct put_topic {
  correlation id;
  std::string name;
  std::uint32_t queues = 0; ///< 0 = the default
  attributes options;
};
template <class Inspector>
auto inspect(Inspector& f, put_topic& x) {
  return f(x.id, x.name, x.queues, x.options);
}

struct delete_topic {
  correlation id;
  std::string name;
};
template <class Inspector>
auto inspect(Inspector& f, delete_topic& x) {
  return f(x.id, x.name);
}

/// Answer to the three above.
struct topic_resolved {
  correlation id;
  error why; ///< code ok when `topic` is valid
  topic_info topic;
};
template <class Inspector>
auto inspect(Inspector& f, topic_resolved& x) {
  return f(x.id, x.why, x.topic);
}

struct list_topics {
  correlation id;
  std::string after; ///< name of the last one of the page before
  std::uint32_t max = 100;
};
template <class Inspector>
auto inspect(Inspector& f, list_topics& x) {
  return f(x.id, x.after, x.max);
}

struct topics_listed {
  correlation id;
  std::vector<topic_info> page;
  bool more = false;
};
template <class Inspector>
auto inspect(Inspector& f, topics_listed& x) {
  return f(x.id, x.page, x.more);
}

/// connection -> topic_registry: the id of a group, made durable at its first use. `create` = false
/// only looks it up.
struct resolve_group {
  correlation id;
  std::string name;
  bool create = true;
};
template <class Inspector>
auto inspect(Inspector& f, resolve_group& x) {
  return f(x.id, x.name, x.create);
}

/// connection -> topic_registry: makes the group or sets its attributes. Answer: `group_resolved`.
struct put_group {
  correlation id;
  std::string name;
  attributes options;
};
template <class Inspector>
auto inspect(Inspector& f, put_group& x) {
  return f(x.id, x.name, x.options);
}

/// connection -> topic_registry: the group and its progress go; refused while members of it are
/// connected or transactions of it are pending (`group_in_use`). Answer: `group_resolved`.
struct delete_group {
  correlation id;
  std::string name;
};
template <class Inspector>
auto inspect(Inspector& f, delete_group& x) {
  return f(x.id, x.name);
}

struct group_resolved {
  correlation id;
  error why;
  group_id group;
  std::string name;
};
template <class Inspector>
auto inspect(Inspector& f, group_resolved& x) {
  return f(x.id, x.why, x.group, x.name);
}

/// connection -> topic_registry: groups by name. Answer: `groups_listed`.
struct list_groups {
  correlation id;
  std::string after; ///< name of the last one of the page before
  std::uint32_t max = 100;
};
template <class Inspector>
auto inspect(Inspector& f, list_groups& x) {
  return f(x.id, x.after, x.max);
}

struct groups_listed {
  correlation id;
  std::vector<std::pair<group_id, std::string>> page;
  bool more = false;
};
template <class Inspector>
auto inspect(Inspector& f, groups_listed& x) {
  return f(x.id, x.page, x.more);
}

/// anyone -> topic_registry: names for ids, for listings. Unknown ids come back with an empty name.
struct name_ids {
  correlation id;
  std::vector<topic_id> topics;
  std::vector<group_id> groups;
};
template <class Inspector>
auto inspect(Inspector& f, name_ids& x) {
  return f(x.id, x.topics, x.groups);
}

struct ids_named {
  correlation id;
  std::vector<std::pair<topic_id, std::string>> topics;
  std::vector<std::pair<group_id, std::string>> groups;
};
template <class Inspector>
auto inspect(Inspector& f, ids_named& x) {
  return f(x.id, x.topics, x.groups);
}

} // namespace handfast
