#pragma once

/// The transaction actors, real, over a log and a log_reader that are stand-ins: records become
/// durable when a test says so (or at once), and everything durable can be replayed.

#include "actors/check_listener.hpp"
#include "actors/check_scheduler.hpp"
#include "actors/half_store.hpp"
#include "actors/op_store.hpp"
#include "actors/producer_group.hpp"
#include "tests/support/actor_fixture.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <gmock/gmock.h>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace handfast::test {

using namespace std::chrono_literals;

constexpr topic_id orders{16};
constexpr topic_id payments{17};
constexpr group_id shop{7};
constexpr group_id bank{8};

/// How a member of a producer group behaves.
enum class habit { silent, refuses, receives, unknown, commits, rolls_back, in_progress };

struct half_options {
  topic_id topic = orders;
  group_id group = shop;
  queue_no queue{1};
  std::uint32_t timeout_ms = 0;
  producer_id producer{};
  bool local_transaction = false;
  transaction_id joins{};
  std::uint64_t delay_ms = 0;
};

class transaction_fixture : public actor_fixture {
public:
  using client = std::shared_ptr<probe>;

  /// A producer's connection that answers checks by habit.
  struct member {
    client connection;
    habit answers = habit::receives;
    std::vector<check_order> asks;
  };

  transaction_fixture() {
    spdlog::set_level(spdlog::level::off);
    environment.ids = transaction_ids{4711};
    settings.transaction.checks.timeout = 6s;
    settings.transaction.checks.check_interval = 30s;
    log->on<append_records>([this](const append_records& x) { on_append(x); });
    log->on<register_appender>([this](const register_appender& x) { on_register(x); });
    reader->on<load_slices>([this](const load_slices& x) {
      send_as(reader, caf::actor_cast<half_store_actor>(reader->sender()),
              slices_loaded{x.id, ec::ok, position{8}, {}});
    });
    reader->on<replay_log>([this](const replay_log& x) { on_replay(x); });
    reader->on<find_outcomes>([this](const find_outcomes& x) { on_find_outcomes(x); });
    reader->on<read_records>([this](const read_records& x) { on_read_records(x); });
    supervisor->on<find_producer_group>([this](const find_producer_group& x) {
      send(half(), producer_group_found{x.group, group(x.group), incarnation{1}});
    });
    declare_topic(orders);
    declare_topic(payments);
  }

  // -- the cast

  /// A whole life in a few seconds.
  void quick(std::uint32_t check_max = 3) {
    settings.transaction.checks.timeout = 2s;
    settings.transaction.checks.check_interval = 1s;
    settings.transaction.checks.check_max = check_max;
  }

  void start() {
    peers.supervisor = {supervisor->as<node_supervisor_actor>(), incarnation{1}};
    peers.commit_log = {log->as<commit_log_actor>(), incarnation{1}};
    peers.log_reader = {reader->as<log_reader_actor>(), incarnation{1}};
    peers.check_listener = {listener ? listener->as<check_listener_actor>()
                                     : spawn_listener(settings.transaction.give_up),
                            incarnation{1}};
    peers.check_scheduler = {spawn(check_scheduler, env(), false), next_life()};
    spawn_op_store(true);
    spawn_half_store(true);
    announce();
  }

  half_store_actor half() const { return peers.half_store.actor; }
  op_store_actor op() const { return peers.op_store.actor; }

  check_listener_actor spawn_listener(config::give_up_action action) {
    auto made = system.spawn(check_listener, action, give_up_choice{});
    others_.push_back(made);
    return made;
  }

  producer_group_actor group(group_id id) {
    auto found = groups_.find(id.value);
    if (found == groups_.end()) {
      found = groups_.emplace(id.value, spawn(producer_group, env(), id)).first;
      send(found->second, peers_changed{std::make_shared<shard_peers>(peers)});
    }
    return found->second;
  }

  void announce() {
    auto shared = std::make_shared<const shard_peers>(peers);
    send(op(), peers_changed{shared});
    send(half(), peers_changed{shared});
    send(peers.check_scheduler.actor, peers_changed{shared});
    for (auto& [_, g] : groups_)
      send(g, peers_changed{shared});
    run();
  }

