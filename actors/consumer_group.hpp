#pragma once

/// CONSUMER GROUP: who of one group gets which message, and how far the group has come.
///
/// Receives       fetch_messages, acknowledge, reset_progress, describe_group, member_left
///                (connections), entries_fetched, queue_grew and offset_found (queues), queue_found
///                (node_supervisor), heads_read and records_read (log_reader), group_rules,
///                dead_letters_open and end_group (topic_registry), records_durable (commit_log).
/// Sends          deliver, acknowledged, progress_reset, group_described (connections),
///                fetch_entries, watch_queue, find_offset (queues), find_queue (node_supervisor),
///                read_heads, read_records (log_reader), ask_group_rules, open_dead_letters,
///                group_ended (topic_registry), append_records, note_damage (commit_log).
/// Owns           members and what they agreed on, leases, which member reads which queue in order,
///                failed deliveries, progress of the group on every queue it reads.
/// Supervised by  node_supervisor; a restarted one has the durable progress and no leases.
/// Blocks?        No.
///
/// Guarantees: a message is held by at most one member at a time and handed out again until it is
/// acknowledged or stands in the group's dead-letter topic, once; what was answered as acknowledged
/// is not delivered again, also after a crash; a failed delivery is counted durably before the
/// message goes out again. Members share all queues of a topic fairly; a parked fetch is answered
/// in the same round of the loop in which a message becomes visible. In ordered consumption of each
/// key of a queue one message at a time is with a member, in the order of the queue. Not
/// guaranteed: that a back-off outlives a restart: what failed before it is handed out at once.

#include "actors/fold_member.hpp"
#include "actors/folds/dead_letter.hpp"
#include "actors/folds/progress_table.hpp"
#include "actors/folds/queue_owners.hpp"
#include "actors/folds/queue_window.hpp"
#include "actors/loop_actor.hpp"
#include "actors/roles.hpp"
#include "actors/seams.hpp"
#include "messages/filter/filter.hpp"

