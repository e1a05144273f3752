#pragma once

/// A group over real queues; log, reader, registry and supervisor are played here.

#include "actors/consumer_group.hpp"
#include "actors/queue.hpp"
#include "messages/names.hpp"
#include "messages/properties.hpp"
#include "tests/support/actor_fixture.hpp"

#include <map>

namespace handfast {

constexpr group_id billing{7};
constexpr topic_id orders{16};
constexpr topic_id billing_dead{30};

constexpr queue_key queue_of(std::uint16_t n) {
  return {orders, queue_no{n}};
}

/// Records that need no disk.
struct cached_records final : record_source {
  std::optional<log_record> try_read(position at, std::uint32_t) override {
    const auto found = cached.find(at.value);
    return found == cached.end() ? std::nullopt : std::optional{found->second};
  }
  std::map<std::uint64_t, log_record> cached;
};

class consumer_group_fixture : public test::actor_fixture {
protected:
  consumer_group_fixture() {
    environment.records = &records;
    settings.consumer.retry_backoff_min = std::chrono::milliseconds{0};
    settings.consumer.retry_backoff_max = std::chrono::milliseconds{0};
    supervisor->on<find_queue>([this](const find_queue& x) {
      const auto found = queues.find(x.queue);
      answer_queue(x.queue, found == queues.end() ? queue_actor{} : found->second);
    });
    registry->on<ask_group_rules>([this](const ask_group_rules& x) {
      send(group, group_rules{x.group, "billing", delivery_max});
    });
    registry->on<open_dead_letters>([this](const open_dead_letters& x) {
      dead_letters_open answer{x.group, {box_code, {}}, billing_dead, {}};
      for (const auto origin : x.origins)
        answer.origins.emplace_back(origin, "topic-" + std::to_string(origin.value));
      send(group, answer);
    });
    add_queue(0);
    add_queue(1);
    group = start();
  }

  void add_queue(std::uint16_t n) {
    auto made = spawn(queue, &environment, queue_start{queue_index{queue_of(n)}, true});
    send(made, peers_changed{peers()});
    send(made, appender_registered{});
    queues[queue_of(n)] = made;
    run();
  }

  std::shared_ptr<shard_peers> peers() {
    auto all = std::make_shared<shard_peers>();
    all->supervisor = {supervisor->as<node_supervisor_actor>(), incarnation{1}};
    all->commit_log = {log->as<commit_log_actor>(), incarnation{1}};
    all->log_reader = {reader->as<log_reader_actor>(), reader_life};
    all->topic_registry = {registry->as<topic_registry_actor>(), registry_life};
    return all;
  }

  consumer_group_actor start(progress_table from = progress_table{billing}, bool whole = true) {
    group = spawn(consumer_group, &environment,
                  fold_start<progress_table>{std::move(from), whole, {}, incarnation{++life}});
    send(group, peers_changed{peers()});
    run();
    return group;
  }

  void answer_queue(queue_key key, const queue_actor& actor) {
    send(group, queue_found{key, actor, incarnation{queue_life}});
  }

  static position place_of(std::uint64_t offset) { return position{4096 + offset * 100}; }

