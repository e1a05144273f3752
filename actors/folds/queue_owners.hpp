#pragma once

/// Which member of a group reads which queue of a topic in ordered consumption. Plain, no CAF;
/// owned by CONSUMER GROUP.

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace handfast {

/// Number of a member inside its group, never used twice in the life of the group's actor; 0 means
/// nobody.
using member_no = std::uint32_t;

/// Each queue belongs to at most one member. The shares differ by one at most, and only what must
/// move moves: those who have too many give up some. A queue moves when nothing of it is with its
/// owner any more; until then nothing more of it is handed out. Not thread-safe.
class queue_owners {
public:
  /// Whether anything of a queue is with a member.
  using in_flight = std::function<bool(std::uint32_t queue)>;

  /// Queues are only ever added.
  void set_queues(std::uint32_t count);
  /// False if it was there already.
  bool join(member_no member);
  /// Its queues belong to nobody from now on.
  void leave(member_no member);
  [[nodiscard]] bool has(member_no member) const { return owned_.count(member) != 0; }
  [[nodiscard]] std::size_t members() const { return owned_.size(); }

  /// Moves what must and can move now. To be called after each change, and when a queue that is to
  /// move has nothing in flight any more.
  void settle(const in_flight& busy);

  /// 0 if nobody has it.
  [[nodiscard]] member_no owner(std::uint32_t queue) const { return queues_[queue].owner; }
  /// Whether messages of the queue may be handed to `member` now.
  [[nodiscard]] bool may_take(std::uint32_t queue, member_no member) const {
    return queues_[queue].owner == member && !queues_[queue].leaving;
  }
  /// Some queue waits for what is in flight, to go to another member.
  [[nodiscard]] bool is_moving() const { return moving_ > 0; }
  [[nodiscard]] std::uint32_t owned_by(member_no member) const;

private:
  struct queue_state {
    member_no owner = 0;
    bool leaving = false; ///< to go elsewhere as soon as nothing is in flight
  };

  [[nodiscard]] std::map<member_no, std::uint32_t> quotas() const;
  void give_up(const std::map<member_no, std::uint32_t>& quota, const in_flight& busy);
  void free(queue_state& q);
  void hand_on(const std::map<member_no, std::uint32_t>& quota);

  std::vector<queue_state> queues_;
  std::map<member_no, std::uint32_t> owned_; ///< members and how many queues each has
  std::size_t moving_ = 0;
};

} // namespace handfast
