#include "actors/folds/topic_table.hpp"

#include "actors/folds/slice_io.hpp"
#include "messages/assert.hpp"
#include "messages/names.hpp"
#include "messages/record_rule.hpp"

#include <algorithm>
#include <charconv>

namespace handfast {

namespace {

/// Topics or groups of one part of a checkpoint.
constexpr std::size_t slice_items_max = 2'000;

enum class slice_item : std::uint8_t { high_ids = 0, topic = 1, group = 2, group_options = 3 };

/// Behind its group; only for one that has options.
void put_group_options(slice_writer& to, group_id id, const attributes& a) {
  to.put(static_cast<std::uint8_t>(slice_item::group_options));
  to.put(id);
  put_all(to, a.transaction_timeout_ms, a.check_interval_ms, a.check_max, a.retention_ms,
          a.retention_bytes, a.delivery_max);
}

void put_topic_item(slice_writer& to, const topic_info& info) {
  to.put(static_cast<std::uint8_t>(slice_item::topic));
  to.put(info.id.value);
  to.text(info.name);
  to.put(info.queues);
  to.put(info.options.transaction_timeout_ms);
  to.put(info.options.check_interval_ms);
  to.put(info.options.check_max);
  to.put(info.options.retention_ms);
  to.put(info.options.retention_bytes);
  to.put(static_cast<std::uint8_t>(info.options.buffered ? 1 : 0));
}

meta_record read_topic_item(slice_reader& from) {
  meta_record record;
  record.change = meta_change::topic_put;
  record.id = from.get<std::uint32_t>();
  record.name = from.text();
  record.queues = from.get<std::uint32_t>();
  record.options.transaction_timeout_ms = from.get<std::uint32_t>();
  record.options.check_interval_ms = from.get<std::uint32_t>();
  record.options.check_max = from.get<std::uint32_t>();
  record.options.retention_ms = from.get<std::uint64_t>();
  record.options.retention_bytes = from.get<std::uint64_t>();
  record.options.buffered = from.get<std::uint8_t>() != 0;
  return record;
}

std::uint32_t id_after(std::string_view cursor) {
  std::uint32_t id = 0;
  std::from_chars(cursor.data(), cursor.data() + cursor.size(), id);
  return id;
}

} // namespace

topic_table::topic_table() {
  add_system_topic(half_view_topic, half_view_topic_name);
  add_system_topic(op_view_topic, op_view_topic_name);
  add_system_topic(give_up_topic, give_up_topic_name);
  HANDFAST_ASSERT(topics_.size() == system_topics);
}

void topic_table::add_system_topic(topic_id id, std::string_view name) {
  topic_info info;
  info.id = id;
  info.name = name;
  info.queues = 1;
  info.read_only = true;
  topic_ids_.emplace(info.name, id);
  topics_.emplace(id, std::move(info));
}

void topic_table::apply(const meta_record& record) {
  switch (record.change) {
  case meta_change::topic_put:
    return put_topic(record);
  case meta_change::topic_deleted:
    return delete_topic(record);
  case meta_change::group_put:
    return put_group(record);
  case meta_change::group_deleted:
    return delete_group(record);
  }
  require_of_record(false, "it changes something of a kind that this version does not know");
}

/// An id below the highest that is not there was deleted since: a replay over a fuzzy checkpoint
/// meets its old records.
void topic_table::put_topic(const meta_record& record) {
  require_of_record(record.id >= first_user_topic.value,
                    "it makes a topic with an id that only the node's own topics have");
  if (record.id <= last_topic_ && topics_.count(topic_id{record.id}) == 0)
    return;
  insert_topic(record);
}

void topic_table::insert_topic(const meta_record& record) {
  require_of_record(record.queues >= 1, "it makes a topic without queues");
  const topic_id id{record.id};
  const auto name = topic_ids_.find(record.name);
  require_of_record(name == topic_ids_.end() || name->second == id,
                    "it makes a topic whose name another topic has");
  const auto known = topics_.find(id);
  require_of_record(known == topics_.end() || known->second.name == record.name,
                    "it makes a topic whose id a topic of another name has");
  auto& info = topics_[id];
  info.id = id;
  info.name = record.name;
  const bool dead_letters = is_dead_letter_topic(info.name);
  if (info.queues == 0 && dead_letters) {
    info.read_only = true;
    ++dead_letter_topics_;
  }
  user_queues_ += !dead_letters && record.queues > info.queues ? record.queues - info.queues : 0;
  info.queues = std::max(info.queues, record.queues); // a queue that held messages never goes
  info.options = record.options;
  topic_ids_[record.name] = id;
  last_topic_ = std::max(last_topic_, record.id);
}

void topic_table::delete_topic(const meta_record& record) {
  require_of_record(record.id >= first_user_topic.value, "it deletes one of the node's own topics");
  last_topic_ = std::max(last_topic_, record.id);
  const auto found = topics_.find(topic_id{record.id});
  if (found == topics_.end())
    return;
  if (is_dead_letter_topic(found->second.name))
    --dead_letter_topics_;
  else
    user_queues_ -= found->second.queues;
  topic_ids_.erase(found->second.name);
  topics_.erase(found);
}

void topic_table::put_group(const meta_record& record) {
  require_of_record(record.id != 0, "it makes a group without an id");
  if (record.id <= last_group_ && groups_.count(group_id{record.id}) == 0)
    return;
  insert_group(record);
}

void topic_table::insert_group(const meta_record& record) {
  const group_id id{record.id};
  const auto name = group_ids_.find(record.name);
  require_of_record(name == group_ids_.end() || name->second == id,
                    "it makes a group whose name another group has");
  groups_[id] = record.name;
  if (record.options == attributes{})
    group_options_.erase(id);
  else
    group_options_[id] = record.options;
  group_ids_[record.name] = id;
  last_group_ = std::max(last_group_, record.id);
}

void topic_table::delete_group(const meta_record& record) {
  last_group_ = std::max(last_group_, record.id);
  const auto found = groups_.find(group_id{record.id});
  if (found == groups_.end())
    return;
  group_ids_.erase(found->second);
  group_options_.erase(found->first);
  groups_.erase(found);
}

void topic_table::keep_free(topic_id topic, group_id group) {
  last_topic_ = std::max(last_topic_, topic.value);
  last_group_ = std::max(last_group_, group.value);
}

const topic_info* topic_table::find(std::string_view name) const {
  const auto found = topic_ids_.find(name);
  return found == topic_ids_.end() ? nullptr : find(found->second);
}

const topic_info* topic_table::find(topic_id id) const {
  const auto found = topics_.find(id);
  return found == topics_.end() ? nullptr : &found->second;
}

group_id topic_table::find_group(std::string_view name) const {
  const auto found = group_ids_.find(name);
  return found == group_ids_.end() ? group_id{} : found->second;
}

std::string_view topic_table::group_name(group_id id) const {
  const auto found = groups_.find(id);
  return found == groups_.end() ? std::string_view{} : found->second;
}

attributes topic_table::group_options(group_id id) const {
  const auto found = group_options_.find(id);
  return found == group_options_.end() ? attributes{} : found->second;
}

topics_listed topic_table::list(std::string_view after, std::uint32_t max) const {
  topics_listed answer;
  const auto wanted = std::min<std::size_t>(max, limits::page_items_max);
  auto at = topic_ids_.upper_bound(after);
  for (; at != topic_ids_.end() && answer.page.size() < wanted; ++at)
    answer.page.push_back(topics_.at(at->second));
  answer.more = at != topic_ids_.end();
  return answer;
}

groups_listed topic_table::list_groups(std::string_view after, std::uint32_t max) const {
  groups_listed answer;
  const auto wanted = std::min<std::size_t>(max, limits::page_items_max);
  auto at = group_ids_.upper_bound(after);
  for (; at != group_ids_.end() && answer.page.size() < wanted; ++at)
    answer.page.emplace_back(at->second, at->first);
  answer.more = at != group_ids_.end();
  return answer;
}

/// The cursor is `t<id>` or `g<id>`: the last one written.
std::string topic_table::save(std::string& cursor) const {
  slice_writer to;
  to.put(static_cast<std::uint8_t>(slice_item::high_ids));
  to.put(last_topic_);
  to.put(last_group_);
  std::size_t items = 0;
  if (cursor.empty() || cursor[0] == 't') {
    const auto from = std::max(cursor.empty() ? 0U : id_after(std::string_view{cursor}.substr(1)),
                               first_user_topic.value - 1);
    for (auto at = topics_.upper_bound(topic_id{from}); at != topics_.end(); ++at) {
      if (items++ == slice_items_max)
        return to.take();
      put_topic_item(to, at->second);
      cursor = "t" + std::to_string(at->first.value);
    }
    cursor = "g0";
  }
  const group_id from{id_after(std::string_view{cursor}.substr(1))};
  for (auto at = groups_.upper_bound(from); at != groups_.end(); ++at) {
    if (items++ == slice_items_max)
      return to.take();
    to.put(static_cast<std::uint8_t>(slice_item::group));
    to.put(at->first.value);
    to.text(at->second);
    if (const auto own = group_options_.find(at->first); own != group_options_.end())
      put_group_options(to, own->first, own->second);
    cursor = "g" + std::to_string(at->first.value);
  }
  cursor.clear();
  return to.take();
}

void topic_table::load(const std::string&, std::string_view bytes) {
  slice_reader from{bytes};
  while (!from.at_end()) {
    const auto kind = static_cast<slice_item>(from.get<std::uint8_t>());
    if (kind == slice_item::high_ids) {
      last_topic_ = std::max(last_topic_, from.get<std::uint32_t>());
      last_group_ = std::max(last_group_, from.get<std::uint32_t>());
    } else if (kind == slice_item::topic) {
      insert_topic(read_topic_item(from));
    } else if (kind == slice_item::group_options) {
      const auto id = from.get<group_id>();
      auto& a = group_options_[id];
      get_all(from, a.transaction_timeout_ms, a.check_interval_ms, a.check_max, a.retention_ms,
              a.retention_bytes, a.delivery_max);
    } else {
      HANDFAST_ASSERT(kind == slice_item::group);
      meta_record record;
      record.id = from.get<std::uint32_t>();
      record.name = from.text();
      insert_group(record);
    }
    HANDFAST_ASSERT(from.ok());
  }
}

} // namespace handfast