  /// `count` more messages become visible in queue `n`, in the cache too.
  void publish(std::uint16_t n, std::uint64_t count = 1, const std::string& tag = {},
               const std::string& key = {}, const std::string& properties = {}) {
    auto& end = ends[n];
    entries_visible shown{queue_of(n), position{9'000}, {}};
    for (; count > 0; --count, ++end) {
      const auto hash = tag.empty() ? 0 : tag_hash(tag);
      const auto place = position{place_of(end).value + n * 1'000'000U};
      shown.entries.push_back({place, 100, hash, queue_offset{end}, 1'000 + end});
      message_record m;
      m.topic = orders;
      m.queue = queue_no{n};
      m.flags = key.empty() ? 0 : message_flags::has_order_key;
      m.order_hash = tag_hash(key);
      m.tag_hash = hash;
      const auto all = properties + (tag.empty() ? "" : "TAGS\x01" + tag + "\x02");
      m.properties_size = static_cast<std::uint32_t>(all.size());
      m.payload = shared_bytes::copy_of(all + "body " + std::to_string(end));
      log_record record;
      record.type = record_type::message;
      record.at = place;
      record.length = 100;
      record.content = m;
      stored[place.value] = record;
      if (cache_all)
        records.cached[place.value] = record;
    }
    send(queues[queue_of(n)], shown);
    run();
  }

  void fetch(const std::shared_ptr<test::probe>& from, std::uint32_t max = 32,
             std::uint32_t wait_ms = 0, start_point begin = {}) {
    send_as(from, group,
            fetch_messages{correlation{1},
                           orders,
                           static_cast<std::uint32_t>(queues.size()),
                           max,
                           bytes_max,
                           wait_ms,
                           begin,
                           terms,
                           {}});
    run();
  }

  std::vector<delivery> fetched(const std::shared_ptr<test::probe>& by, std::uint32_t max = 32) {
    fetch(by, max);
    return by->take_last<deliver>().deliveries;
  }

  void say(const std::shared_ptr<test::probe>& by, const std::vector<delivery>& what, handling how,
           std::uint32_t retry_ms = 0) {
    acknowledge order{correlation{2}, {}};
    for (const auto& d : what)
      order.items.push_back({d.queue, d.entry.offset, d.lease, how, {}, retry_ms});
    send_as(by, group, order);
    run();
  }

  void finish(const std::shared_ptr<test::probe>& by, const std::vector<delivery>& what,
              bool done = true) {
    say(by, what, done ? handling::done : handling::failed);
  }

  /// Everything appended so far becomes durable; returns the progress records, and keeps the dead
  /// letters.
  std::vector<progress_record> make_durable() {
    std::vector<progress_record> written;
    auto batch = std::make_shared<record_batch>();
    batch->from = position{log_end};
    for (auto& order : log->take<append_records>())
      for (auto& record : order.records) {
        if (lose_letters && record.type == record_type::dead_letter)
          break;
        record.at = position{log_end};
        record.length = 100;
        log_end += 100;
        if (const auto* letter = std::get_if<dead_letter_record>(&record.content))
          letters.push_back(*letter);
        else
          written.push_back(std::get<progress_record>(record.content));
        batch->records.push_back(record);
        history.push_back(record);
      }
    batch->to = position{log_end};
    send(group, records_durable{batch});
    run();
    return written;
  }

  /// Until nothing more is appended.
  void settle() {
    while (log->count<append_records>() > 0)
      make_durable();
  }

  /// One delivery that fails, and its count becomes durable.
  void fail_once(const std::shared_ptr<test::probe>& by) {
    finish(by, fetched(by), false);
    settle();
  }

  /// A group actor that takes over after the death of this one, from the log alone.
  void restart() {
    kill(group);
    log->forget_all();
    group = start(progress_table{billing}, false);
    send(group, appender_registered{position{log_end}, position{log_end}, {}});
    run();
    send(group, slices_loaded{reader->take_last<load_slices>().id, ec::ok, position{4096}, {}});
    run();
    auto batch = std::make_shared<record_batch>();
    batch->replay = true;
    batch->records = history;
    send(group,
         log_replayed{reader->take_last<replay_log>().id, ec::ok, position{log_end}, batch, {}});
    run();
  }

  group_described described() {
    send_as(bob, group, describe_group{correlation{9}});
    run();
    return bob->take_last<group_described>();
  }

  cached_records records;
  std::map<std::uint64_t, log_record> stored;
  bool cache_all = true;
  bool lose_letters = false; ///< dead letters do not become durable
  std::shared_ptr<test::probe> supervisor = make_probe();
  std::shared_ptr<test::probe> log = make_probe();
  std::shared_ptr<test::probe> reader = make_probe();
  std::shared_ptr<test::probe> registry = make_probe();
  std::shared_ptr<test::probe> alice = make_probe();
  std::shared_ptr<test::probe> bob = make_probe();
  std::map<queue_key, queue_actor> queues;
  std::map<std::uint16_t, std::uint64_t> ends;
  std::vector<dead_letter_record> letters;
  std::vector<log_record> history;
  std::uint64_t life = 0;
  std::uint64_t queue_life = 1;
  incarnation reader_life{1};
  incarnation registry_life{1};
  std::uint64_t log_end = 4096;
  std::uint32_t bytes_max = 0;
  std::uint16_t delivery_max = 0;
  ec box_code = ec::ok;
  subscription_terms terms;
  consumer_group_actor group;
};

} // namespace handfast
