#include "actors/segment_keeper.hpp"

#include "actors/type_ids.hpp"
#include "messages/assert.hpp"

#include <spdlog/spdlog.h>

namespace handfast {

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t step_bytes = 4 * limits::mib;
/// Between two steps, so that syncs of the log get through: while nothing is appended, and else.
constexpr auto step_pause = 5ms;
constexpr auto busy_pause = 20ms;
/// When all is prepared and the log does not grow.
constexpr auto idle_pause = 500ms;
/// From here on zeros ahead of the log would take more of the disk than the faster syncs give back:
/// with 64 connections x 16 the node did a quarter more transactions without them.
constexpr std::uint64_t flood_bytes_per_s = 64 * limits::mib;
constexpr auto full_pause = 500ms;

} // namespace

void segment_keeper_state::start(segment_keeper_start from) {
  HANDFAST_ASSERT(from.log && from.disk);
  from_ = std::move(from);
  tail_seen_ = from_.log->tail();
  seen_at_ = self_->clock().now();
}

void segment_keeper_state::on_peers(const peers_changed& x) {
  const auto before = std::exchange(peers_, x.peers);
  if (full_ && before && before->commit_log.life != peers_->commit_log.life)
    tell();
  if (!ticking_ && !over_)
    again_after(0ms);
}

void segment_keeper_state::on_stop() {
  over_ = true;
  if (peers_)
    self_->send(peers_->supervisor.actor, stopped{name, {}});
}

void segment_keeper_state::again_after(std::chrono::milliseconds pause) {
  ticking_ = true;
  self_->delayed_send(self_, pause, tick{});
}

void segment_keeper_state::on_tick() {
  ticking_ = false;
  if (over_)
    return;
  if (!has_room(0)) {
    set_full(true);
    again_after(full_pause);
    return;
  }
  const auto growth = growth_per_second();
  const bool flood = growth >= flood_bytes_per_s && has_room(from_.log->segment_bytes());
  const auto more = flood ? from_.log->reserve_step() : from_.log->prepare_step(step_bytes);
  ++steps_;
  if (more) {
    set_full(false);
    again_after(growth > 0 ? busy_pause : *more ? step_pause : idle_pause);
  } else if (more.error().code == ec::disk_full) {
    set_full(true);
    again_after(full_pause);
  } else {
    over_ = true;
    spdlog::critical("no segment can be prepared: {}", to_string(more.error()));
    self_->send(peers_->supervisor.actor, shard_failed{more.error()});
  }
}

std::uint64_t segment_keeper_state::growth_per_second() {
  const auto now = self_->clock().now();
  const auto tail = from_.log->tail();
  const std::chrono::duration<double> passed = now - std::exchange(seen_at_, now);
  const auto bytes = tail.value - std::exchange(tail_seen_, tail).value;
  return passed.count() <= 0
             ? 0
             : static_cast<std::uint64_t>(static_cast<double>(bytes) / passed.count());
}

bool segment_keeper_state::has_room(std::uint64_t bytes) const {
  const auto space = from_.disk->space(from_.directory);
  return !space || space->available >= disk_reserve_bytes + bytes;
}

void segment_keeper_state::set_full(bool full) {
  if (std::exchange(full_, full) == full)
    return;
  if (full)
    spdlog::error("the disk is full: new messages are refused, decisions go on; {}", shortage());
  else
    spdlog::info("the disk has room again: new messages are accepted");
  tell();
}

void segment_keeper_state::tell() {
  self_->send(peers_->commit_log.actor, disk_state{full_, full_ ? shortage() : std::string{}});
}

std::string segment_keeper_state::shortage() const {
  const auto mib = [](std::uint64_t bytes, std::uint64_t round_up) {
    return std::to_string((bytes + round_up) / limits::mib) + " MiB";
  };
  const auto space = from_.disk->space(from_.directory);
  return (space ? mib(space->available, 0) : "too little") + " free on the disk of " +
         from_.directory + ", " + mib(needed(), limits::mib - 1) +
         " needed: " + mib(disk_reserve_bytes, 0) + " that stay free for checkpoints, and " +
         mib(from_.log->still_to_prepare(), limits::mib - 1) +
         " for the log's next segments (a smaller `store.segment_size` needs less)";
}

std::uint64_t segment_keeper_state::needed() const {
  return disk_reserve_bytes + from_.log->still_to_prepare();
}

status_report segment_keeper_state::status() const {
  status_report report;
  report.actor = name;
  report.samples = {
      {"handfast_segments", "", static_cast<double>(from_.log->segments().size())},
      {"handfast_log_prepared_bytes", "", static_cast<double>(from_.log->prepared_ahead())},
      {"handfast_log_prepare_steps_total", "", static_cast<double>(steps_)},
      {"handfast_disk_needed_bytes", "", static_cast<double>(needed())},
  };
  if (const auto space = from_.disk->space(from_.directory)) {
    report.samples.push_back(
        {"handfast_disk_available_bytes", "", static_cast<double>(space->available)});
    report.samples.push_back(
        {"handfast_disk_capacity_bytes", "", static_cast<double>(space->capacity)});
  }
  return report;
}

segment_keeper_actor::behavior_type segment_keeper(segment_keeper_pointer self,
                                                   segment_keeper_start from) {
  auto& s = self->state;
  s.start(std::move(from));
  return {
      [&s](const peers_changed& x) { s.on_peers(x); },
      [&s](const stop&) { s.on_stop(); },
      [&s](const status_request&) { return s.status(); },
      [&s](const tick&) { s.on_tick(); },
  };
}

} // namespace handfast
