#include "messages/log_schema.capnp.h"
#include "messages/place_or_due.hpp"
#include "storage/record_meta.hpp"

#include <capnp/serialize.h>

#include <algorithm>

namespace handfast::storage {

namespace {

namespace schema = log_schema;

/// No queue and no clock ever gets that far; counting on from an offset near the end of 64 bits
/// would wrap.
constexpr std::uint64_t possible_end = std::uint64_t{1} << 56;

bool is_possible(queue_offset offset) {
  return offset.value < possible_end;
}

bool are_possible(const std::vector<index_entry>& entries) {
  return std::ranges::all_of(
      entries, [](const auto& e) { return is_possible(e.offset) && e.due_ms < possible_end; });
}

bool read(schema::Message::Reader from, std::size_t payload_bytes, message_record& to) {
  to.topic = {from.getTopic()};
  to.group = {from.getGroup()};
  to.queue = {from.getQueue()};
  to.flags = from.getFlags();
  to.sys_flag = from.getSysFlag();
  to.timeout_ms = from.getTimeoutMs();
  to.tag_hash = from.getTagHash();
  to.order_hash = from.getOrderHash();
  to.born_ms = from.getBornMs();
  to.offset = {from.getOffset()};
  to.producer = {from.getProducer()};
  to.sequence = {from.getSequence()};
  to.transaction = {from.getTransaction()};
  to.delay_ms = from.getDelayMs();
  to.properties_size = from.getPropertiesSize();
  return to.properties_size <= payload_bytes;
}

/// Of a plain message; only one with a delay has a moment instead.
bool place_is_possible(const message_record& m) {
  return is_possible(m.delay_ms == 0 ? m.offset : offset_in(m.offset)) &&
         due_in(m.offset) < possible_end;
}

std::vector<index_entry> read(capnp::List<schema::IndexEntry>::Reader from) {
  std::vector<index_entry> to;
  to.reserve(from.size());
  for (auto entry : from) {
    const queue_offset place{entry.getOffset()};
    to.push_back({{entry.getAt()},
                  {entry.getTopic()},
                  {entry.getQueue()},
                  offset_in(place),
                  entry.getLength(),
                  entry.getTagHash(),
                  due_in(place)});
  }
  return to;
}

bool read(schema::Decide::Reader from, decide_record& to) {
  to.op_offset = {from.getOpOffset()};
  const auto decisions = from.getDecisions();
  to.decisions.reserve(decisions.size());
  for (auto one : decisions) {
    const auto result = one.getOutcome();
    const auto by = one.getOrigin();
    if (result < static_cast<std::uint8_t>(outcome::committed) ||
        result > static_cast<std::uint8_t>(outcome::given_up) ||
        by < static_cast<std::uint8_t>(origin::producer) ||
        by > static_cast<std::uint8_t>(origin::policy))
      return false;
    to.decisions.push_back({{one.getTransaction()},
                            static_cast<outcome>(result),
                            static_cast<origin>(by),
                            one.getMessages(),
                            {one.getGroup()}});
  }
  to.entries = read(from.getEntries());
  return is_possible(to.op_offset) && are_possible(to.entries);
}

void read(schema::Checked::Reader from, checked_record& to) {
  const auto attempts = from.getAttempts();
  to.attempts.reserve(attempts.size());
  for (auto one : attempts)
    to.attempts.push_back({{one.getTransaction()}, one.getAttempt(), one.getMember()});
}

void read(schema::Reopen::Reader from, reopen_record& to) {
  to.old_transaction = {from.getOldTransaction()};
  to.group = {from.getGroup()};
  to.timeout_ms = from.getTimeoutMs();
  to.messages = read(from.getMessages());
}

void read(schema::Progress::Reader from, progress_record& to) {
  const auto groups = from.getGroups();
  to.groups.reserve(groups.size());
  for (auto one : groups) {
    group_progress group;
    group.group = {one.getGroup()};
    group.topic = {one.getTopic()};
    group.queue = {one.getQueue()};
    group.base = {one.getBase()};
    const auto done = one.getDone();
    group.done.reserve(done.size());
    for (auto range : done)
      group.done.push_back({range.getFrom(), range.getTo()});
    const auto attempts = one.getAttempts();
    group.attempts.reserve(attempts.size());
    for (auto attempt : attempts)
      group.attempts.push_back({attempt.getOffset(), attempt.getAttempts()});
    to.groups.push_back(std::move(group));
  }
}

std::string text_of(capnp::Text::Reader from) {
  return {from.begin(), from.size()};
}

bool read(schema::Meta::Reader from, meta_record& to) {
  const auto change = from.getChange();
  if (change < static_cast<std::uint8_t>(meta_change::topic_put) ||
      change > static_cast<std::uint8_t>(meta_change::group_deleted))
    return false;
  to.change = static_cast<meta_change>(change);
  to.id = from.getId();
  to.name = text_of(from.getName());
  to.queues = from.getQueues();
  const auto options = from.getOptions();
  to.options.retention_ms = options.getRetentionMs();
  to.options.retention_bytes = options.getRetentionBytes();
  to.options.transaction_timeout_ms = options.getTransactionTimeoutMs();
  to.options.check_interval_ms = options.getCheckIntervalMs();
  to.options.check_max = options.getCheckMax();
  to.options.buffered = options.getBuffered();
  to.options.delivery_max = options.getDeliveryMax();
  return true;
}

bool read(schema::DeadLetter::Reader from, std::size_t payload_bytes, dead_letter_record& to) {
  to.group = {from.getGroup()};
  to.topic = {from.getTopic()};
  to.queue = {from.getQueue()};
  to.offset = {from.getOffset()};
  to.attempts = from.getAttempts();
  return is_possible(to.offset) && read(from.getMessage(), payload_bytes, to.message) &&
         is_possible(to.message.offset);
}

bool read(schema::Retire::Reader from, retire_record& to) {
  to.begin = {from.getBegin()};
  const auto queues = from.getQueues();
  to.queues.reserve(queues.size());
  for (auto one : queues)
    to.queues.push_back({{one.getTopic()}, {one.getQueue()}, {one.getFirst()}});
  return std::ranges::all_of(to.queues, [](const auto& q) { return is_possible(q.first); });
}

bool read_typed(record_type type, capnp::MessageReader& from, std::size_t payload_bytes,
                record_content& content) {
  switch (type) {
  case record_type::message: {
    auto& to = content.emplace<message_record>();
    return read(from.getRoot<schema::Message>(), payload_bytes, to) && place_is_possible(to);
  }
  case record_type::half: {
    auto& to = content.emplace<message_record>();
    return read(from.getRoot<schema::Message>(), payload_bytes, to) && is_possible(to.offset);
  }
  case record_type::decide:
    return read(from.getRoot<schema::Decide>(), content.emplace<decide_record>());
  case record_type::checked:
    read(from.getRoot<schema::Checked>(), content.emplace<checked_record>());
    return true;
  case record_type::release: {
    auto& to = content.emplace<release_record>();
    const auto root = from.getRoot<schema::Release>();
    to.entries = read(root.getEntries());
    for (const auto at : root.getCancelled())
      to.cancelled.push_back({at});
    return are_possible(to.entries) && std::ranges::none_of(to.entries, &index_entry::is_delayed);
  }
  case record_type::reopen:
    read(from.getRoot<schema::Reopen>(), content.emplace<reopen_record>());
    return true;
  case record_type::move: {
    auto& to = content.emplace<move_record>();
    const auto root = from.getRoot<schema::Move>();
    to.from = {root.getFrom()};
    return read(root.getMessage(), payload_bytes, to.message) && place_is_possible(to.message);
  }
  case record_type::progress:
    read(from.getRoot<schema::Progress>(), content.emplace<progress_record>());
    return true;
  case record_type::meta:
    return read(from.getRoot<schema::Meta>(), content.emplace<meta_record>());
  case record_type::epoch: {
    auto& to = content.emplace<epoch_record>();
    const auto root = from.getRoot<schema::Epoch>();
    to.epoch = root.getEpoch();
    to.reason = text_of(root.getReason());
    return true;
  }
  case record_type::dead_letter:
    return read(from.getRoot<schema::DeadLetter>(), payload_bytes,
                content.emplace<dead_letter_record>());
  case record_type::retire:
    return read(from.getRoot<schema::Retire>(), content.emplace<retire_record>());
  case record_type::pad:
  case record_type::mark:
    break;
  }
  return false;
}

} // namespace

bool read_meta(record_type type, std::span<const std::byte> meta, std::size_t payload_bytes,
               record_content& content) {
  if (type == record_type::pad) {
    content.emplace<pad_record>();
    return true;
  }
  if (type == record_type::mark) {
    content.emplace<mark_record>();
    return true;
  }
  if (meta.empty())
    return false;
  const auto words = kj::arrayPtr(reinterpret_cast<const capnp::word*>(meta.data()),
                                  meta.size() / sizeof(capnp::word));
  const kj::ArrayPtr<const capnp::word> segments[] = {words};
  // The limit on what is read bounds every list by the bytes that are there, also lists of empty
  // elements and pointers that share a target.
  capnp::ReaderOptions options;
  options.traversalLimitInWords = words.size() * 2 + 16;
  try {
    capnp::SegmentArrayMessageReader reader{segments, options};
    return read_typed(type, reader, payload_bytes, content);
  } catch (const kj::Exception&) {
    return false;
  }
}

bool fits(record_type type, const record_content& content) {
  switch (type) {
  case record_type::message:
  case record_type::half:
    return std::holds_alternative<message_record>(content);
  case record_type::decide:
    return std::holds_alternative<decide_record>(content);
  case record_type::checked:
    return std::holds_alternative<checked_record>(content);
  case record_type::release:
    return std::holds_alternative<release_record>(content);
  case record_type::reopen:
    return std::holds_alternative<reopen_record>(content);
  case record_type::move:
    return std::holds_alternative<move_record>(content);
  case record_type::progress:
    return std::holds_alternative<progress_record>(content);
  case record_type::meta:
    return std::holds_alternative<meta_record>(content);
  case record_type::epoch:
    return std::holds_alternative<epoch_record>(content);
  case record_type::pad:
    return std::holds_alternative<pad_record>(content);
  case record_type::mark:
    return std::holds_alternative<mark_record>(content);
  case record_type::dead_letter:
    return std::holds_alternative<dead_letter_record>(content);
  case record_type::retire:
    return std::holds_alternative<retire_record>(content);
  }
  return false;
}

} // namespace handfast::storage
