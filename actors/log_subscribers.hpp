#pragma once

/// Who folds the log, and what of it concerns whom. A plain table of COMMIT LOG.

#include "actors/roles.hpp"

#include <tsl/robin_map.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace handfast {

/// What a batch has, as far as it decides who must see it.
struct batch_summary {
  std::uint32_t types = 0;      ///< bit n: a record of type n
  bool delays = false;          ///< something that becomes visible later, was released or cancelled
  std::vector<group_id> groups; ///< whose progress or dead letters it holds

  static constexpr std::uint32_t bit(record_type t) {
    return std::uint32_t{1} << static_cast<unsigned>(t);
  }
  void note(const log_record& record);
  void clear() {
    types = 0;
    delays = false;
    groups.clear();
  }
};

class log_subscribers {
public:
  /// `who` folds from now on; its predecessor of the same role and instance is forgotten. It sees
  /// every batch until one ends at or behind `fence`, and from then on those that hold a record of
  /// its interest.
  void put(const appender& who, fold_actor actor, position fence);

  /// The group is deleted.
  void forget(group_id group);

  /// Whether `who` is the newest known life of its role and instance.
  [[nodiscard]] bool is_current(const appender& who) const;
  /// The actor of that life; null if another one has taken over.
  [[nodiscard]] const fold_actor* find(const appender& who) const;
  [[nodiscard]] const fold_actor* find(incarnation life) const;

  /// Those who must see a batch that ends at `to`: op_store, half_store, topic_registry,
  /// delay_scheduler, then groups.
  const std::vector<fold_actor>& concerned(const batch_summary& batch, position to);

  [[nodiscard]] std::vector<consumer_group_actor> groups() const;

private:
  struct member {
    appender who;
    fold_actor actor;
    position fence;
    bool caught_up = false;
  };
  static constexpr std::size_t single_roles = 4;
  static std::size_t slot_of(appender_role role);
  [[nodiscard]] const member* lookup(appender_role role, std::uint32_t instance) const;
  void offer(member& m, bool interested, position to);

  std::array<std::optional<member>, single_roles> singles_; ///< in order of dispatch
  tsl::robin_map<std::uint32_t, member> groups_;
  std::vector<std::uint32_t> new_groups_; ///< not past their fence
  std::vector<fold_actor> found_;
};

} // namespace handfast
