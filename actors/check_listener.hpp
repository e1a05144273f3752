#pragma once

/// CHECK LISTENER: what happens to a transaction whose checks are used up. This one follows
/// `transaction.give_up`, or a function of the user's. An actor of one's own with the same handle
/// type can take its place.
///
/// Receives       checks_exhausted (half_store).
/// Sends          exhausted_judged (half_store).
/// Owns           nothing.
/// Supervised by  node_supervisor. An answer that is lost with it is asked for again after 10 s.
/// Blocks?        As long as the user's function does: so it runs on CAF's own scheduler, never on
/// a shard's loop.
///
/// Guarantees: one answer to each question; a function that throws costs its own answer and gets
/// the configured one instead.

#include "actors/roles.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <functional>

namespace handfast {

/// Chooses for one transaction. Called on one thread at a time.
using give_up_choice = std::function<config::give_up_action(const transaction_life&)>;

/// @param usual what happens without a choice, or when the choice throws
check_listener_actor::behavior_type check_listener(check_listener_actor::pointer self,
                                                   config::give_up_action usual,
                                                   give_up_choice choose = nullptr);

} // namespace handfast
