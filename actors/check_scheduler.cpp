#include "actors/check_scheduler.hpp"

#include "actors/type_ids.hpp"

#include <caf/actor_cast.hpp>

#include <algorithm>
#include <utility>

namespace handfast {

namespace {

using std::chrono::milliseconds;

/// Deadlines reported in one message, and messages sent in one go.
constexpr std::size_t batch_size = 4'096;
constexpr int batches_at_once = 8;

} // namespace

void check_scheduler_state::begin(const shard_environment* env, bool restarted) {
  env_ = env;
  start_ = env->time->now();
  rearm_ = restarted;
}

mono_ms check_scheduler_state::now() const {
  return std::chrono::duration_cast<milliseconds>(env_->time->now() - start_).count();
}

void check_scheduler_state::on_peers(const peers_changed& x) {
  half_store_ = x.peers->half_store.actor;
  if (std::exchange(rearm_, false))
    self_->send(half_store_, rearm_all{});
}

void check_scheduler_state::on_arm(const arm_deadlines& x) {
  if (stopping_)
    return;
  const auto t = now();
  for (const auto& d : x.deadlines)
    wheel_.arm(d.transaction, t + d.due_in_ms);
  set_timer();
}

void check_scheduler_state::on_tick(const tick& x) {
  if (x.timer != timer_ || stopping_)
    return;
  timer_at_.reset();
  const auto t = now();
  for (int batch = 0; batch < batches_at_once; ++batch) {
    deadlines_due due;
    const bool more = wheel_.take_due(t, batch_size, due.transactions);
    if (!due.transactions.empty())
      self_->send(half_store_, std::move(due));
    if (!more)
      break;
  }
  set_timer();
}

void check_scheduler_state::set_timer() {
  const auto next = wheel_.next_wake();
  if (!next || (timer_at_ && *timer_at_ <= *next))
    return;
  timer_at_ = next;
  self_->delayed_send(self_, milliseconds{std::max<mono_ms>(0, *next - now())}, tick{++timer_});
}

void check_scheduler_state::on_stop() {
  stopping_ = true;
  self_->send(caf::actor_cast<node_supervisor_actor>(self_->current_sender()), stopped{name, {}});
}

status_report check_scheduler_state::status() const {
  return {name, {{"handfast_deadlines_armed", {}, static_cast<double>(wheel_.size())}}, {}};
}

check_scheduler_actor::behavior_type check_scheduler(check_scheduler_state::self_pointer self,
                                                     const shard_environment* env, bool restarted) {
  auto& s = self->state;
  s.begin(env, restarted);
  return {
      [&s](const peers_changed& x) { s.on_peers(x); },
      [&s](const stop&) { s.on_stop(); },
      [&s](const status_request&) { return s.status(); },
      [&s](const arm_deadlines& x) { s.on_arm(x); },
      [&s](const tick& x) { s.on_tick(x); },
  };
}

} // namespace handfast
