/// OP STORE or HALF STORE ends while a decision is on its way to the disk, and the opposite
/// decision follows before it gets there: one of them wins for ever, and both are told so.

#include "tests/sim/sim_node.hpp"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <random>

namespace handfast::sim {
namespace {

using namespace std::chrono_literals;

/// A producer that does what the test says, and repeats what was not answered for good.
class hand final : public sim_client {
public:
  hand(sim_timeline& time, sim_door& door, std::string name)
      : sim_client{time, door, std::move(name)} {}

  [[nodiscard]] bool ready() const {
    return connected() && group_ != group_id{} && topic_ != topic_id{};
  }
  void open() {
    native::send_half frame;
    native::send_item item;
    item.id = expect(next_id());
    item.topic = topic_;
    item.group = group_;
    item.payload = shared_bytes::copy_of(std::string_view{"body"});
    frame.items.push_back(std::move(item));
    send(frame);
  }
  void decide(transaction_id what, outcome wanted) {
    if (!connected())
      return;
    native::decide frame;
    native::decide_item item;
    item.id = expect(next_id());
    item.transaction = what;
    item.group = group_;
    item.wanted = wanted;
    frame.items.push_back(item);
    wanted_ = {what, wanted};
    send(frame);
  }
  void query(transaction_id what) {
    if (!connected())
      return;
    found = transaction_state::pending;
    native::query_transaction frame;
    frame.id = expect(next_id());
    frame.transaction = what;
    send(frame);
  }

  transaction_id opened;
  std::optional<native::decided_item> decided; ///< the last word
  transaction_state found = transaction_state::pending;

protected:
  void on_welcome() override {
    native::join_producer_group join;
    join.id = expect(next_id());
    join.group = "producers";
    join.session = 1;
    send(join);
    native::resolve_topic resolve;
    resolve.id = expect(next_id());
    resolve.name = "orders";
    send(resolve);
  }
  void on_lost() override {}
  void on_frame(const native::frame& from) override {
    native::group_joined joined;
    native::topic_resolved topic;
    native::half_stored stored;
    native::decided answers;
    native::transactions known;
    native::refused refused;
    if (read(from, joined)) {
      answered(joined.id);
      group_ = joined.group;
    } else if (read(from, topic)) {
      answered(topic.id);
      topic_ = topic.topic;
    } else if (read(from, stored)) {
      for (const auto& item : stored.items) {
        answered(item.id);
        opened = item.transaction;
      }
    } else if (read(from, answers)) {
      for (const auto& item : answers.items) {
        answered(item.id);
        if (is_retriable(item.code) || verdict_of(item.code) == verdict::unknown)
          again();
        else
          decided = item;
      }
    } else if (read(from, known)) {
      answered(known.id);
      ASSERT_EQ(known.items.size(), 1U);
      found = known.items.front().life.state;
    } else if (read(from, refused)) {
      answered(refused.id);
      again();
    }
  }

private:
  void again() {
    later(50ms, [this] {
      if (!decided && wanted_.first != transaction_id{})
        decide(wanted_.first, wanted_.second);
    });
  }

  group_id group_;
  topic_id topic_;
  std::pair<transaction_id, outcome> wanted_;
};

/// One node, two producers of one group, and a disk that can be held.
class table final : public sim_door {
public:
  explicit table(std::uint64_t seed)
      : time{seed}, plan{small_plan()}, node{time, disk, plan, mutant::none} {
    spdlog::set_level(spdlog::level::off);
    EXPECT_TRUE(node.start().has_value());
    a.start();
    b.start();
    until([this] { return a.ready() && b.ready(); });
    a.open();
    until([this] { return a.opened != transaction_id{}; });
  }

  std::shared_ptr<sim_link> connect(link_client& client, const std::string& name) override {
    return node.connect(client, name);
  }

  void step() {
    const bool job = node.has_job();
    if (node.has_disk_step() && time.random.chance(200))
      node.disk_step();
    else if (time.has_due() && (!job || time.random.chance(300)))
      time.run_one_due();
    else if (job)
      node.run_job();
    else if (node.has_idle())
      node.idle();
    else
      pass_time();
  }
  /// Steps until `done`, for half a minute of virtual time.
  template <class Done>
  void until(Done done) {
    const auto end = time.now() + 30s;
    while (!done() && time.now() < end)
      step();
    EXPECT_TRUE(done());
  }
  void power_cut() {
    node.die();
    std::mt19937_64 random{time.random.next()};
    disk.power_cut(random);
    EXPECT_TRUE(node.start().has_value());
    until([this] { return a.ready() && b.ready(); });
  }
  transaction_state state_told_to(hand& who) {
    // Refused while recovering: asked again.
    until([&] {
      if (who.finished() && who.found == transaction_state::pending)
        who.query(a.opened);
      return who.found != transaction_state::pending;
    });
    return std::exchange(who.found, transaction_state::pending);
  }

  sim_timeline time;
  testing::sim_disk disk;
  sim_plan plan;
  sim_node node;
  hand a{time, *this, "a"};
  hand b{time, *this, "b"};

private:
  static sim_plan small_plan() {
    sim_plan p;
    p.settings.store.dir = "/data";
    p.settings.store.segment_size = 64 * limits::kib;
    return p;
  }
  void pass_time() {
    auto to = std::min(time.next_due(), node.next_timer());
    time.advance_to(std::min(to, time.now() + 20ms));
    node.follow_time();
  }
};

class UndurableDecision : public ::testing::TestWithParam<const char*> {};

TEST_P(UndurableDecision, AndItsOppositeAfterAKillHaveOneOutcome) {
  std::size_t appended = 0;
  for (std::uint64_t steps = 1; steps <= 50; ++steps) {
    SCOPED_TRACE(std::string{GetParam()} + " killed after " + std::to_string(steps) + " steps");
    table t{steps};
    t.node.hold_log_writes(true);
    t.a.decide(t.a.opened, outcome::committed);
    for (std::uint64_t i = 0; i < steps; ++i)
      t.step();
    const bool on_its_way = t.node.log_writes_open() != 0;
    appended += on_its_way ? 1 : 0;
    ASSERT_EQ(t.node.kill_role(GetParam()), 1U);
    t.b.decide(t.a.opened, outcome::rolled_back);
    for (auto i = t.time.random.below(60); i > 0; --i)
      t.step();
    t.node.hold_log_writes(false);
    t.until([&] { return t.a.decided && t.b.decided; });

    const bool first_won = t.a.decided->code == ec::ok;
    if (on_its_way) {
      ASSERT_TRUE(first_won) << "it was appended, and then forgotten";
    }
    EXPECT_EQ(t.a.decided->code, first_won ? ec::ok : ec::conflict_rolled_back);
    EXPECT_EQ(t.b.decided->code, first_won ? ec::conflict_committed : ec::ok);
    const auto state = first_won ? transaction_state::committed : transaction_state::rolled_back;
    EXPECT_EQ(t.state_told_to(t.b), state);
    t.power_cut();
    EXPECT_EQ(t.state_told_to(t.a), state);
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(appended, 10U) << "few decisions were appended when the actor was killed";
}

INSTANTIATE_TEST_SUITE_P(Roles, UndurableDecision, ::testing::Values("op_store", "half_store"),
                         [](const auto& one) { return std::string{one.param}; });

} // namespace
} // namespace handfast::sim
