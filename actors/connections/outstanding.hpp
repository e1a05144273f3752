#pragma once

/// What one connection has asked of the actors behind it and has no answer to yet.

#include "messages/assert.hpp"
#include "messages/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace handfast {

/// Why something was asked: says what to do with the answer, or without one.
enum class request_kind : std::uint8_t {
  send,
  half,
  decide,
  resolve_topic,
  join_group,
  join_topic,
  query,
  list,
  list_group,
  list_topic,
  names,
  reopen,
  check_names,
  check_bodies,
  fetch_group,
  fetch,
  subscribe_group,
  acknowledge,
  bodies,
  queue_entries,
  offset_of_start,
  browse_view,
  browse_bodies,
  topic_create,
  topic_show,
  topic_delete,
  topic_list,
  group_list,
  group_status,
  group_names,
  extent,
  forced_list,
  forced_decide,
  forced_drop,
  status,
  quarantine,
  delayed_list,
  delayed_topic,
  delayed_names,
  delayed_cancel,
  group_look,
  group_change,
  group_describe,
  group_reset,
  group_topics,
};

/// Whom it was asked of. A new life of that actor never answers what the old one was asked.
enum class peer_role : std::uint8_t {
  commit_log,
  half_store,
  op_store,
  delay_scheduler,
  topic_registry,
  log_reader,
  supervisor,
  consumer_group,
  queue,
};

struct outstanding_request {
  correlation client; ///< the client's own number; 0 = nobody waits for it
  request_kind kind = request_kind::send;
  peer_role role = peer_role::commit_log;
  std::uint32_t bytes = 0; ///< of payload, counted against the credit
  std::uint32_t extra = 0; ///< number of a job, or a group; by kind
};

/// Requests by our own correlation, which is never 0. Adding and taking are O(1) and allocate only
/// when the table grows.
class outstanding_table {
public:
  correlation add(const outstanding_request& what) {
    std::uint32_t index = 0;
    if (free_.empty()) {
      index = static_cast<std::uint32_t>(slots_.size());
      slots_.emplace_back();
    } else {
      index = free_.back();
      free_.pop_back();
    }
    auto& slot = slots_[index];
    HANDFAST_ASSERT(!slot.used);
    slot.used = true;
    slot.what = what;
    ++size_;
    return id_of(index);
  }

  /// Nothing for an answer that came twice or for something that was failed before.
  std::optional<outstanding_request> take(correlation id) {
    const auto index = static_cast<std::uint32_t>(id.value);
    if (index >= slots_.size() || !slots_[index].used || id_of(index) != id)
      return std::nullopt;
    auto& slot = slots_[index];
    slot.used = false;
    ++slot.generation;
    free_.push_back(index);
    --size_;
    return slot.what;
  }

  [[nodiscard]] const outstanding_request* find(correlation id) const {
    const auto index = static_cast<std::uint32_t>(id.value);
    if (index >= slots_.size() || !slots_[index].used || id_of(index) != id)
      return nullptr;
    return &slots_[index].what;
  }

  /// Own correlations of all requests for which `wanted(request)` holds.
  template <class Predicate>
  [[nodiscard]] std::vector<correlation> select(Predicate&& wanted) const {
    std::vector<correlation> found;
    for (std::uint32_t n = 0; n < slots_.size(); ++n)
      if (slots_[n].used && wanted(slots_[n].what))
        found.push_back(id_of(n));
    return found;
  }

  [[nodiscard]] std::size_t size() const { return size_; }

private:
  struct entry {
    std::uint32_t generation = 1; ///< so that no id is 0, and none comes again soon
    bool used = false;
    outstanding_request what;
  };

  [[nodiscard]] correlation id_of(std::uint32_t index) const {
    return correlation{(std::uint64_t{slots_[index].generation} << 32) | index};
  }

  std::vector<entry> slots_;
  std::vector<std::uint32_t> free_;
  std::size_t size_ = 0;
};

} // namespace handfast
