#pragma once

/// The protocol of the whole system on a few pages: who there is, and what each may be told. Domain
/// messages stand in `messages/`, those about the log in `actors/log_messages.hpp`; here are the
/// handles, and the messages that carry handles or that never leave a node.
///
/// Answers are messages of their own with a `correlation` (no response promise is held across a
/// sync); only `status_request` and `take_slices`, which need no disk, are answered as requests.

#include "actors/log_messages.hpp"
#include "config/policy.hpp"
#include "messages/delays.hpp"
#include "messages/delivery.hpp"
#include "messages/log_record.hpp"
#include "messages/requests.hpp"
#include "messages/status.hpp"
#include "messages/topics.hpp"

#include <caf/fwd.hpp>
#include <caf/replies_to.hpp>
#include <caf/type_id.hpp>
#include <caf/typed_actor.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace handfast {

// -- handles ----------------------------------------------------------------------

struct shard_peers;

/// The supervisor tells everyone about the actors of this shard, at start and after each restart. A
/// role whose incarnation differs from the one known before has lost all that was outstanding
/// there: fail or resend it, and reset credits.
struct peers_changed {
  std::shared_ptr<const shard_peers> peers;
};

/// Every actor of the tree understands these.
using tree_member_actor = caf::typed_actor<caf::reacts_to<peers_changed>, caf::reacts_to<stop>,
                                           caf::replies_to<status_request>::with<status_report>>;

/// The log's tail: stamps positions and offsets, forms batches, has them written, dispatches what
/// is durable in log order, recognises repeated sends.
using commit_log_actor = tree_member_actor::extend<
    caf::reacts_to<append_messages>, caf::reacts_to<append_records>,
    caf::reacts_to<register_appender>, caf::reacts_to<bind_queue>, caf::reacts_to<batch_synced>,
    caf::reacts_to<flush>, caf::reacts_to<tick>, caf::reacts_to<checkpoint_made>,
    caf::reacts_to<run_saved>, caf::reacts_to<disk_state>, caf::reacts_to<delay_room>,
    caf::reacts_to<note_damage>, caf::replies_to<take_slices>::with<slices_taken>,
    caf::replies_to<take_unsaved>::with<unsaved_taken>>;

/// Reads bodies, old index entries, old outcomes and stretches of the log. May block: spawned
/// detached.
using log_reader_actor =
    tree_member_actor::extend<caf::reacts_to<load_slices>, caf::reacts_to<replay_log>,
                              caf::reacts_to<read_records>, caf::reacts_to<read_heads>,
                              caf::reacts_to<read_index>, caf::reacts_to<find_outcomes>,
                              caf::reacts_to<read_view>, caf::reacts_to<checkpoint_made>>;

/// Prepares segments ahead of use in paced steps. May block: spawned detached.
using segment_keeper_actor = tree_member_actor::extend<caf::reacts_to<tick>>;

/// Fuzzy checkpoints and derived runs. Gathers by request; writes behind the file seam.
using checkpointer_actor = tree_member_actor::extend<caf::reacts_to<make_checkpoint>>;

/// What all folds on the log understand.
using fold_actor =
    tree_member_actor::extend<caf::reacts_to<appender_registered>, caf::reacts_to<slices_loaded>,
                              caf::reacts_to<log_replayed>, caf::reacts_to<records_durable>,
                              caf::reacts_to<append_refused>,
                              caf::replies_to<take_slices>::with<slices_taken>>;

/// Every *pending* and *deciding* transaction.
using half_store_actor = fold_actor::extend<
    caf::reacts_to<append_halves>, caf::reacts_to<append_repeated>, caf::reacts_to<decide>,
    caf::reacts_to<decided>, caf::reacts_to<deadlines_due>, caf::reacts_to<checks_handled>,
    caf::reacts_to<find_transaction>, caf::reacts_to<list_transactions>,
    caf::reacts_to<reopen_transaction>, caf::reacts_to<tick>,
    caf::reacts_to<struct exhausted_judged>, caf::reacts_to<struct rearm_all>,
    caf::reacts_to<struct producer_running>, caf::reacts_to<struct outcome_known>,
    caf::reacts_to<struct ask_topic_usage>, caf::reacts_to<struct producer_group_found>,
    caf::reacts_to<struct group_presence>, caf::reacts_to<records_read>>;

