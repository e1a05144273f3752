#pragma once

/// Whose local transactions may still be running: as long as a producer's session lasts, and a
/// while after its loss, nobody else of its group is asked about a half for which its library runs
/// one.

#include "actors/folds/pending_table.hpp"
#include "messages/limits.hpp"

#include <tsl/robin_map.h>

#include <chrono>

namespace handfast {

class producer_sessions {
public:
  /// @param grace how long a lost producer may take to come back
  /// @param began when this began to watch: producers of older halves count as lost since then
  producer_sessions(mono_ms grace, mono_ms began) : grace_{grace}, began_{began} {}

  void online(producer_id producer, mono_ms now) {
    sessions_[producer] = online_mark;
    prune(now);
  }

  /// The first loss counts; saying it again changes nothing.
  void lost(producer_id producer, mono_ms now) {
    auto& since = sessions_.try_emplace(producer, online_mark).first.value();
    if (since == online_mark)
      since = now;
    prune(now);
  }

  /// Cheap when nothing was lost: for every half that is stored.
  void seen(producer_id producer) {
    if (sessions_.empty())
      return;
    if (const auto found = sessions_.find(producer); found != sessions_.end())
      found.value() = online_mark;
  }

  /// When others may be asked about `entry`, if its producer stays away: nothing if it is not known
  /// to be away.
  [[nodiscard]] bool only_original(const pending_entry& entry, mono_ms now) const {
    if (!entry.has(pending_flags::local_transaction) || entry.producer == producer_id{})
      return false;
    if (const auto found = sessions_.find(entry.producer); found != sessions_.end())
      return found->second == online_mark || now - found->second < grace_;
    if (entry.has(pending_flags::recovered))
      return now - began_ < grace_;
    return now - entry.stored_at < forget_after;
  }

private:
  static constexpr mono_ms online_mark = unknown_moment;
  static constexpr mono_ms forget_after =
      std::chrono::milliseconds{limits::producer_idle_max}.count();

  void prune(mono_ms now) {
    if (sessions_.size() < prune_at_)
      return;
    for (auto it = sessions_.begin(); it != sessions_.end();)
      it = it->second != online_mark && now - it->second > forget_after ? sessions_.erase(it)
                                                                        : std::next(it);
    prune_at_ = std::max<std::size_t>(1'024, 2 * sessions_.size());
  }

  mono_ms grace_;
  mono_ms began_;
  /// Lost since, or `online_mark`.
  tsl::robin_map<producer_id, mono_ms> sessions_;
  std::size_t prune_at_ = 1'024;
};

} // namespace handfast
