#pragma once

/// SEGMENT KEEPER: prepares segments ahead of use, in paced steps, so that appending never waits
/// for a file to be made.
///
/// Receives   tick (its own timer)
/// Sends      disk_state to commit_log when the disk has become full or has room again,
/// shard_failed when it fails Owns       nothing but the pace Supervised by node_supervisor Blocks?
/// yes, in writes of at most 4 MiB: spawn it detached
///
/// Guarantees: the rest of the segment in use and one whole segment behind it are prepared as long
/// as there is room, with zeros, or only reserved while the log grows very fast; a full disk is
/// reported once, tried again twice a second, and its end is reported too. A disk counts as full
/// while less than `disk_reserve_bytes` are left, so that checkpoints have room when messages are
/// already refused.

#include "actors/loop_actor.hpp"
#include "actors/roles.hpp"
#include "storage/segment_set.hpp"

#include <string>

namespace handfast {

struct segment_keeper_start {
  storage::segment_set* log = nullptr; ///< outlives the actor, as `disk` does
  storage::file_system* disk = nullptr;
  std::string directory; ///< whose free space counts
};

/// Left for checkpoints and derived runs.
constexpr std::uint64_t disk_reserve_bytes = 32 * limits::mib;

class segment_keeper_state;
using segment_keeper_pointer = loop_pointer<segment_keeper_actor, segment_keeper_state>;

class segment_keeper_state {
public:
  static inline const char* name = "segment-keeper";

  explicit segment_keeper_state(segment_keeper_pointer self) : self_{self} {}

  void start(segment_keeper_start from);
  void on_peers(const peers_changed& x);
  void on_stop();
  void on_tick();
  [[nodiscard]] status_report status() const;

private:
  /// Since the last call, of the log's tail.
  [[nodiscard]] std::uint64_t growth_per_second();
  /// Beside what is left for checkpoints.
  [[nodiscard]] bool has_room(std::uint64_t bytes) const;
  /// Free bytes with which everything can be prepared and the disk does not count as full.
  [[nodiscard]] std::uint64_t needed() const;
  /// What is free, what is needed, and for what.
  [[nodiscard]] std::string shortage() const;
  void set_full(bool full);
  void tell();
  void again_after(std::chrono::milliseconds pause);

  segment_keeper_pointer self_;
  segment_keeper_start from_;
  std::shared_ptr<const shard_peers> peers_;
  position tail_seen_;
  caf::actor_clock::time_point seen_at_;
  bool ticking_ = false;
  bool full_ = false;
  bool over_ = false;
  std::uint64_t steps_ = 0;
};

segment_keeper_actor::behavior_type segment_keeper(segment_keeper_pointer self,
                                                   segment_keeper_start from);

} // namespace handfast
