/// The ordered stop: intake, checks, pending appends, checkpoint and log, the rest; bounded in time
/// at every stage.

#include "actors/node_supervisor.hpp"
#include "config/settings.hpp"

#include <caf/actor_cast.hpp>
#include <caf/send.hpp>
#include <spdlog/spdlog.h>

namespace handfast {

namespace {

constexpr std::uint32_t timer_stage = 1;

/// Part of `shutdown.timeout`, in percent, that is gone at most when a stage is left.
constexpr int connections_until = 30;
constexpr int checks_until = 40;
constexpr int appends_until = 60;
constexpr int log_until = 90;
constexpr int rest_until = 94;
constexpr int ending_until = 98;

/// What a stage gets once somebody is in a hurry.
constexpr std::chrono::milliseconds hurried_stage{50};
constexpr std::chrono::milliseconds hurried_log_stage{300};

} // namespace

void node_supervisor_state::on_stop() {
  if (stage_ >= stage::connections) {
    if (stage_ == stage::over)
      return;
    spdlog::warn("asked again to stop: hurrying");
    hurried_ = true;
    report_waiting();
    stage_done();
    return;
  }
  stop_began_ = env_->time->now();
  report_.connections = connections_.size();
  if (hooks_.close_intake)
    hooks_.close_intake();
  enter(stage::connections);
}

clock::time_point node_supervisor_state::stage_deadline(stage of) const {
  if (hurried_)
    return stage_began_ + (of == stage::log ? hurried_log_stage : hurried_stage);
  int percent = ending_until;
  switch (of) {
  case stage::connections:
    percent = connections_until;
    break;
  case stage::checks:
    percent = checks_until;
    break;
  case stage::appends:
    percent = appends_until;
    break;
  case stage::log:
    percent = log_until;
    break;
  case stage::rest:
    percent = rest_until;
    break;
  default:
    break;
  }
  return stop_began_ + env_->settings->shutdown.timeout * percent / 100;
}

void node_supervisor_state::enter(stage next) {
  stage_ = next;
  ++stage_turn_;
  stage_began_ = env_->time->now();
  waiting_.clear();
  switch (next) {
  case stage::connections:
    for (const auto& [address, connection] : connections_) {
      self_->send(connection, stop{});
      waiting_.emplace(address, "a connection");
    }
    break;
  case stage::checks:
    tell_stop({member_role::check_scheduler, member_role::producer_group});
    break;
  case stage::appends:
    tell_stop({member_role::half_store, member_role::op_store, member_role::delay_scheduler,
               member_role::topic_registry, member_role::consumer_group});
    break;
  case stage::log: // drains, has the last checkpoint made, writes the mark
    tell_stop({member_role::commit_log});
    break;
  case stage::rest:
    tell_stop({member_role::checkpointer, member_role::segment_keeper, member_role::log_reader});
    break;
  case stage::ending:
    for (const auto& [address, key] : by_address_)
      waiting_.emplace(address, text_of(key));
    for (const auto& [address, connection] : connections_)
      waiting_.emplace(address, "a connection");
    end_everyone(caf::exit_reason::user_shutdown);
    break;
  default:
    break;
  }
  if (waiting_.empty())
    stage_done();
  else
    arm_deadline();
}

void node_supervisor_state::tell_stop(std::initializer_list<member_role> roles) {
  for (const auto role : roles)
    for (auto at = members_.lower_bound({role}); at != members_.end() && at->first.role == role;
         ++at)
      if (const auto& actor = at->second.actor) {
        self_->send(caf::actor_cast<tree_member_actor>(actor), stop{});
        waiting_.emplace(caf::actor_cast<caf::actor_addr>(actor), text_of(at->first));
      }
}

void node_supervisor_state::arm_deadline() {
  const auto left =
      std::max(stage_deadline(stage_) - env_->time->now(), clock::time_point::duration{0});
  self_->delayed_send(self_, left, tick{timer_stage + stage_turn_});
}

void node_supervisor_state::stage_done() {
  switch (stage_) {
  case stage::connections:
    // After a failure nothing more may be written, and a checkpoint of what could not be written
    // would be a lie.
    enter(report_.failure.code == ec::ok ? stage::checks : stage::ending);
    break;
  case stage::ending:
    finish();
    break;
  case stage::running:
  case stage::rebuilding:
  case stage::over:
    break;
  default:
    enter(static_cast<stage>(static_cast<int>(stage_) + 1));
  }
}

void node_supervisor_state::on_stopped(const stopped& x) {
  // A connection says so and then ends by itself: its end counts.
  const auto& sender = self_->current_sender();
  if (!sender || stage_ < stage::connections)
    return;
  const auto who = caf::actor_cast<caf::actor_addr>(sender);
  if (stage_ == stage::connections && connections_.contains(who)) {
    if (!x.unfinished.empty())
      report_.unfinished.push_back(x.actor + ": " + x.unfinished);
    return;
  }
  if (stage_ != stage::ending)
    no_longer_waiting(who, x.unfinished);
}

void node_supervisor_state::no_longer_waiting(const caf::actor_addr& who,
                                              const std::string& unfinished) {
  const auto found = waiting_.find(who);
  if (found == waiting_.end())
    return;
  if (!unfinished.empty())
    report_.unfinished.push_back(found->second + ": " + unfinished);
  waiting_.erase(found);
  if (waiting_.empty())
    stage_done();
}

void node_supervisor_state::report_waiting() {
  std::map<std::string, std::size_t> late;
  for (const auto& [address, text] : waiting_)
    ++late[text];
  const auto* what = stage_ == stage::ending ? " did not end in time" : " did not finish in time";
  for (const auto& [text, count] : late)
    report_.unfinished.push_back((count == 1 ? text : std::to_string(count) + " × " + text) + what);
}

void node_supervisor_state::on_checkpoint_made(const checkpoint_made& x) {
  if (x.why.code != ec::ok)
    spdlog::error("no checkpoint: {}", to_string(x.why));
  else if (stage_ >= stage::connections)
    report_.checkpoint = true;
}

void node_supervisor_state::finish() {
  stage_ = stage::over;
  report_.took =
      std::chrono::duration_cast<std::chrono::milliseconds>(env_->time->now() - stop_began_);
  // Handles of actors that did not end must not keep each other alive.
  members_.clear();
  connections_.clear();
  peers_ = {};
  announced_ = nullptr;
  if (hooks_.finished)
    hooks_.finished(report_);
  self_->quit();
}

} // namespace handfast