  void restart_half_store() {
    kill(half());
    spawn_half_store(false);
    announce();
  }
  void restart_op_store() {
    kill(op());
    spawn_op_store(false);
    announce();
  }
  void restart_scheduler() {
    kill(peers.check_scheduler.actor);
    peers.check_scheduler = {spawn(check_scheduler, env(), true), next_life()};
    announce();
  }
  /// All of the node's transaction actors begin again from the log, as after a crash of the
  /// process.
  void restart_node() {
    unsynced.clear();
    tail = durable_end;
    kill(half());
    kill(op());
    kill(peers.check_scheduler.actor);
    for (auto& [_, g] : groups_)
      kill(g);
    groups_.clear();
    peers.check_scheduler = {spawn(check_scheduler, env(), false), next_life()};
    spawn_op_store(false);
    spawn_half_store(false);
    announce();
  }

  // -- the log

  /// Makes everything appended so far durable and dispatches it.
  void sync() {
    if (unsynced.empty())
      return;
    auto batch = std::make_shared<record_batch>();
    batch->from = durable_end;
    batch->to = tail;
    batch->records = std::exchange(unsynced, {});
    durable_end = tail;
    for (auto r : batch->records) {
      r.cookie = 0;
      history.push_back(std::move(r));
    }
    send_as(log, op(), records_durable{batch});
    send_as(log, half(), records_durable{batch});
  }
  void sync_and_run() {
    sync();
    run();
  }

  void declare_topic(topic_id topic, attributes options = {}) {
    log_record r;
    r.type = record_type::meta;
    r.content = meta_record{meta_change::topic_put, topic.value,
                            topic == orders ? "orders" : "payments", 4, options};
    append(r);
    // Known from the start, as recovery would have it.
    first_fold.apply(unsynced.back());
    history.push_back(std::exchange(unsynced, {}).back());
    durable_end = tail;
  }