/// Every *decided* transaction: the newest in memory, older ones through the log_reader.
using op_store_actor =
    fold_actor::extend<caf::reacts_to<record_decisions>, caf::reacts_to<struct judge_decisions>,
                       caf::reacts_to<struct find_outcome>, caf::reacts_to<outcomes_found>,
                       caf::reacts_to<records_read>, caf::reacts_to<list_transactions>,
                       caf::reacts_to<run_saved>,
                       caf::replies_to<take_unsaved>::with<unsaved_taken>>;

/// Deadlines of pending transactions.
using check_scheduler_actor =
    tree_member_actor::extend<caf::reacts_to<arm_deadlines>, caf::reacts_to<tick>>;

/// Messages that become visible later.
using delay_scheduler_actor =
    fold_actor::extend<caf::reacts_to<list_delayed>, caf::reacts_to<cancel_delayed>,
                       caf::reacts_to<drop_delayed>, caf::reacts_to<struct ask_topic_usage>,
                       caf::reacts_to<tick>>;

/// Live producer connections of one group and the topics each declared.
using producer_group_actor =
    tree_member_actor::extend<caf::reacts_to<struct producer_joined>,
                              caf::reacts_to<struct producer_left>, caf::reacts_to<ask_producers>,
                              caf::reacts_to<checks_handled>, caf::reacts_to<tick>>;

/// What happens when checks are exhausted. User code can replace it.
using check_listener_actor = caf::typed_actor<caf::reacts_to<struct checks_exhausted>>;

/// Sees every lifecycle event, best effort. User code.
using transaction_observer_actor = caf::typed_actor<caf::reacts_to<struct transaction_event>>;

/// Topics, groups, their attributes, automatic creation.
using topic_registry_actor = fold_actor::extend<
    caf::reacts_to<resolve_topic>, caf::reacts_to<put_topic>, caf::reacts_to<delete_topic>,
    caf::reacts_to<list_topics>, caf::reacts_to<resolve_group>, caf::reacts_to<list_groups>,
    caf::reacts_to<name_ids>, caf::reacts_to<struct topic_usage>, caf::reacts_to<put_group>,
    caf::reacts_to<delete_group>, caf::reacts_to<struct ask_group_rules>,
    caf::reacts_to<struct open_dead_letters>, caf::reacts_to<struct consumer_group_found>,
    caf::reacts_to<struct group_ended>>;

/// The index of one queue of one topic.
using queue_actor = tree_member_actor::extend<
    caf::reacts_to<appender_registered>, caf::reacts_to<slices_loaded>,
    caf::reacts_to<log_replayed>, caf::reacts_to<entries_visible>, caf::reacts_to<fetch_entries>,
    caf::reacts_to<entries_fetched>, caf::reacts_to<watch_queue>, caf::reacts_to<find_offset>,
    caf::reacts_to<run_saved>, caf::replies_to<take_slices>::with<slices_taken>,
    caf::replies_to<take_unsaved>::with<unsaved_taken>>;

/// Members, progress and leases of one consumer group.
using consumer_group_actor =
    fold_actor::extend<caf::reacts_to<fetch_messages>, caf::reacts_to<acknowledge>,
                       caf::reacts_to<entries_fetched>, caf::reacts_to<queue_grew>,
                       caf::reacts_to<struct member_left>, caf::reacts_to<struct queue_found>,
                       caf::reacts_to<offset_found>, caf::reacts_to<reset_progress>,
                       caf::reacts_to<describe_group>, caf::reacts_to<heads_read>,
                       caf::reacts_to<records_read>, caf::reacts_to<struct group_rules>,
                       caf::reacts_to<struct dead_letters_open>, caf::reacts_to<struct end_group>,
                       caf::reacts_to<tick>>;

