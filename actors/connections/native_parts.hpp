#pragma once

/// The parts of a native connection, by purpose. Each turns frames of the client into messages, and
/// answers into frames. A request without an answer at the end of its owner's life is failed by
/// `native_connection`, which tells the part that has a job for it.

#include "actors/connections/connection_core.hpp"
#include "actors/connections/native_consume_parts.hpp"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace handfast {

/// Topics by name, membership in producer groups.
class session_part {
public:
  explicit session_part(connection_core& core) : core_{core} {}

  void on(const native::resolve_topic& x);
  void on(native::join_producer_group& x);
  void on(const native::leave_producer_group& x);

  void on_topic(const outstanding_request& request, const topic_resolved& x);
  void on_group(const outstanding_request& request, const group_resolved& x);
  void on_producer_group(const producer_group_found& x);
  void drop_job(std::uint32_t job);
  void leave_all();

  [[nodiscard]] bool is_member(group_id group) const { return joined_.count(group) != 0; }
  /// Null if this connection is not a member.
  [[nodiscard]] const producer_group_actor* producer_group(group_id group) const;
  [[nodiscard]] std::size_t groups() const { return joined_.size(); }

private:
  static constexpr std::size_t joins_max = 64;
  static constexpr std::size_t groups_max = 1'024;

  /// A join on its way: group and topics are resolved side by side.
  struct join {
    correlation client;
    group_id group;
    std::string group_name;
    std::size_t waiting = 0;
    std::vector<topic_id> topics;
  };
  struct membership {
    producer_group_actor actor;
    incarnation life;
    std::vector<topic_id> topics;
    std::vector<correlation> waiting; ///< joins that wait for the actor
  };
  void step(std::uint32_t job, join& work);
  void enter(group_id group, membership& m);

  connection_core& core_;
  std::unordered_map<std::uint32_t, join> joins_;
  std::map<group_id, membership> joined_;
};

/// Plain messages and halves.
class produce_part {
public:
  produce_part(connection_core& core, const session_part& session)
      : core_{core}, session_{session} {}

  void take_send(const native::frame& frame);
  void take_half(const native::frame& frame);
  /// What one read gathered goes to its owners, one message each.
  void hand_over();

  void on_stored(const messages_stored& x);
  void on_stored(const halves_stored& x);
  /// Where the round robin begins, so that connections do not all begin at queue 0.
  void start_at(std::uint32_t queue) { turn_ = queue; }
  /// What was wrong with the frame; ok when it was taken.
  [[nodiscard]] const error& problem() const { return problem_; }

private:
  [[nodiscard]] error check(native::send_item& item, bool half, message_record& into);
  [[nodiscard]] error check_payload(const native::send_item& item, message_record& into) const;
  [[nodiscard]] queue_no choose(const native::send_item& item, const known_topic& topic);

  connection_core& core_;
  const session_part& session_;
  std::uint32_t turn_ = 0;
  native::send send_; // reused from frame to frame
  native::send_half half_;
  native::sent sent_;
  native::half_stored half_stored_;
  append_messages messages_;
  append_halves halves_;
  error problem_;
};

/// Decisions, checks, and looking at transactions.
class transaction_part {
public:
  transaction_part(connection_core& core, const session_part& session)
      : core_{core}, session_{session} {}

  void on(const native::decide& x);
  void on(const native::running& x);
  void on(const native::check_received& x);
  void on(const native::query_transaction& x);
  void on(const native::list_transactions& x);
  void on(const native::reopen& x);
  void hand_over();

  void on_decided(const decided& x);
  void on_ask(const ask_producers& x);
  void on_names(const outstanding_request& request, const ids_named& x);
  void on_bodies(const outstanding_request& request, const records_read& x);
  void on_found(const outstanding_request& request, const transaction_found& x);
  void on_listed(const outstanding_request& request, const transactions_listed& x);
  void on_reopened(const outstanding_request& request, const transaction_reopened& x);
  void on_group(const outstanding_request& request, const group_resolved& x);
  void on_topic(const outstanding_request& request, const topic_resolved& x);
  /// A request of this job will never be answered.
  void drop_job(std::uint32_t job);
  /// The connection ends: other members are to be asked.
  void give_back_checks();
  [[nodiscard]] std::size_t checks_waiting() const { return asked_.size(); }

private:
  static constexpr std::size_t looks_max = 64;
  /// Lives of one listing that are read from the log at the same time: few, since on a slow disk
  /// checks and consumers wait behind them.
  static constexpr std::size_t lives_at_once = 2;
  /// Decided transactions that one page is searched for in; the next page goes on.
  static constexpr std::size_t looked_at_max = 100'000;

