#pragma once

/// Who waits for one batch of the log to become durable, and what they will be told. Plain data of
/// COMMIT LOG.

#include "actors/roles.hpp"

#include <caf/actor_control_block.hpp>
#include <tsl/robin_map.h>

#include <utility>
#include <vector>

namespace handfast {

struct batch_waiters {
  struct asker {
    caf::strong_actor_ptr who;
    std::vector<message_stored> results;
  };
  struct repeat {
    appender who;
    repeated_append item;
  };

  std::vector<asker> askers;
  std::vector<repeat> repeats;

  /// Results for `who`, who gets all of one batch in one message.
  std::vector<message_stored>& results_for(const caf::strong_actor_ptr& who) {
    if (!askers.empty() && askers.back().who == who)
      return askers.back().results;
    const auto [it, is_new] = index_.try_emplace(who.get(), askers.size());
    if (is_new)
      askers.push_back({who, {}});
    return askers[it->second].results;
  }

private:
  tsl::robin_map<const void*, std::size_t> index_;
};

} // namespace handfast
