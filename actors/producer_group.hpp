#pragma once

/// PRODUCER GROUP: the live producer connections of one group, and whom of them to ask about a
/// transaction.
///
/// Receives       producer_joined, producer_left (connections); ask_producers (half_store);
/// checks_handled (connections);
///                its own tick.
/// Sends          ask_producers (connections); checks_handled, group_presence (half_store).
/// Owns           members and the asks that have no receipt yet.
/// Supervised by  node_supervisor; members join again when they learn of a new life.
/// Blocks?        No.
///
/// Guarantees: every order is answered, handed over or not, unless this actor dies; then half_store
/// makes it again. A member counts as alive as long as its connection does, whether it sends
/// anything or not. The original producer is asked first, then members that declared the topic,
/// then any, in turns; each member at most once for one order.

#include "actors/loop_actor.hpp"
#include "actors/roles.hpp"
#include "actors/seams.hpp"

#include <tsl/robin_map.h>

#include <deque>
#include <string>
#include <vector>

namespace handfast {

class producer_group_state {
public:
  static inline const char* name = "producer-group";
  using self_pointer = loop_pointer<producer_group_actor, producer_group_state>;

  explicit producer_group_state(self_pointer self) : self_{self} {}

  void begin(const shard_environment* env, group_id group);
  void on_peers(const peers_changed& x);
  void on_joined(const producer_joined& x);
  void on_left(const caf::actor_addr& who);
  void on_ask(const ask_producers& x);
  void on_handled(const checks_handled& x);
  void on_tick();
  void on_stop();
  [[nodiscard]] status_report status() const;

private:
  struct member {
    connection_actor connection;
    caf::actor_addr address;
    producer_id producer;
    std::string name;
    std::vector<topic_id> topics;
    std::vector<check_order> orders; ///< to be sent at the end of this round
  };
  /// An order without a receipt. `asked.back()` has it now.
  struct ask {
    check_order order;
    std::vector<caf::actor_addr> asked;
    clock::time_point since;
  };

  [[nodiscard]] member* find_member(const caf::actor_addr& who);
  [[nodiscard]] member* choose(const ask& what);
  /// Hands the order to the next member, or reports that there is none.
  void hand_on(position transaction, ask& what);
  void report(check_result result);
  void send_all();
  void tell_presence();

  self_pointer self_;
  const shard_environment* env_ = nullptr;
  group_id group_;
  peer<half_store_actor> half_store_;
  std::vector<member> members_;
  std::size_t turn_ = 0;
  tsl::robin_map<position, ask> asks_;
  /// By age of their last hand-over; entries whose ask has moved on are skipped.
  std::deque<std::pair<clock::time_point, position>> ages_;
  bool ticking_ = false;
  checks_handled results_;
};

producer_group_actor::behavior_type producer_group(producer_group_state::self_pointer self,
                                                   const shard_environment* env, group_id group);

} // namespace handfast