  /// Checks of one `ask_producers` whose bodies or topic names are still being fetched.
  struct check_batch {
    std::vector<check_order> orders;
    std::vector<log_record> bodies; ///< of the same order; `pad` where there is none yet
    std::vector<std::uint32_t> missing;
    bool waits_for_names = false;
    bool waits_for_bodies = false;
  };
  /// A look at one or more transactions: filters, then lives, then names.
  struct look {
    enum class stage : std::uint8_t { filters, pending, decided, lives, names };
    correlation client;
    stage at = stage::filters;
    bool listing = false;
    bool both = false; ///< any state: what is decided follows what is pending
    native::list_transactions what;
    std::size_t waiting = 0; ///< filters that are being resolved
    group_id group;
    topic_id topic;
    std::vector<transaction_life> decided; ///< of one page: summaries, then whole lives
    bool more_decided = false;
    std::size_t next_life = 0;   ///< of `decided`, to be asked for
    std::size_t lives_asked = 0; ///< and not answered yet
    std::size_t looked_at = 0;   ///< decided ones, with those that the topic leaves out
    native::transactions answer;
  };
  struct asked_check {
    group_id group;
    transaction_id id;
    std::uint16_t attempt = 0;
  };

  void finish_checks(std::uint32_t job, check_batch& batch);
  void refuse_checks(const std::vector<check_order>& orders);
  /// @param attempt which question was received; 0 = the newest
  void receipt(const transaction_id& id, std::uint16_t attempt);
  void list_now(std::uint32_t job, look& work);
  void ask_lives(std::uint32_t job, look& work);
  void take_lives(std::uint32_t job, look& work);
  void ask_names(std::uint32_t job, look& work);
  void fail_look(std::uint32_t job, ec code, std::string_view detail = {});

  connection_core& core_;
  const session_part& session_;
  decide decide_;
  native::decided decided_;
  std::unordered_map<std::uint32_t, check_batch> checks_;
  std::unordered_map<std::uint32_t, look> looks_;
  std::unordered_map<std::uint32_t, transaction_id> reopened_; ///< the old ids, by job
  std::unordered_map<std::uint64_t, asked_check> asked_;       ///< by position; no receipt yet
};

/// Topics, groups, status, quarantine.
class admin_part {
public:
  explicit admin_part(connection_core& core) : core_{core} {}

  void on(const native::topic_create& x);
  void on(const native::topic_show& x);
  void on(const native::topic_delete& x);
  void on(const native::topic_list& x);
  void on(const native::group_list& x);
  void on(const native::status& x);
  void on(const native::quarantine_list& x);

  void on_topic(const outstanding_request& request, const topic_resolved& x);
  void on_topics(const outstanding_request& request, const topics_listed& x);
  void on_groups(const outstanding_request& request, const groups_listed& x);
  void on_names(const outstanding_request& request, const ids_named& x);
  void on_status(const outstanding_request& request, const node_status& x);
  void on_queue(const queue_found& x);
  void on_entries(const outstanding_request& request, const entries_fetched& x);
  void on_listed(const outstanding_request& request, const transactions_listed& x);
  void on_decided(const outstanding_request& request, const decision_result& x);
  void on_dropped(const outstanding_request& request, const delayed_cancelled& x);
  void drop_job(std::uint32_t job);

private:
  static constexpr std::size_t jobs_max = 64;

  /// `topic show`: the extents of each queue.
  struct showing {
    correlation client;
    native::topics answer;
    std::set<queue_key> waiting;
  };
  /// `topic delete --force`: pending transactions are rolled back first, then what they and others
  /// left to wait for its time is cancelled.
  struct forced_deletion {
    correlation client;
    std::string name;
    topic_id topic;
    std::size_t waiting = 0;
  };
  struct group_listing {
    correlation client;
    native::groups answer;
    std::vector<std::pair<std::size_t, topic_id>> topics; ///< of each progress entry, by group
  };
  void add_numbers(group_listing& work, const node_status& x) const;
  void list_pending(std::uint32_t job, const forced_deletion& work);

  connection_core& core_;
  std::unordered_map<std::uint32_t, showing> shows_;
  std::unordered_map<std::uint32_t, forced_deletion> deletions_;
  std::unordered_map<std::uint32_t, group_listing> listings_;
};

/// Messages that become visible later.
class delay_part {
public:
  explicit delay_part(connection_core& core) : core_{core} {}

  void on(native::list_delayed& x);
  void on(const native::cancel_delayed& x);

  void on_topic(const outstanding_request& request, const topic_resolved& x);
  void on_listed(const outstanding_request& request, const delayed_listed& x);
  void on_names(const outstanding_request& request, const ids_named& x);
  void on_cancelled(const outstanding_request& request, const delayed_cancelled& x);
  void drop_job(std::uint32_t job);

private:
  static constexpr std::size_t lists_max = 64;

  /// A page: its filter by name, what waits, then the names of topics.
  struct listing {
    native::list_delayed what;
    native::delayed_page answer;
    std::vector<topic_id> topics; ///< of the items
  };
  void list_now(std::uint32_t job, topic_id topic);
  void fail(std::uint32_t job, ec code, std::string_view detail = {});

  connection_core& core_;
  std::unordered_map<std::uint32_t, listing> lists_;
};

} // namespace handfast
