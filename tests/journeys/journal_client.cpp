/// journal_client: load on a real node by the client library, writing down everything it says and
/// hears. The node may be killed at any moment; this program stays and is the witness. Commands
/// come on standard input, one a line: `note TEXT`, and `rest`, which lets everything come to its
/// end, audits the node, and ends the program.

#include "actors/client/admin.hpp"
#include "actors/client/consumer.hpp"
#include "actors/client/producer.hpp"
#include "actors/client/transaction_producer.hpp"
#include "tests/journeys/journal_file.hpp"

#include <CLI/CLI.hpp>

#include <atomic>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <thread>

namespace {

using namespace handfast;
using namespace std::chrono_literals;
using proof::event_kind;

struct arguments {
  std::string server = "127.0.0.1:7310";
  std::string journal;
  std::uint64_t seed = 1;
  unsigned producers = 4;
  unsigned consumers = 2;
};

const std::vector<std::string> topics{"kill9-orders", "kill9-stock"};
const std::string producer_group = "kill9-producers";
const std::vector<std::string> consumer_groups{"kill9-billing", "kill9-mail"};

/// How local transactions ended; stands for the application's database.
class database {
public:
  void end_local(const std::string& key, outcome how) {
    const std::lock_guard lock{mutex_};
    ended_[key] = how;
  }
  outcome find(const std::string& key) {
    const std::lock_guard lock{mutex_};
    const auto found = ended_.find(key);
    return found == ended_.end() ? outcome::pending : found->second;
  }

private:
  std::mutex mutex_;
  std::map<std::string, outcome> ended_;
};

std::string key_of(std::string_view body) {
  return std::string{body.substr(0, body.find('|'))};
}

template <class Answer>
ec code_of(const Answer& a) {
  return a.is_done() ? ec::ok : a.why().code;
}

/// What a refusal says about the recorded outcome.
outcome recorded_in(ec code) {
  switch (code) {
  case ec::conflict_committed:
    return outcome::committed;
  case ec::conflict_rolled_back:
    return outcome::rolled_back;
  case ec::conflict_given_up:
    return outcome::given_up;
  default:
    return outcome::pending;
  }
}

outcome outcome_of(transaction_state state) {
  switch (state) {
  case transaction_state::committed:
    return outcome::committed;
  case transaction_state::rolled_back:
    return outcome::rolled_back;
  case transaction_state::given_up:
    return outcome::given_up;
  default:
    return outcome::pending;
  }
}

class check_answerer final : public client::transaction_listener {
public:
  check_answerer(proof::journal_file& journal, database& data) : journal_{journal}, data_{data} {}

  client::local_state execute(const client::message&, client::transaction_context&) override {
    return client::local_state::unknown; // transactions are decided by their own threads
  }
  client::local_state check(const client::message& first,
                            const client::check_context& context) override {
    const auto key = key_of(first.body.text());
    journal_.add({.kind = event_kind::check_asked, .key = key, .tx = context.id});
    const auto known = data_.find(key);
    // A half whose answer never came has no local transaction.
    const auto wanted = known == outcome::pending ? outcome::rolled_back : known;
    journal_.add({.kind = event_kind::check_answered, .tx = context.id, .wanted = wanted});
    return wanted == outcome::committed ? client::local_state::commit
                                        : client::local_state::rollback;
  }

private:
  proof::journal_file& journal_;
  database& data_;
};

/// Everything that the threads share.
struct shop {
  arguments given;
  proof::journal_file journal;
  database data;
  std::atomic<bool> winding_up{false};
  std::atomic<bool> over{false};

  explicit shop(const arguments& a) : given{a}, journal{a.journal} {}

