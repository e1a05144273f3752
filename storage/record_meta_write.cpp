#include "messages/assert.hpp"
#include "messages/log_schema.capnp.h"
#include "messages/place_or_due.hpp"
#include "storage/record_meta.hpp"
#include "storage/record_meta_flat.hpp"

#include <capnp/message.h>

namespace handfast::storage {

namespace {

namespace schema = log_schema;

template <class... Ts>
struct overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
overloaded(Ts...) -> overloaded<Ts...>;

/// A root pointer and its struct.
template <class Struct>
constexpr std::size_t root_words = 1 + capnp::sizeInWords<Struct>();

/// A list of structs: nothing if empty (the pointer stays null), else a tag and the elements.
template <class Struct>
std::size_t list_words(std::size_t count) {
  return count == 0 ? 0 : 1 + count * capnp::sizeInWords<Struct>();
}

std::size_t text_words(const std::string& text) {
  return text.empty() ? 0 : (text.size() + 1 + 7) / 8;
}

std::size_t progress_words(const progress_record& record) {
  auto words =
      root_words<schema::Progress> + list_words<schema::GroupProgress>(record.groups.size());
  for (const auto& group : record.groups)
    words += list_words<schema::OffsetRange>(group.done.size()) +
             list_words<schema::DeliveryAttempts>(group.attempts.size());
  return words;
}

std::uint32_t size32(std::size_t size) {
  HANDFAST_ASSERT(size <= 0x1fff'ffff); // the bound of Cap'n Proto's lists
  return static_cast<std::uint32_t>(size);
}

void write(const message_record& from, schema::Message::Builder to) {
  to.setBornMs(from.born_ms);
  to.setOffset(from.offset.value);
  to.setProducer(from.producer.value);
  to.setSequence(from.sequence.value);
  to.setTransaction(from.transaction.value);
  to.setDelayMs(from.delay_ms);
  to.setTopic(from.topic.value);
  to.setGroup(from.group.value);
  to.setSysFlag(from.sys_flag);
  to.setTimeoutMs(from.timeout_ms);
  to.setTagHash(from.tag_hash);
  to.setOrderHash(from.order_hash);
  to.setQueue(from.queue.value);
  to.setFlags(from.flags);
  HANDFAST_ASSERT(from.properties_size <= 0xffff);
  to.setPropertiesSize(static_cast<std::uint16_t>(from.properties_size));
}

template <class Init>
void write_entries(const std::vector<index_entry>& from, Init init) {
  if (from.empty())
    return;
  capnp::List<schema::IndexEntry>::Builder list = init(size32(from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) {
    auto to = list[static_cast<unsigned>(i)];
    to.setAt(from[i].at.value);
    to.setOffset(place_or_due(from[i].offset, from[i].due_ms).value);
    to.setTopic(from[i].topic.value);
    to.setLength(from[i].length);
    to.setTagHash(from[i].tag_hash);
    to.setQueue(from[i].queue.value);
  }
}

void write(const checked_record& from, schema::Checked::Builder to) {
  if (from.attempts.empty())
    return;
  auto list = to.initAttempts(size32(from.attempts.size()));
  for (std::size_t i = 0; i < from.attempts.size(); ++i) {
    auto entry = list[static_cast<unsigned>(i)];
    entry.setTransaction(from.attempts[i].transaction.value);
    entry.setMember(from.attempts[i].member);
    entry.setAttempt(from.attempts[i].attempt);
  }
}

void write(const reopen_record& from, schema::Reopen::Builder to) {
  to.setOldTransaction(from.old_transaction.value);
  to.setGroup(from.group.value);
  to.setTimeoutMs(from.timeout_ms);
  write_entries(from.messages, [&](unsigned n) { return to.initMessages(n); });
}

void write(const group_progress& from, schema::GroupProgress::Builder to) {
  to.setBase(from.base.value);
  to.setGroup(from.group.value);
  to.setTopic(from.topic.value);
  to.setQueue(from.queue.value);
  if (!from.done.empty()) {
    auto list = to.initDone(size32(from.done.size()));
    for (std::size_t i = 0; i < from.done.size(); ++i) {
      list[static_cast<unsigned>(i)].setFrom(from.done[i].from);
      list[static_cast<unsigned>(i)].setTo(from.done[i].to);
    }
  }
  if (!from.attempts.empty()) {
    auto list = to.initAttempts(size32(from.attempts.size()));
    for (std::size_t i = 0; i < from.attempts.size(); ++i) {
      list[static_cast<unsigned>(i)].setOffset(from.attempts[i].offset);
      list[static_cast<unsigned>(i)].setAttempts(from.attempts[i].attempts);
    }
  }
}

void write(const progress_record& from, schema::Progress::Builder to) {
  if (from.groups.empty())
    return;
  auto list = to.initGroups(size32(from.groups.size()));
  for (std::size_t i = 0; i < from.groups.size(); ++i)
    write(from.groups[i], list[static_cast<unsigned>(i)]);
}

void write(const meta_record& from, schema::Meta::Builder to) {
  to.setChange(static_cast<std::uint8_t>(from.change));
  to.setId(from.id);
  if (!from.name.empty())
    to.setName(from.name);
  to.setQueues(from.queues);
  auto options = to.initOptions();
  options.setRetentionMs(from.options.retention_ms);
  options.setRetentionBytes(from.options.retention_bytes);
  options.setTransactionTimeoutMs(from.options.transaction_timeout_ms);
  options.setCheckIntervalMs(from.options.check_interval_ms);
  options.setCheckMax(from.options.check_max);
  options.setBuffered(from.options.buffered);
  options.setDeliveryMax(from.options.delivery_max);
}

void write(const release_record& from, schema::Release::Builder to) {
  write_entries(from.entries, [&](unsigned n) { return to.initEntries(n); });
  if (from.cancelled.empty())
    return;
  auto list = to.initCancelled(size32(from.cancelled.size()));
  for (std::size_t i = 0; i < from.cancelled.size(); ++i)
    list.set(static_cast<unsigned>(i), from.cancelled[i].value);
}

void write(const dead_letter_record& from, schema::DeadLetter::Builder to) {
  to.setOffset(from.offset.value);
  to.setGroup(from.group.value);
  to.setTopic(from.topic.value);
  to.setAttempts(from.attempts);
  to.setQueue(from.queue.value);
  write(from.message, to.initMessage());
}

void write(const retire_record& from, schema::Retire::Builder to) {
  to.setBegin(from.begin.value);
  if (from.queues.empty())
    return;
  auto list = to.initQueues(size32(from.queues.size()));
  for (std::size_t i = 0; i < from.queues.size(); ++i) {
    auto entry = list[static_cast<unsigned>(i)];
    entry.setFirst(from.queues[i].first.value);
    entry.setTopic(from.queues[i].topic.value);
    entry.setQueue(from.queues[i].queue.value);
  }
}

} // namespace

std::size_t meta_words_of(const record_content& content) {
  return std::visit(
      overloaded{
          [](const message_record& r) { return flat_words_of(r); },
          [](const decide_record& r) { return flat_words_of(r); },
          [](const checked_record& r) {
            return root_words<schema::Checked> +
                   list_words<schema::CheckAttempt>(r.attempts.size());
          },
          [](const release_record& r) {
            return root_words<schema::Release> + list_words<schema::IndexEntry>(r.entries.size()) +
                   r.cancelled.size();
          },
          [](const reopen_record& r) {
            return root_words<schema::Reopen> + list_words<schema::IndexEntry>(r.messages.size());
          },
          [](const move_record&) {
            return root_words<schema::Move> + capnp::sizeInWords<schema::Message>();
          },
          [](const progress_record& r) { return progress_words(r); },
          [](const meta_record& r) {
            return root_words<schema::Meta> + text_words(r.name) +
                   capnp::sizeInWords<schema::Attributes>();
          },
          [](const epoch_record& r) { return root_words<schema::Epoch> + text_words(r.reason); },
          [](const pad_record&) { return std::size_t{0}; },
          [](const mark_record&) { return std::size_t{0}; },
          [](const dead_letter_record&) {
            return root_words<schema::DeadLetter> + capnp::sizeInWords<schema::Message>();
          },
          [](const retire_record& r) {
            return root_words<schema::Retire> + list_words<schema::QueueFirst>(r.queues.size());
          },
      },
      content);
}

void write_meta(const record_content& content, std::span<std::byte> into) {
  if (into.empty())
    return;
  if (const auto* message = std::get_if<message_record>(&content))
    return write_flat(*message, into);
  if (const auto* decide = std::get_if<decide_record>(&content))
    return write_flat(*decide, into);
  capnp::FlatMessageBuilder builder{
      kj::arrayPtr(reinterpret_cast<capnp::word*>(into.data()), into.size() / sizeof(capnp::word))};
  std::visit(
      overloaded{
          [](const message_record&) {},
          [](const decide_record&) {},
          [&](const checked_record& r) { write(r, builder.initRoot<schema::Checked>()); },
          [&](const release_record& r) { write(r, builder.initRoot<schema::Release>()); },
          [&](const reopen_record& r) { write(r, builder.initRoot<schema::Reopen>()); },
          [&](const move_record& r) {
            auto to = builder.initRoot<schema::Move>();
            to.setFrom(r.from.value);
            write(r.message, to.initMessage());
          },
          [&](const progress_record& r) { write(r, builder.initRoot<schema::Progress>()); },
          [&](const meta_record& r) { write(r, builder.initRoot<schema::Meta>()); },
          [&](const epoch_record& r) {
            auto to = builder.initRoot<schema::Epoch>();
            to.setEpoch(r.epoch);
            if (!r.reason.empty())
              to.setReason(r.reason);
          },
          [](const pad_record&) {},
          [](const mark_record&) {},
          [&](const dead_letter_record& r) { write(r, builder.initRoot<schema::DeadLetter>()); },
          [&](const retire_record& r) { write(r, builder.initRoot<schema::Retire>()); },
      },
      content);
  builder.requireFilled(); // or `meta_words_of` has miscounted
}

} // namespace handfast::storage
