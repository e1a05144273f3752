#pragma once

/// Strong types for everything that names something: positions, offsets, topics, groups,
/// transactions. Two different ids can't be swapped by accident. All are plain values: copyable,
/// comparable, hashable.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace handfast {

/// An integer that names one kind of thing. `Tag` only tells kinds apart.
template <class Rep, class Tag>
struct strong_id {
  using rep = Rep;
  Rep value{};

  constexpr auto operator<=>(const strong_id&) const = default;
};

template <class Inspector, class Rep, class Tag>
auto inspect(Inspector& f, strong_id<Rep, Tag>& x) {
  return f(x.value);
}

/// A byte position in the log of one shard: shard number in the top 8 bits, byte in the log below.
/// 0 means "none": a record never stands at byte 0, since each segment opens with a file header.
using position = strong_id<std::uint64_t, struct position_tag>;

constexpr unsigned shard_shift = 56;

constexpr std::uint8_t shard_of(position p) {
  return static_cast<std::uint8_t>(p.value >> shard_shift);
}

/// The byte position inside the shard's log.
constexpr std::uint64_t byte_of(position p) {
  return p.value & ((std::uint64_t{1} << shard_shift) - 1);
}

constexpr position operator+(position p, std::uint64_t bytes) {
  return position{p.value + bytes};
}

/// A topic; never reused, also when a name is created again. Ids below `first_user_topic` are views
/// or system topics.
using topic_id = strong_id<std::uint32_t, struct topic_id_tag>;
/// A producer or consumer group (one name space for both, as in RocketMQ).
using group_id = strong_id<std::uint32_t, struct group_id_tag>;
/// The number of a queue inside its topic, from 0.
using queue_no = strong_id<std::uint16_t, struct queue_no_tag>;
/// The place of a message in its queue (or of an entry in a view), dense from 0.
using queue_offset = strong_id<std::uint64_t, struct queue_offset_tag>;
/// Chosen at random by a client library when it starts; 0 means "does not number its sends".
using producer_id = strong_id<std::uint64_t, struct producer_id_tag>;
/// Numbers the sends of one producer, from 1.
using sequence_no = strong_id<std::uint64_t, struct sequence_no_tag>;
/// The life of one actor: a restarted actor has a higher one than any before it.
using incarnation = strong_id<std::uint64_t, struct incarnation_tag>;
/// Ties an answer to its request; meaning is the requester's alone.
using correlation = strong_id<std::uint64_t, struct correlation_tag>;

constexpr topic_id half_view_topic{1};
constexpr topic_id op_view_topic{2};
constexpr topic_id give_up_topic{3};
constexpr topic_id first_user_topic{16};

constexpr std::string_view half_view_topic_name = "RMQ_SYS_TRANS_HALF_TOPIC";
constexpr std::string_view op_view_topic_name = "RMQ_SYS_TRANS_OP_HALF_TOPIC";
constexpr std::string_view give_up_topic_name = "TRANS_CHECK_MAX_TIME_TOPIC";

/// One queue of one topic.
struct queue_key {
  topic_id topic;
  queue_no queue;

  constexpr auto operator<=>(const queue_key&) const = default;
};

template <class Inspector>
auto inspect(Inspector& f, queue_key& x) {
  return f(x.topic, x.queue);
}

/// Names a transaction for ever. `opened_at` is the position of the record that opened it; `check`
/// is a keyed hash of that position with the store's random id, so that a guessed id or one of
/// another store is refused as unknown. Costs no storage: any holder of the store id can compute it
/// (see `transaction_ids`).
struct transaction_id {
  position opened_at;
  std::uint32_t check{};

  constexpr auto operator<=>(const transaction_id&) const = default;
};

template <class Inspector>
auto inspect(Inspector& f, transaction_id& x) {
  return f(x.opened_at, x.check);
}

/// The printed form: 24 upper-case hex digits, 16 of the position and 8 of the check.
std::string to_string(const transaction_id& id);
/// Reads the printed form; nothing if `text` is not of that form.
std::optional<transaction_id> parse_transaction_id(std::string_view text);

/// Computes the `check` part of ids of one store. Immutable, so safe from any thread.
class transaction_ids {
public:
  explicit transaction_ids(std::uint64_t store_id) : store_id_{store_id} {}

  [[nodiscard]] transaction_id at(position opened_at) const;
  [[nodiscard]] bool is_ours(const transaction_id& id) const { return at(id.opened_at) == id; }

private:
  std::uint64_t store_id_;
};

/// Mixes 64 bits well (the finaliser of SplitMix64, public domain constants).
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

} // namespace handfast

template <class Rep, class Tag>
struct std::hash<handfast::strong_id<Rep, Tag>> {
  std::size_t operator()(const handfast::strong_id<Rep, Tag>& id) const noexcept {
    return handfast::mix64(id.value);
  }
};

template <>
struct std::hash<handfast::queue_key> {
  std::size_t operator()(const handfast::queue_key& k) const noexcept {
    return handfast::mix64((std::uint64_t{k.topic.value} << 16) | k.queue.value);
  }
};