  [[nodiscard]] client::connection_options connection(const std::string& name) const {
    client::connection_options o;
    o.servers = {given.server};
    o.name = name;
    o.reconnect_max = 200ms;
    return o;
  }
};

class selling_thread {
public:
  selling_thread(shop& s, unsigned number)
      : shop_{s}, number_{number}, random_{s.given.seed * 1'000 + number},
        client_{s.connection("p" + std::to_string(number))}, plain_{client_},
        transactional_{client_, options(), std::make_shared<check_answerer>(s.journal, s.data)} {}

  void run() {
    while (!shop_.winding_up) {
      if (random_() % 4 == 0)
        sell_plainly();
      else
        sell();
    }
    while (!shop_.over) // stays a member of its group, to answer checks
      std::this_thread::sleep_for(20ms);
  }

private:
  static client::transaction_options options() {
    client::transaction_options o;
    o.group = producer_group;
    return o;
  }

  client::message next_message(const std::string& key) {
    std::string body = key + "|";
    body.append(random_() % 600, static_cast<char>('a' + random_() % 26));
    return {topics[random_() % topics.size()], body};
  }

  void sell_plainly() {
    const auto key = "p" + std::to_string(number_) + "-plain" + std::to_string(++sold_);
    auto m = next_message(key);
    const auto topic = m.topic;
    shop_.journal.add({.kind = event_kind::plain_sent,
                       .key = key,
                       .topic = topic,
                       .body = proof::body_hash(m.body.text())});
    const auto a = plain_.send(std::move(m));
    proof::event e{
        .kind = event_kind::plain_answered, .key = key, .code = code_of(a), .topic = topic};
    if (a) {
      e.queue = a->queue.queue.value;
      e.offset = a->offset.value;
    }
    shop_.journal.add(std::move(e));
  }

  void sell() {
    const auto name = "p" + std::to_string(number_) + "-" + std::to_string(++sold_);
    auto first = next_message(name);
    witness_half(name, {}, first);
    const auto topic = first.topic;
    const auto begun = transactional_.begin(std::move(first));
    shop_.journal.add({.kind = event_kind::half_answered,
                       .key = name,
                       .tx = begun ? begun->id : transaction_id{},
                       .code = code_of(begun)});
    if (!begun)
      return;
    auto t = begun.value();
    for (auto more = random_() % 3; more > 1; --more)
      if (!join(t, name + "." + std::to_string(more)))
        break;
    const auto die = random_() % 100;
    const auto wanted = die % 10 < 6 ? outcome::committed : outcome::rolled_back;
    shop_.data.end_local(name, wanted);
    if (die >= 90) {
      transactional_.release(t.id); // decided by the check
      return;
    }
    decide(t, wanted);
    if (die >= 85)
      decide(t, wanted == outcome::committed ? outcome::rolled_back : outcome::committed);
  }

  void witness_half(const std::string& key, transaction_id tx, const client::message& m) {
    shop_.journal.add({.kind = event_kind::half_sent,
                       .key = key,
                       .tx = tx,
                       .topic = m.topic,
                       .body = proof::body_hash(m.body.text())});
  }

  bool join(client::transaction& t, const std::string& key) {
    auto m = next_message(key);
    witness_half(key, t.id, m);
    const auto joined = transactional_.join(t, std::move(m));
    shop_.journal.add(
        {.kind = event_kind::half_answered, .key = key, .tx = t.id, .code = code_of(joined)});
    return joined.is_done();
  }

  void decide(const client::transaction& t, outcome wanted) {
    shop_.journal.add({.kind = event_kind::decision_sent, .tx = t.id, .wanted = wanted});
    const auto a =
        wanted == outcome::committed ? transactional_.commit(t) : transactional_.rollback(t);
    shop_.journal.add({.kind = event_kind::decision_answered,
                       .tx = t.id,
                       .wanted = wanted,
                       .recorded = a ? a->recorded : recorded_in(a.why().code),
                       .code = code_of(a)});
  }

  shop& shop_;
  unsigned number_;
  std::mt19937_64 random_;
  client::client client_;
  client::producer plain_;
  client::transaction_producer transactional_;
  std::uint64_t sold_ = 0;
};

/// One member of one group on one topic.
void take_messages(shop& s, const std::string& group, const std::string& topic,
                   std::atomic<unsigned>& empty_rounds) {
  client::client connection{s.connection("c-" + group)};
  client::subscription from{connection, group, topic};
  while (!s.over) {
    const auto since = s.journal.size();
    const auto got = from.fetch(32, 200ms);
    if (!got) {
      if (got.why().code == ec::unknown_topic)
        ++empty_rounds; // nobody has sent to it yet
      std::this_thread::sleep_for(50ms);
      continue;
    }
    if (got->empty()) {
      ++empty_rounds;
      continue;
    }
    empty_rounds = 0;
    std::vector<client::receipt> receipts;
    const auto place = [&](event_kind kind, const client::received_message& m) {
      return proof::event{.kind = kind,
                          .group = group,
                          .topic = topic,
                          .queue = m.delivery.queue.queue.value,
                          .offset = m.delivery.offset.value};
    };
    for (const auto& m : got.value()) {
      auto e = place(event_kind::delivered, m);
      e.key = key_of(m.content.body.text());
      e.body = proof::body_hash(m.content.body.text());
      e.tx = m.transaction;
      e.since = since;
      s.journal.add(std::move(e));
      s.journal.add(place(event_kind::ack_sent, m));
      receipts.push_back(m.delivery);
    }
    const auto acked = from.acknowledge(receipts);
    const bool all = acked.is_done() && acked->late == 0 && acked->accepted == receipts.size();
    for (const auto& m : got.value()) {
      auto e = place(event_kind::ack_answered, m);
      e.code = all ? ec::ok : acked.is_done() ? ec::outcome_unknown : acked.why().code;
      s.journal.add(std::move(e));
    }
  }
}

// -- the end -----------------------------------------------------------------------

bool wait_until(std::chrono::seconds limit, const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end)
      return false;
    std::this_thread::sleep_for(50ms);
  }
  return true;
}