#include <caf/actor_addr.hpp>
#include <tsl/robin_map.h>

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace handfast {

struct consumer_group_state {
  static inline const char* name = "consumer-group";

  using pointer = loop_pointer<consumer_group_actor, consumer_group_state>;
  using time_point = clock::time_point;

  explicit consumer_group_state(pointer self_pointer) : self{self_pointer} {}

  void begin(const shard_environment* env, fold_start<progress_table> from);

  void on_peers(const shard_peers& peers);
  void on_rules(const group_rules& x);
  void on_fetch(const fetch_messages& x);
  void on_acknowledge(const acknowledge& x);
  void on_reset(const reset_progress& x);
  void on_describe(const describe_group& x);
  void on_entries(const entries_fetched& x);
  void on_grew(const queue_grew& x);
  void on_offset(const offset_found& x);
  void on_queue(const queue_found& x);
  void on_heads(heads_read& x);
  void on_records(records_read& x);
  void on_dead_letters_open(const dead_letters_open& x);
  void on_member_left(const caf::actor_addr& who);
  void on_tick(const tick& x);
  void on_refused(const append_refused& x);
  void on_end();
  void on_stop();
  void apply(const log_record& record, bool replayed);
  [[nodiscard]] slices_taken slices(const std::string& cursor) const;
  [[nodiscard]] status_report status();

  /// Entries that are fetched ahead of all queues of a topic together, and of each at least and at
  /// most.
  static constexpr std::uint32_t prefetch_together = 4'096;
  static constexpr std::uint32_t prefetch_min = 16;
  static constexpr std::uint32_t prefetch_max = 512;
  static constexpr std::uint32_t deliver_max = 1'024;
  static constexpr std::size_t held_acks_max = 1'024;
  static constexpr std::size_t heads_max = 256; ///< asked for at once
  /// A record up to this is read whole for its head if it lies in the page cache.
  static constexpr std::uint32_t cached_head_max = 64 * limits::kib;
  /// Orders to the log under way at once; what comes meanwhile shares the next one.
  static constexpr std::size_t writes_max = 4;
  /// Of one PROGRESS record, unless a single queue needs more.
  static constexpr std::size_t record_bytes_max = 256 * limits::kib;
  /// Dead letters under way at once, and the bytes of all but the first.
  static constexpr std::size_t burials_max = 64;
  static constexpr std::size_t burial_bytes_max = 16 * limits::mib;
  static constexpr std::uint32_t wait_ms_max = 10 * 60 * 1'000;
  /// Progress that nobody waits for becomes durable with the next that somebody does, at the latest
  /// after this.
  static constexpr std::chrono::seconds lazy_write{1};
  /// A queue that answered "not now", or nothing though it has more, is asked again after this.
  static constexpr std::chrono::milliseconds retry_after{100};
  /// A dead letter that could not be read or stored is tried again after this.
  static constexpr std::chrono::seconds burial_retry{1};
  /// A fetch whose queues do not answer ends this long after its own wait.
  static constexpr std::chrono::seconds grace{1};

  enum timer : std::uint32_t {
    write_timer = 1,
    lazy_timer,
    deadline_timer,
    retry_timer,
    burial_timer
  };

  /// Heads that are being read, in the order in which they were taken from the window.
  struct head_batch {
    std::uint64_t asked = 0;
    std::vector<visible_entry> entries;
    std::vector<record_head> heads;
    std::vector<std::size_t> missing; ///< what LOG READER reads
  };
  /// One queue as this group sees it.
  struct slot {
    enum class stage : std::uint8_t { finding, locating, idle, fetching, watching, missing };
    slot(queue_key key, const failure_rules& rules, const queue_progress& from)
        : window{key, rules, from} {}

    queue_window window;
    const filter* wanted = nullptr;
    std::uint32_t prefetch = prefetch_max;
    queue_actor actor;
    incarnation life;
    stage at = stage::finding;
    std::optional<start_point> start; ///< of a new group: found out before anything is read
    std::uint64_t asked = 0;          ///< correlation of the fetch under way
    std::unique_ptr<head_batch> heads;
    bool dirty = false; ///< stands in `dirty_slots`
    bool lazily_dirty = false;
  };
  struct subscriber {
    time_point last_fetch;
    std::uint32_t parked = 0; ///< fetches
  };
  /// A topic that members fetch.
  struct topic_slot {
    subscription_terms terms;
    filter wanted;
    std::uint32_t turn = 0; ///< the queue that is served first next time
    std::vector<slot*> queues;
    std::map<member_no, subscriber> subscribers;
    queue_owners owners; ///< ordered only
    [[nodiscard]] bool ordered() const { return terms.mode == delivery_mode::ordered; }
  };
  struct member_entry {
    member_no number = 0;
    std::string name;
  };
  struct parked_fetch {
    caf::strong_actor_ptr who;
    member_no holder = 0;
    correlation id;
    topic_id topic;
    std::uint32_t max = 0;
    std::uint32_t bytes_max = 0;
    time_point until;
  };
  struct held_ack {
    caf::strong_actor_ptr who;
    acknowledge what;
  };
  /// An answer that waits for the log.
  struct late_answer {
    caf::strong_actor_ptr who;
    std::variant<acknowledged, progress_reset> what;
  };
  /// What one order to the log holds; its answers go when all of it is durable.
  struct log_order {
    std::size_t open = 0; ///< records
    error why;
    std::vector<late_answer> answers;
  };
  using message_place = std::pair<queue_key, std::uint64_t>;
  /// A record under way.
  struct order_part {
    std::shared_ptr<log_order> order;
    std::vector<slot*> queues; ///< whose progress it has
    std::vector<std::pair<slot*, std::vector<std::uint64_t>>> counted;
    std::optional<message_place> letter; ///< a dead letter instead
  };
  /// An acknowledgement that waits for dead letters too.
  struct burial_wait {
    late_answer answer;
    std::size_t open = 0;
  };
  struct burial {
    queue_window::dead_message what;
    std::optional<log_record> original;
    bool asked = false;    ///< LOG READER reads it
    bool appended = false; ///< and not durable
  };
  struct reset_job {
    caf::strong_actor_ptr who;
    reset_progress what;
    std::map<queue_key, std::optional<queue_offset>> places;
  };
  /// The group's dead-letter topic, as far as it is known.
  struct dead_letter_box {
    bool asked = false;
    topic_id topic;
    std::map<topic_id, std::string> origins;
  };

  pointer self;
  const shard_environment* env = nullptr;
  std::optional<fold_member<pointer, progress_table>> member; ///< always there after `begin`
  cookie_source cookies{incarnation{}};
  failure_rules rules;
  std::uint16_t own_delivery_max = 0; ///< the group's, 0 if it has none
  std::string group_name;             ///< empty until TOPIC REGISTRY told it
  bool unknown = false;               ///< TOPIC REGISTRY knows no such group
  std::uint64_t last_lease = 0;
  std::uint64_t last_asked = 0;
  member_no last_member = 0;
  std::map<caf::actor_addr, member_entry> members;
  std::map<topic_id, topic_slot> topics;
  tsl::robin_map<queue_key, std::unique_ptr<slot>, std::hash<queue_key>> queues;
  std::deque<parked_fetch> parked;
  std::deque<held_ack> held_acks;
  std::map<std::uint64_t, reset_job> resets;
  std::vector<slot*> dirty_slots; ///< to be written with the answers below
  std::vector<slot*> lazily_dirty_slots;
  std::vector<late_answer> answers;              ///< for the next order
  std::map<std::uint64_t, order_part> in_flight; ///< by cookie
  std::map<message_place, burial> burials;
  std::map<message_place, std::vector<std::shared_ptr<burial_wait>>> burial_waits;
  std::map<std::uint64_t, std::vector<message_place>> burial_reads; ///< by question
  std::size_t letters_in_flight = 0;
  dead_letter_box box;
  std::uint64_t dead_letters = 0;
  std::uint64_t letters_told = 0; ///< of them, in the node's log
  time_point letters_told_at;
  std::uint64_t skipped = 0; ///< gone from their queues before the group had done with them
  bool write_asked = false;
  bool lazy_asked = false;
  bool retry_asked = false;
  bool burial_asked = false;
  time_point armed_until = time_point::max();
  peer<node_supervisor_actor> supervisor;
  peer<log_reader_actor> log_reader;
  peer<topic_registry_actor> topic_registry;
  commit_log_actor commit_log;
  caf::strong_actor_ptr stop_asker;
  bool stopping = false;
  caf::strong_actor_ptr end_asker;
  bool ended = false; ///< the group is being deleted

private:
  [[nodiscard]] group_id group() const { return member->fold.group(); }
  void refresh_rules();
  [[nodiscard]] ec not_now() const;
  member_no member_of(const caf::strong_actor_ptr& who, const std::string& called);
  [[nodiscard]] member_no known_member(const caf::strong_actor_ptr& who) const;

  // queues
  slot& open(queue_key key);
  void find(slot& s);
  void open_topic(topic_slot& topic, const fetch_messages& what, bool is_new);
  void read_as_agreed(topic_slot& topic, slot& s);
  void ask(slot& s);
  void refill(slot& s);
  void read_heads_of(slot& s);
  void judge_heads(slot& s);
  void ask_heads(slot& s);
  void forget_questions(slot& s);
  void ask_places(std::uint64_t id, const reset_job& job, const slot& s);
  void reset_now(std::map<std::uint64_t, reset_job>::iterator job);

  // fetching
  [[nodiscard]] ec agree(const fetch_messages& x, member_no holder);
  void pump(topic_id topic);
  void pump_all();
  [[nodiscard]] bool fill(const parked_fetch& fetch, topic_slot& topic);
  [[nodiscard]] static ec verdict_on(const topic_slot& topic);
  [[nodiscard]] static bool settled(const topic_slot& topic);
  void end_fetch(const parked_fetch& fetch, ec code);
  void end_fetches(ec code);
  void forget_parked(const parked_fetch& fetch);
  void settle_owners(topic_slot& topic);
  void settle_moving();
  [[nodiscard]] std::optional<time_point> drop_idle(topic_slot& topic, time_point now);

  // progress
  [[nodiscard]] bool try_acknowledge(const caf::strong_actor_ptr& who, const acknowledge& what);
  void acknowledge_one(slot& s, const acknowledgement& item, acknowledged& answer,
                       std::shared_ptr<burial_wait>& waits);
  void retry_held_acks();
  void note_unreadable(queue_place where, position at);
  void note_changes(slot& s);
  void mark_dirty(slot& s);
  void mark_lazily_dirty(slot& s);
  void ask_write();
  void write();
  void add_progress(append_records& to, const std::shared_ptr<log_order>& order);
  void answer_unchanged();
  void send(const late_answer& answer, ec code);
  void part_done(std::map<std::uint64_t, order_part>::iterator part, const error& why);

  // dead letters
  void bury_more();
  void ask_box();
  void read_original(message_place where, burial& b);
  void ask_originals(std::vector<message_place> places);
  void take_original(message_place where, record_read& read);
  void settle_burial(message_place where);
  void give_up_burial(message_place where);
  void add_letters(append_records& to, const std::shared_ptr<log_order>& order);
  [[nodiscard]] log_record letter_of(message_place where, const burial& b);
  void tell_of_letter(message_place where, const burial& b);
  void ask_burial_retry();
  [[nodiscard]] bool wants_to_bury() const;

  // time and the end
  void run_deadlines();
  void arm(time_point when);
  void ask_retry();
  void finish_stop();
  void finish_end();
};

/// @param from the group's progress that recovery folded, or an empty table with its group
consumer_group_actor::behavior_type consumer_group(consumer_group_state::pointer self,
                                                   const shard_environment* env,
                                                   fold_start<progress_table> from);

} // namespace handfast