/// One client connection. Its transport tells it about bytes; everyone else about answers.
using connection_actor = tree_member_actor::extend<
    caf::reacts_to<struct bytes_arrived>, caf::reacts_to<struct bytes_written>,
    caf::reacts_to<struct transport_closed>, caf::reacts_to<messages_stored>,
    caf::reacts_to<halves_stored>, caf::reacts_to<decided>, caf::reacts_to<ask_producers>,
    caf::reacts_to<transaction_found>, caf::reacts_to<transactions_listed>,
    caf::reacts_to<transaction_reopened>, caf::reacts_to<topic_resolved>,
    caf::reacts_to<topics_listed>, caf::reacts_to<group_resolved>, caf::reacts_to<groups_listed>,
    caf::reacts_to<ids_named>, caf::reacts_to<delayed_listed>, caf::reacts_to<delayed_cancelled>,
    caf::reacts_to<deliver>, caf::reacts_to<acknowledged>, caf::reacts_to<entries_fetched>,
    caf::reacts_to<queue_grew>, caf::reacts_to<offset_found>, caf::reacts_to<progress_reset>,
    caf::reacts_to<group_described>, caf::reacts_to<records_read>, caf::reacts_to<view_read>,
    caf::reacts_to<struct producer_group_found>, caf::reacts_to<struct consumer_group_found>,
    caf::reacts_to<struct queue_found>, caf::reacts_to<struct node_status>, caf::reacts_to<tick>>;

/// The tree: starts, restarts, counts, stops; finds groups and queues, and starts them at first
/// use.
using node_supervisor_actor = caf::typed_actor<
    caf::reacts_to<struct find_producer_group>, caf::reacts_to<struct find_consumer_group>,
    caf::reacts_to<struct find_queue>, caf::reacts_to<struct topic_present>,
    caf::reacts_to<struct group_gone>, caf::reacts_to<struct adopt_connection>,
    caf::reacts_to<struct ask_node_status>, caf::reacts_to<checkpoint_made>,
    caf::reacts_to<struct shard_failed>, caf::reacts_to<stopped>, caf::reacts_to<stop>,
    caf::reacts_to<tick>, caf::replies_to<status_request>::with<struct node_status>>;

// -- messages that carry handles, or stay inside a node ----------------------------

/// half_store -> op_store: decisions about transactions that are not pending. Answer to half_store:
/// `decided`, with the requests' own correlations.
struct judge_decisions {
  std::vector<decide_request> requests;
};

/// half_store -> op_store. Answer: `outcome_known`.
struct find_outcome {
  correlation id;
  transaction_id transaction;
};
struct outcome_known {
  correlation id;
  ec code = ec::ok; ///< unknown_transaction or transaction_expired without one
  stored_outcome outcome;
  /// Topics and queues as the producer chose them, offsets as they became visible, or when they get
  /// one; of a given-up one how long after a commit. Of a rolled-back one only what the record
  /// names that opened it.
  std::vector<index_entry> messages;
  producer_id
      producer; ///< this and the rest: what the opening record says, if it can still be read
  wall_ms stored_ms = 0;
  std::uint32_t timeout_ms = 0;
  position reopened_from;
};

/// half_store -> check_listener: all checks of this transaction are used up. Answer:
/// `exhausted_judged`.
struct checks_exhausted {
  transaction_life life;
};
struct exhausted_judged {
  transaction_id transaction;
  config::give_up_action action = config::give_up_action::roll_back;
};

/// check_scheduler -> half_store, after its own restart: send all deadlines anew.
struct rearm_all {};

/// connection -> half_store: these local transactions still run at that producer (said after a
/// reconnect), or its session ended (`transactions` empty, `online` false).
struct producer_running {
  producer_id producer;
  bool online = true;
  std::vector<transaction_id> transactions;
};

/// producer_group -> half_store: whether anyone of the group is online now.
struct group_presence {
  group_id group;
  std::uint32_t members = 0;
};

/// Lifecycle of a transaction, for observers.
struct transaction_event {
  transaction_id transaction;
  transaction_state state = transaction_state::pending;
  group_id group;
  std::uint16_t attempt = 0;
  origin by = origin::producer;
  wall_ms at_ms = 0;
};

/// connection -> producer_group.
struct producer_joined {
  producer_id producer;
  std::string name; ///< of the client, for people
  std::vector<topic_id> topics;
};
struct producer_left {};

/// connection -> consumer_group: parked fetches end, leases of this member end now.
struct member_left {};

/// Anyone -> node_supervisor. Answered at once, and again after each restart of the one found.
struct find_producer_group {
  group_id group;
};
struct producer_group_found {
  group_id group;
  producer_group_actor actor;
  incarnation life;
};
struct find_consumer_group {
  group_id group;
};
struct consumer_group_found {
  group_id group;
  consumer_group_actor actor;
  incarnation life;
};
struct find_queue {
  queue_key queue;
};
struct queue_found {
  queue_key queue;
  queue_actor actor;
  incarnation life;
};