bool none_pending(client::admin& node) {
  client::transaction_filter pending;
  pending.state = transaction_state::pending;
  const auto list = node.transactions(pending, 10);
  return list && list->empty();
}

void list_queues(shop& s, client::admin& node) {
  for (const auto& topic : topics) {
    const auto item = node.topic(topic);
    for (std::uint32_t queue = 0; item && queue < item->info.queues; ++queue)
      for (std::uint64_t offset = 0;;) {
        const auto page = node.peek(topic, queue_no{static_cast<std::uint16_t>(queue)},
                                    queue_offset{offset}, 100);
        if (!page || page->empty())
          break;
        for (const auto& m : page.value())
          s.journal.add({.kind = event_kind::listed,
                         .key = key_of(m.content.body.text()),
                         .tx = m.transaction,
                         .topic = topic,
                         .queue = queue,
                         .offset = m.delivery.offset.value,
                         .body = proof::body_hash(m.content.body.text())});
        offset = page->back().delivery.offset.value + 1;
      }
  }
}

void query_all(shop& s, client::admin& node) {
  std::set<transaction_id> all;
  for (const auto& e : s.journal.events())
    if (e.tx != transaction_id{})
      all.insert(e.tx);
  for (const auto& id : all) {
    const auto since = s.journal.add({.kind = event_kind::query_sent, .tx = id});
    const auto a = node.transaction(id);
    s.journal.add({.kind = event_kind::query_answered,
                   .tx = id,
                   .recorded = a ? outcome_of(a->life.state) : outcome::pending,
                   .code = code_of(a),
                   .since = since});
  }
}

int come_to_rest(shop& s, std::vector<std::unique_ptr<std::atomic<unsigned>>>& empty_rounds) {
  s.winding_up = true;
  client::client connection{s.connection("auditor")};
  client::admin node{connection};
  s.journal.add({.kind = event_kind::calm});
  if (!wait_until(60s, [&] { return none_pending(node); })) {
    std::cerr << "journal_client: transactions stay undecided\n";
    return 1;
  }
  for (auto& rounds : empty_rounds)
    *rounds = 0;
  if (!wait_until(60s, [&] {
        return std::all_of(empty_rounds.begin(), empty_rounds.end(),
                           [](const auto& r) { return *r >= 3; });
      })) {
    std::cerr << "journal_client: consumers do not come to an end\n";
    return 1;
  }
  query_all(s, node);
  list_queues(s, node);
  s.journal.add({.kind = event_kind::drained});
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"Puts load on a node and writes down everything it says and hears"};
  arguments given;
  app.add_option("--server", given.server)->capture_default_str();
  app.add_option("--journal", given.journal, "where to write")->required();
  app.add_option("--seed", given.seed)->capture_default_str();
  app.add_option("--producers", given.producers, "threads")->capture_default_str();
  app.add_option("--consumers", given.consumers, "members of each group on each topic")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  shop s{given};
  for (const auto& group : consumer_groups)
    for (const auto& topic : topics)
      s.journal.add({.kind = event_kind::subscribed, .group = group, .topic = topic});
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<std::atomic<unsigned>>> empty_rounds;
  for (unsigned i = 0; i < given.producers; ++i)
    threads.emplace_back([&s, i] { selling_thread{s, i}.run(); });
  for (unsigned i = 0; i < given.consumers; ++i)
    for (const auto& group : consumer_groups)
      for (const auto& topic : topics) {
        empty_rounds.push_back(std::make_unique<std::atomic<unsigned>>(0));
        threads.emplace_back([&s, group, topic, &rounds = *empty_rounds.back()] {
          take_messages(s, group, topic, rounds);
        });
      }

  int status = 1;
  for (std::string line; std::getline(std::cin, line);) {
    if (line.starts_with("note "))
      s.journal.add({.kind = event_kind::note, .text = line.substr(5)});
    if (line == "rest") {
      status = come_to_rest(s, empty_rounds);
      break;
    }
  }
  s.winding_up = true;
  s.over = true;
  for (auto& t : threads)
    t.join();
  s.journal.sync();
  return status;
}