  std::vector<decide_record> decide_records() const {
    std::vector<decide_record> found;
    for (const auto& r : history)
      if (r.type == record_type::decide)
        found.push_back(std::get<decide_record>(r.content));
    return found;
  }
  /// Index entries that commits made, in log order.
  std::vector<index_entry> entries(topic_id topic = orders) const {
    std::vector<index_entry> found;
    for (const auto& d : decide_records())
      for (const auto& e : d.entries)
        if (e.topic == topic)
          found.push_back(e);
    return found;
  }
  /// The body of the next record will have been found damaged.
  void quarantine_next() { first_fold.mark_damaged(tail, {}); }
  std::size_t count_of(record_type type) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(history, [&](const auto& r) { return r.type == type; }));
  }

  // -- clients

  half_request half_request_of(const half_options& o, std::uint64_t correlation_value = 1) {
    half_request r;
    r.id = correlation{correlation_value};
    r.joined = o.joins;
    r.message.topic = o.topic;
    r.message.group = o.group;
    r.message.queue = o.queue;
    r.message.timeout_ms = o.timeout_ms;
    r.message.producer = o.producer;
    r.message.delay_ms = o.delay_ms;
    if (o.local_transaction)
      r.message.flags = message_flags::local_transaction;
    return r;
  }
  void send_half(const client& from, const half_options& o = {}, std::uint64_t id = 1) {
    append_halves x;
    x.requests.push_back(half_request_of(o, id));
    send_as(from, half(), std::move(x));
  }
  half_stored store_half(const half_options& o = {}) {
    auto from = make_probe();
    send_half(from, o);
    run();
    const auto answers = from->take<halves_stored>();
    if (answers.size() != 1 || answers[0].results.size() != 1) {
      ADD_FAILURE() << "half not answered";
      return {};
    }
    return answers[0].results[0];
  }
  transaction_id open(const half_options& o = {}) {
    const auto stored = store_half(o);
    EXPECT_EQ(stored.code, ec::ok) << name_of(stored.code);
    return stored.transaction;
  }
  std::vector<transaction_id> open_many(std::size_t count, const half_options& o = {}) {
    auto from = make_probe();
    append_halves x;
    for (std::size_t i = 0; i < count; ++i)
      x.requests.push_back(half_request_of(o, i));
    send_as(from, half(), std::move(x));
    run();
    std::vector<transaction_id> ids;
    for (const auto& answer : from->take<halves_stored>())
      for (const auto& r : answer.results)
        ids.push_back(r.transaction);
    EXPECT_EQ(ids.size(), count);
    return ids;
  }

  decide_request decision_of(transaction_id id, outcome wanted, group_id g = shop) {
    decide_request r;
    r.id = correlation{id.opened_at.value};
    r.transaction = id;
    r.wanted = wanted;
    r.group = g;
    return r;
  }
  void send_decision(const client& from, const decide_request& r) {
    send_as(from, half(), decide{{r}});
  }
  decision_result answer_to(const client& from) {
    run();
    const auto answers = from->take<decided>();
    if (answers.size() != 1 || answers[0].results.size() != 1) {
      ADD_FAILURE() << "decision not answered once but " << answers.size() << " times";
      return {};
    }
    return answers[0].results[0];
  }
  decision_result decide_now(const decide_request& r) {
    auto from = make_probe();
    send_decision(from, r);
    return answer_to(from);
  }
  decision_result commit(transaction_id id, std::uint16_t messages = 0) {
    auto r = decision_of(id, outcome::committed);
    r.messages = messages;
    return decide_now(r);
  }
  decision_result roll_back(transaction_id id) {
    return decide_now(decision_of(id, outcome::rolled_back));
  }

  transaction_found show(transaction_id id) {
    auto from = make_probe();
    send_as(from, half(), find_transaction{{}, id});
    run();
    return from->take_last<transaction_found>();
  }
  transactions_listed list(list_transactions x = {}) {
    auto from = make_probe();
    send_as(from, half(), x);
    advance(20ms);
    return from->take_last<transactions_listed>();
  }
  transaction_reopened reopen(transaction_id id) {
    auto from = make_probe();
    send_as(from, half(), reopen_transaction{{}, id});
    run();
    return from->take_last<transaction_reopened>();
  }
  std::size_t pending() const { return half_state().fold().pending.size(); }
  half_store_state& half_state() const { return state_of<half_store_state>(half()); }

  // -- members of groups

  std::shared_ptr<member> join(habit answers, group_id g = shop, producer_id producer = {},
                               std::vector<topic_id> topics = {}) {
    auto m = std::make_shared<member>();
    m->connection = make_probe();
    m->answers = answers;
    m->connection->on<ask_producers>([this, raw = m.get(), g](const ask_producers& x) {
      for (const auto& order : x.orders) {
        raw->asks.push_back(order);
        act(*raw, order, g);
      }
    });
    members_.push_back(m);
    send_as(
        m->connection, group(g),
        producer_joined{producer, "member-" + std::to_string(members_.size()), std::move(topics)});
    run();
    return m;
  }
  void leave(const std::shared_ptr<member>& m, group_id g = shop) {
    send_as(m->connection, group(g), producer_left{});
    run();
  }

  std::shared_ptr<probe> log = make_probe();
  std::shared_ptr<probe> reader = make_probe();
  std::shared_ptr<probe> supervisor = make_probe();
  std::shared_ptr<probe> listener; ///< set before `start` to judge by hand
  shard_peers peers;
  bool auto_sync = true;
  /// Appends are refused with this code instead.
  ec refuse = ec::ok;

  std::vector<log_record> unsynced;
  std::vector<log_record> history;
  position tail{8};
  position durable_end{8};
  std::vector<stored_outcome> run_outcomes; ///< what derived runs hold
  half_fold first_fold;
  std::set<position> damaged; ///< records that can't be read
  bool reader_answers = true; ///< about records

  const shard_environment* env() const { return &environment; }
  incarnation next_life() { return incarnation{++last_life_}; }

  ~transaction_fixture() override {
    for (auto& o : others_)
      caf::anon_send_exit(o, caf::exit_reason::user_shutdown);
    others_.clear();
    groups_.clear();
    peers = {};
  }

  void append(log_record r) {
    r.at = tail;
    r.length = 256;
    r.time_ms = time.wall();
    tail = tail + 256;
    if (r.type == record_type::half)
      std::get<message_record>(r.content).offset = queue_offset{half_offset_++};
    if (r.type == record_type::decide)
      for (auto& e : std::get<decide_record>(r.content).entries) {
        if (e.is_delayed())
          e.due_ms += r.time_ms;
        else
          e.offset = queue_offset{offsets_[{e.topic, e.queue}]++};
      }
    unsynced.push_back(std::move(r));
  }

  std::size_t appends = 0; ///< messages to the log with records

