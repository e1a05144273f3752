#include "actors/folds/topic_rules.hpp"

#include "actors/folds/slice_io.hpp"
#include "messages/assert.hpp"
#include "messages/names.hpp"

namespace handfast {

namespace {

constexpr std::uint8_t slice_version = 1;

void put_options(slice_writer& out, const attributes& a) {
  put_all(out, a.transaction_timeout_ms, a.check_interval_ms, a.check_max);
}

attributes take_options(slice_reader& in) {
  attributes a;
  get_all(in, a.transaction_timeout_ms, a.check_interval_ms, a.check_max);
  return a;
}

} // namespace

void topic_rules::apply(const meta_record& record) {
  switch (record.change) {
  case meta_change::topic_put:
    topics_[topic_id{record.id}] = {record.name, record.queues, record.options};
    break;
  case meta_change::topic_deleted:
    topics_.erase(topic_id{record.id});
    break;
  case meta_change::group_put:
    groups_[group_id{record.id}] = {record.name, record.options};
    break;
  case meta_change::group_deleted:
    groups_.erase(group_id{record.id});
    break;
  }
}

ec topic_rules::admits(queue_key queue) const {
  if (queue.topic < first_user_topic)
    return queue.topic == topic_id{} ? ec::unknown_topic : ec::read_only_topic;
  const auto found = topics_.find(queue.topic);
  if (found == topics_.end())
    return ec::unknown_topic;
  if (is_dead_letter_topic(found->second.name))
    return ec::read_only_topic;
  return queue.queue.value < found->second.queues ? ec::ok : ec::unknown_queue;
}

config::policy topic_rules::policy_of(const config::policy& node, topic_id topic, group_id group,
                                      std::uint32_t own_timeout_ms) const {
  config::policy_override of_topic;
  config::policy_override of_group;
  if (const auto found = topics_.find(topic); found != topics_.end())
    of_topic = config::override_of(found->second.options);
  if (const auto found = groups_.find(group); found != groups_.end())
    of_group = config::override_of(found->second.options);
  return config::merge(node, of_group, of_topic, config::override_of_message(own_timeout_ms));
}

std::chrono::milliseconds topic_rules::timeout_of(const config::policy& node, topic_id topic,
                                                  group_id group,
                                                  std::uint32_t own_timeout_ms) const {
  const auto stored = [](const auto& entries, auto id) {
    const auto found = entries.find(id);
    return found == entries.end() ? 0 : found->second.options.transaction_timeout_ms;
  };
  auto said = own_timeout_ms;
  if (said == 0)
    said = stored(topics_, topic);
  if (said == 0)
    said = stored(groups_, group);
  return said == 0 ? node.timeout : std::chrono::milliseconds{said};
}

std::string topic_rules::topic_name(topic_id topic) const {
  const auto found = topics_.find(topic);
  return found == topics_.end() ? std::to_string(topic.value) : found->second.name;
}

std::string topic_rules::group_name(group_id group) const {
  const auto found = groups_.find(group);
  return found == groups_.end() ? std::to_string(group.value) : found->second.name;
}

std::string topic_rules::save() const {
  slice_writer out;
  out.put(slice_version);
  out.put(static_cast<std::uint32_t>(topics_.size()));
  for (const auto& [id, t] : topics_) {
    out.put(id);
    out.text(t.name);
    out.put(t.queues);
    put_options(out, t.options);
  }
  for (const auto& [id, g] : groups_) {
    out.put(id);
    out.text(g.name);
    put_options(out, g.options);
  }
  return out.take();
}

void topic_rules::load(std::string_view bytes) {
  slice_reader in{bytes};
  HANDFAST_ASSERT(in.get<std::uint8_t>() == slice_version);
  for (auto left = in.get<std::uint32_t>(); left > 0; --left) {
    const auto id = in.get<topic_id>();
    topic_entry t;
    t.name = in.text();
    t.queues = in.get<std::uint32_t>();
    t.options = take_options(in);
    topics_[id] = std::move(t);
  }
  while (!in.at_end()) {
    const auto id = in.get<group_id>();
    group_entry g;
    g.name = in.text();
    g.options = take_options(in);
    groups_[id] = std::move(g);
  }
  HANDFAST_ASSERT(in.ok());
}

} // namespace handfast
