#include "storage/log_rules.hpp"

#include "messages/place_or_due.hpp"

#include <algorithm>

namespace handfast::storage {

namespace {

constexpr std::size_t listed_max = 1'000;

std::string text_of(position p) {
  return std::to_string(p.value);
}

std::string text_of(queue_key queue) {
  return "queue " + std::to_string(queue.topic.value) + "/" + std::to_string(queue.queue.value);
}

} // namespace

void log_rules::note(std::string what) {
  if (found_.size() < listed_max)
    found_.push_back({at_, std::move(what)});
  else
    ++not_listed_;
}

bool log_rules::in_doubt(position p) const {
  if (p < begin_)
    return true;
  const auto behind = passed_.upper_bound(p);
  return behind != passed_.begin() && p < std::prev(behind)->second;
}

void log_rules::pass_over(position from, position to) {
  passed_[from] = std::max(passed_[from], to);
  ++losses_;
}

void log_rules::check(const record_header& header, const log_record& record) {
  at_ = header.at;
  check_header(header, record);
  std::visit([&](const auto& content) { check_content(record, content); }, record.content);
}

void log_rules::check_header(const record_header& header, const log_record& record) {
  const auto durable = header.durable();
  if (durable.value != 0 && durable < durable_)
    note("it says that everything up to " + text_of(durable) +
         " was durable, but a record before it says " + text_of(durable_));
  durable_ = std::max(durable_, durable);
  if (header.epoch < epoch_ && record.type != record_type::pad)
    note("its epoch " + std::to_string(header.epoch) + " is below " + std::to_string(epoch_) +
         ", which a record before it has");
  epoch_ = std::max(epoch_, header.epoch);
}

/// Rows of offsets have no hole, unless a record in between is lost, and never go back.
void log_rules::check_offset(row& of, const std::string& name, queue_offset offset) {
  const bool may_jump = (!of.known && byte_of(begin_) != 0) || of.losses != losses_;
  if (offset.value < of.next)
    note("it gives offset " + std::to_string(offset.value) + " of " + name + " again, where " +
         std::to_string(of.next) + " comes next");
  else if (offset.value > of.next && !may_jump)
    note("it gives offset " + std::to_string(offset.value) + " of " + name + ", where " +
         std::to_string(of.next) + " comes next");
  of = {std::max(of.next, offset.value + 1), losses_, true};
}

/// A place in a queue for a body that stands before this record.
void log_rules::check_entry(const index_entry& entry, bool with_offset) {
  const queue_key queue{entry.topic, entry.queue};
  if (with_offset)
    check_offset(queues_[queue], text_of(queue), entry.offset);
  if (in_doubt(entry.at))
    return;
  const auto found = bodies_.find(entry.at.value);
  if (found == bodies_.end())
    note("it refers to a body at position " + text_of(entry.at) + ", where no message begins");
  else if (entry.length != found->second)
    note("it refers to " + std::to_string(entry.length) + " bytes at position " +
         text_of(entry.at) + ", where a record of " + std::to_string(found->second) + " stands");
}

/// A message that becomes visible later is released or cancelled, once.
void log_rules::end_waiting(position body) {
  if (delayed_.erase(body.value) == 0 && losses_ == 0 && !in_doubt(body))
    note("it releases or cancels the message at position " + text_of(body) +
         ", which does not wait for its time");
}

void log_rules::check_content(const log_record& record, const message_record& message) {
  const bool half = record.type == record_type::half;
  const queue_key queue{message.topic, message.queue};
  if (half) {
    check_offset(half_view_, "the half view", message.offset);
  } else if (message.delay_ms == 0) {
    check_offset(queues_[queue], text_of(queue), message.offset);
  } else {
    delayed_.insert(record.at.value);
    if (due_in(message.offset) == 0)
      note("it becomes visible later and does not say when");
  }
  bodies_[record.at.value] = record.length;
  if (!half)
    return;
  if (message.transaction == position{}) {
    transactions_[record.at.value] = state::open;
    return;
  }
  const auto joined = transactions_.find(message.transaction.value);
  if (joined == transactions_.end()) {
    if (!in_doubt(message.transaction))
      note("it joins the transaction at position " + text_of(message.transaction) +
           ", which no record opens");
  } else if (joined->second != state::open) {
    note("it joins the transaction at position " + text_of(message.transaction) +
         ", which was decided before");
  }
}

void log_rules::check_content(const log_record&, const decide_record& decide) {
  check_offset(op_view_, "the op view", decide.op_offset);
  std::size_t messages = 0;
  for (const auto& d : decide.decisions) {
    messages += d.messages;
    const auto known = transactions_.find(d.transaction.value);
    if (known != transactions_.end())
      known->second = d.result == outcome::given_up ? state::given_up : state::decided;
    else if (!in_doubt(d.transaction))
      note("it decides the transaction at position " + text_of(d.transaction) +
           ", which no record opens");
  }
  if (messages != decide.entries.size())
    note("it decides " + std::to_string(messages) + " messages and gives " +
         std::to_string(decide.entries.size()) + " places");
  for (const auto& entry : decide.entries) {
    check_entry(entry, !entry.is_delayed());
    if (entry.is_delayed())
      delayed_.insert(entry.at.value);
  }
}

void log_rules::check_content(const log_record&, const checked_record& checked) {
  for (const auto& a : checked.attempts)
    if (!transactions_.contains(a.transaction.value) && !in_doubt(a.transaction))
      note("a producer was asked about the transaction at position " + text_of(a.transaction) +
           ", which no record opens");
}

void log_rules::check_content(const log_record&, const release_record& release) {
  for (const auto& entry : release.entries) {
    check_entry(entry, true);
    end_waiting(entry.at);
  }
  for (const auto body : release.cancelled)
    end_waiting(body);
}

void log_rules::check_content(const log_record& record, const dead_letter_record& dead) {
  const queue_key queue{dead.message.topic, dead.message.queue};
  check_offset(queues_[queue], text_of(queue), dead.message.offset);
  bodies_[record.at.value] = record.length;
}

void log_rules::check_content(const log_record& record, const reopen_record& reopen) {
  const auto old = transactions_.find(reopen.old_transaction.value);
  if (old == transactions_.end() ? !in_doubt(reopen.old_transaction)
                                 : old->second != state::given_up)
    note("it opens the transaction at position " + text_of(reopen.old_transaction) +
         " again, which was not given up");
  if (reopen.messages.empty())
    note("it opens a transaction again that has no messages");
  for (const auto& entry : reopen.messages)
    check_entry(entry, false);
  transactions_[record.at.value] = state::open;
}

void log_rules::check_content(const log_record& record, const move_record& move) {
  if (move.from >= record.at)
    note("it moves a message from position " + text_of(move.from) + ", which lies behind it");
  bodies_[record.at.value] = record.length;
}

void log_rules::check_content(const log_record&, const progress_record& progress) {
  for (const auto& entry : progress.groups) {
    const queue_key queue{entry.topic, entry.queue};
    const auto name = "group " + std::to_string(entry.group.value) + " in " + text_of(queue);
    for (const auto& range : entry.done)
      if (range.from >= range.to)
        note("the progress of " + name + " has a stretch from " + std::to_string(range.from) +
             " to " + std::to_string(range.to) + ", which is none");
    const auto& end = queues_[queue];
    if (entry.base.value > end.next && end.losses == losses_ && (end.known || byte_of(begin_) == 0))
      note("the progress of " + name + " is at offset " + std::to_string(entry.base.value) +
           ", but the queue has only " + std::to_string(end.next));
  }
}

void log_rules::check_name(std::unordered_map<std::string, std::uint32_t>& names,
                           std::unordered_map<std::uint32_t, std::string>& ids,
                           const meta_record& meta, const char* kind) {
  const auto by_name = names.try_emplace(meta.name, meta.id).first;
  const auto by_id = ids.try_emplace(meta.id, meta.name).first;
  if (by_name->second != meta.id)
    note("it gives the name of " + std::string{kind} + " " + std::to_string(by_name->second) +
         " to " + std::to_string(meta.id));
  if (by_id->second != meta.name)
    note("it gives the id " + std::to_string(meta.id) + " of one " + kind + " to another");
}

void log_rules::check_content(const log_record&, const meta_record& meta) {
  const bool of_topic =
      meta.change == meta_change::topic_put || meta.change == meta_change::topic_deleted;
  if (of_topic ? meta.id < first_user_topic.value : meta.id == 0)
    note("it names " + std::string{of_topic ? "a topic" : "a group"} + " with the id " +
         std::to_string(meta.id) + ", which none can have");
  if (meta.change == meta_change::topic_put) {
    if (meta.queues == 0)
      note("it makes a topic without queues");
    check_name(topic_names_, topic_ids_, meta, "topic");
  } else if (meta.change == meta_change::group_put) {
    check_name(group_names_, group_ids_, meta, "group");
  } else {
    auto& ids = of_topic ? topic_ids_ : group_ids_;
    if (const auto known = ids.find(meta.id); known != ids.end()) {
      (of_topic ? topic_names_ : group_names_).erase(known->second);
      ids.erase(known);
    }
  }
}

void log_rules::check_content(const log_record& record, const epoch_record& epoch) {
  if (epoch.epoch != record.epoch)
    note("it begins epoch " + std::to_string(epoch.epoch) + " and was written in " +
         std::to_string(record.epoch));
}

} // namespace handfast::storage