private:
  void spawn_op_store(bool whole) {
    const auto life = next_life();
    peers.op_store = {
        spawn(op_store, env(),
              fold_start<outcome_table>{{}, whole, whole ? durable_end : position{}, life}),
        life};
  }
  void spawn_half_store(bool whole) {
    const auto life = next_life();
    fold_start<half_fold> from{{}, whole, whole ? durable_end : position{}, life};
    if (whole)
      from.fold = std::move(first_fold);
    peers.half_store = {spawn(half_store, env(), std::move(from)), life};
  }

  void on_append(const append_records& x) {
    ++appends;
    if (x.who.life < registered_[x.who.role])
      return;
    if (refuse != ec::ok) {
      append_refused refused;
      for (const auto& r : x.records)
        refused.cookies.push_back(r.cookie);
      refused.why.code = refuse;
      if (x.who.role == appender_role::half_store)
        send_as(log, half(), refused);
      else
        send_as(log, op(), refused);
      return;
    }
    for (const auto& r : x.records)
      append(r);
    if (auto_sync)
      idle.at_next_idle([this] { sync(); });
  }
  void on_register(const register_appender& x) {
    registered_[x.who.role] = x.who.life;
    const appender_registered answer{durable_end, tail, {}};
    if (x.who.role == appender_role::half_store)
      send_as(log, half(), answer);
    else
      send_as(log, op(), answer);
  }
  void on_replay(const replay_log& x) {
    auto batch = std::make_shared<record_batch>();
    batch->replay = true;
    batch->from = x.from;
    batch->to = x.to;
    for (const auto& r : history)
      if (r.at >= x.from && r.at < x.to)
        batch->records.push_back(r);
    send_as(reader, caf::actor_cast<half_store_actor>(reader->sender()),
            log_replayed{x.id, ec::ok, x.to, batch, {}});
  }
  void on_find_outcomes(const find_outcomes& x) {
    outcomes_found answer{x.id, ec::ok, {}};
    for (const auto t : x.transactions) {
      const auto found = std::ranges::find(run_outcomes, t, &stored_outcome::transaction);
      stored_outcome missing;
      missing.transaction = t;
      answer.outcomes.push_back(found == run_outcomes.end() ? missing : *found);
    }
    send_as(reader, op(), answer);
  }
  void on_read_records(const read_records& x) {
    if (!reader_answers)
      return;
    records_read answer{x.id, {}};
    for (const auto& place : x.places) {
      const auto found = std::ranges::find(history, place.at, &log_record::at);
      if (damaged.contains(place.at))
        answer.records.push_back({ec::corrupt, {}});
      else if (found == history.end())
        answer.records.push_back({ec::position_not_found, {}});
      else
        answer.records.push_back({ec::ok, *found});
    }
    send_as(reader, caf::actor_cast<op_store_actor>(reader->sender()), answer);
  }

  void act(member& m, const check_order& order, group_id g) {
    if (m.answers == habit::silent)
      return;
    check_result result;
    result.transaction = order.transaction;
    result.handed_over = m.answers != habit::refuses;
    send_as(m.connection, group(g), checks_handled{{result}});
    auto answer = decision_of(order.transaction, outcome::pending, g);
    answer.by = origin::check;
    switch (m.answers) {
    case habit::unknown:
      break;
    case habit::commits:
      answer.wanted = outcome::committed;
      break;
    case habit::rolls_back:
      answer.wanted = outcome::rolled_back;
      break;
    case habit::in_progress:
      answer.in_progress = true;
      break;
    default:
      return;
    }
    send_as(m.connection, half(), decide{{answer}});
  }

  std::uint64_t last_life_ = 0;
  std::uint64_t half_offset_ = 0;
  std::map<queue_key, std::uint64_t> offsets_;
  std::map<appender_role, incarnation> registered_;
  std::map<std::uint32_t, producer_group_actor> groups_;
  std::vector<std::shared_ptr<member>> members_;
  std::vector<check_listener_actor> others_;
};

} // namespace handfast::test