/// topic_registry -> node_supervisor, commit_log learns of its queues from there: this topic exists
/// now, or no longer.
struct topic_present {
  topic_id topic;
  std::uint32_t queues = 0; ///< 0 = deleted
};

/// topic_registry -> half_store, before a topic or a group is deleted; the other id is 0. For a
/// topic then -> delay_scheduler: in this order, so that a message on its way from one to the other
/// is seen. Answer: `topic_usage`.
struct ask_topic_usage {
  topic_id topic;
  group_id group{};
};
/// Who answers knows its own number only.
struct topic_usage {
  topic_id topic;
  /// half_store: messages of pending transactions to the topic, or transactions of the group
  std::uint64_t pending = 0;
  group_id group{};
  std::uint64_t delayed = 0; ///< delay_scheduler: messages that wait for their time
  appender_role of = appender_role::half_store;
};

/// consumer_group -> topic_registry. Answer: `group_rules`, now and whenever they change.
struct ask_group_rules {
  group_id group;
};
struct group_rules {
  group_id group;
  std::string name;
  std::uint16_t delivery_max = 0; ///< 0 = the node's default
};

/// consumer_group -> topic_registry: the group's dead-letter topic, made if need be, and the names
/// of the topics that messages come from. Answer: `dead_letters_open`, when the topic is durable.
struct open_dead_letters {
  group_id group;
  std::vector<topic_id> origins;
};
struct dead_letters_open {
  group_id group;
  error why;
  topic_id topic;
  std::vector<std::pair<topic_id, std::string>> origins;
};

/// topic_registry -> consumer_group: it is to be deleted. Answer: `group_ended`; with ok it serves
/// nobody any more, and nothing that it appended comes behind the answer.
struct end_group {};
struct group_ended {
  group_id group;
  ec code = ec::ok; ///< or group_in_use
};

/// topic_registry -> node_supervisor: the group is deleted, its actor is to end.
struct group_gone {
  group_id group;
};

/// acceptor -> node_supervisor: watch this connection and tell it about peers.
struct adopt_connection {
  connection_actor connection;
};

/// An actor -> node_supervisor: the shard can't go on (disk failed, corruption). The node stops
/// with this text and a non-zero code.
struct shard_failed {
  error why;
};

struct ask_node_status {
  correlation id;
};
/// What `handfast status` and /metrics show.
struct node_status {
  correlation id;
  std::vector<status_report> actors;
  std::vector<std::string> not_answering;
  std::vector<std::pair<std::string, std::uint64_t>> restarts; ///< by role
};

// -- the transport seam -----------------------------------------------------------

/// What one read of a socket gave. The bytes lie in a pooled buffer that lives as long as any
/// window into it.
struct bytes_arrived {
  shared_bytes bytes;
};
/// The kernel took everything that was handed to `transport::write` up to `total` bytes since the
/// start.
struct bytes_written {
  std::uint64_t total = 0;
};
struct transport_closed {
  error why; ///< code ok for an orderly end by the peer
};

// -- the whole shard ---------------------------------------------------------------

/// A handle and the life that it belongs to.
template <class Handle>
struct peer {
  Handle actor;
  incarnation life;
};

/// The queues and groups that are bound to a log, and the entries of queues that nobody took so
/// far.
struct checkpoint_members {
  std::vector<std::pair<queue_key, queue_actor>> queues;
  std::vector<consumer_group_actor> groups;
  std::vector<std::pair<queue_key, visible_entry>> untaken; ///< by queue and offset
};

struct shard_peers {
  peer<node_supervisor_actor> supervisor;
  peer<commit_log_actor> commit_log;
  peer<log_reader_actor> log_reader;
  peer<segment_keeper_actor> segment_keeper;
  peer<checkpointer_actor> checkpointer;
  peer<op_store_actor> op_store;
  peer<half_store_actor> half_store;
  peer<check_scheduler_actor> check_scheduler;
  peer<delay_scheduler_actor> delay_scheduler;
  peer<topic_registry_actor> topic_registry;
  peer<check_listener_actor> check_listener;
  std::vector<transaction_observer_actor> observers;
};

} // namespace handfast
