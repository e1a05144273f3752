// Members that stall, fail, leave, acknowledge late and twice, over a group that crashes: whatever
// happens, the promises hold. Everything follows from the seed.
#include "tests/unit/actors/consumer_group_fixture.hpp"

#include <random>
#include <set>

namespace handfast {
namespace {

using namespace std::chrono_literals;
using place = std::pair<std::uint16_t, std::uint64_t>;

class GroupStorm : public consumer_group_fixture, public ::testing::WithParamInterface<unsigned> {
protected:
  static constexpr std::uint64_t keys = 6;

  struct held {
    delivery what;
    clock::time_point until; ///< of its lease
    bool open = true;        ///< nothing was said of it, and it is not known to have ended
  };
  struct client {
    std::shared_ptr<test::probe> as;
    std::vector<held> holds;
  };
  struct asked {
    std::vector<place> done;
  };

  GroupStorm() {
    delivery_max = 3;
    restart();
    for (int n = 0; n < 3; ++n)
      clients.push_back({make_probe(), {}});
  }

  std::uint64_t below(std::uint64_t n) { return random() % n; }

  void publish_some() {
    const auto n = static_cast<std::uint16_t>(below(2));
    const auto key = below(keys);
    const place at{n, ends[n]};
    key_of[at] = key;
    if (below(20) == 0)
      poison.insert(at);
    publish(n, 1, {}, key == 0 ? std::string{} : "key" + std::to_string(key));
  }

  void ask_for_some(client& c) {
    fetch(c.as, static_cast<std::uint32_t>(1 + below(8)),
          static_cast<std::uint32_t>(below(2) * below(1'000)));
  }

  /// What came in the meantime.
  void look() {
    for (auto& c : clients)
      for (const auto& answer : c.as->take<acknowledged>())
        if (const auto found = questions.extract(answer.id.value);
            found && answer.code == ec::ok && answer.late == 0)
          settled.insert(found.mapped().done.begin(), found.mapped().done.end());
    for (auto& c : clients)
      for (const auto& answer : c.as->take<deliver>())
        for (const auto& d : answer.deliveries) {
          check(d);
          c.holds.push_back({d, time.now() + settings.consumer.lease});
        }
  }

  void check(const delivery& d) {
    const place at{d.queue.queue.value, d.entry.offset.value};
    ++delivered;
    EXPECT_FALSE(settled.contains(at)) << "delivered again after its acknowledgement was answered";
    EXPECT_FALSE(buried.contains(at)) << "delivered again after it became a dead letter";
    EXPECT_LE(d.attempts, delivery_max);
    if (terms.mode != delivery_mode::ordered)
      return;
    const auto key = key_of.at(at);
    for (const auto& c : clients)
      for (const auto& h : c.holds) {
        const bool with_member = h.open && h.until > time.now() && h.what.queue == d.queue;
        EXPECT_FALSE(with_member && key_of.at({at.first, h.what.entry.offset.value}) == key)
            << "two of one key at once";
      }
    for (auto before = key_of.lower_bound({at.first, 0}); before->first < at; ++before) {
      const bool over = said_done.contains(before->first) || buried.contains(before->first);
      EXPECT_TRUE(over || before->second != key)
          << before->first.second << " of the same key comes before " << at.second;
    }
  }

  void speak(client& c) {
    if (c.holds.empty())
      return;
    const auto id = ++last_question;
    acknowledge order{correlation{id}, {}};
    auto& q = questions[id];
    for (auto& h : c.holds) {
      if (below(4) == 0)
        continue; // not yet
      const place at{h.what.queue.queue.value, h.what.entry.offset.value};
      auto how = poison.contains(at) ? handling::failed : handling::done;
      if (const auto dice = below(30); dice == 0)
        how = handling::returned;
      else if (dice == 1)
        how = handling::failed;
      else if (dice == 2 && poison.contains(at))
        how = handling::dead_letter;
      if (how == handling::done) {
        q.done.push_back(at);
        said_done.insert(at);
      }
      order.items.push_back({h.what.queue, h.what.entry.offset, h.what.lease, how, {}, 0});
      h.open = false;
    }
    if (below(10) != 0) // else it will say the same again
      std::erase_if(c.holds, [](const held& h) { return !h.open; });
    send_as(c.as, group, order);
    run();
  }

  void leave(client& c) {
    c.holds.clear();
    send_as(c.as, group, member_left{});
    run();
  }

  void write() {
    make_durable();
    std::map<place, int> count;
    for (const auto& letter : letters)
      EXPECT_EQ(++count[place(letter.queue.value, letter.offset.value)], 1)
          << "a second dead letter";
    for (const auto& [at, times] : count)
      buried.insert(at);
  }

  /// The group dies; of what it appended a part is durable.
  void crash() {
    if (below(2) == 0)
      write();
    questions.clear();
    for (auto& c : clients) {
      c.as->take<acknowledged>();
      c.as->take<deliver>();
      for (auto& h : c.holds)
        h.open = false;
    }
    restart();
  }

  void step() {
    auto& c = clients[below(clients.size())];
    switch (below(12)) {
    case 0:
    case 1:
      return publish_some();
    case 2:
    case 3:
    case 4:
      return ask_for_some(c);
    case 5:
    case 6:
    case 7:
      return speak(c);
    case 8:
    case 9:
      return write();
    case 10:
      return advance(std::chrono::milliseconds{below(200)}, 50ms);
    default:
      if (const auto dice = below(12); dice == 0)
        crash();
      else if (dice < 3)
        leave(c);
      else if (dice == 3)
        advance(settings.consumer.lease, 1s);
    }
  }

  /// Without faults everything comes to an end.
  void drain() {
    for (int round = 0; round < 5'000 && !all_done(); ++round) {
      auto& c = clients[static_cast<std::size_t>(round) % clients.size()];
      ask_for_some(c);
      look();
      speak(c);
      write();
      advance(1s, 500ms);
      look();
      write();
    }
    EXPECT_TRUE(all_done());
    for (const auto& at : poison)
      EXPECT_TRUE(buried.contains(at)) << "poison at " << at.second << " is no dead letter";
  }

  bool all_done() {
    write();
    const auto told = described();
    std::uint64_t left = 0;
    for (const auto& [n, end] : ends) {
      const auto found = std::find_if(told.queues.begin(), told.queues.end(),
                                      [&](const auto& q) { return q.queue == queue_of(n); });
      left += found == told.queues.end() ? end : end - found->base.value;
    }
    return left == 0;
  }

  void rage() {
    random.seed(GetParam());
    for (int n = 0; n < 1'500 && !HasFailure(); ++n) {
      step();
      look();
    }
    drain();
    EXPECT_GT(delivered, 50U);
  }

  std::mt19937 random;
  std::vector<client> clients;
  std::map<place, std::uint64_t> key_of;
  std::set<place> poison;
  std::set<place> said_done;
  std::set<place> settled; ///< acknowledged as done, and answered so
  std::set<place> buried;
  std::map<std::uint64_t, asked> questions;
  std::uint64_t last_question = 100;
  std::uint64_t delivered = 0;
};

TEST_P(GroupStorm, KeepsItsPromisesWithSharedQueues) {
  rage();
}

TEST_P(GroupStorm, KeepsItsPromisesInOrder) {
  terms.mode = delivery_mode::ordered;
  rage();
}

INSTANTIATE_TEST_SUITE_P(Seeds, GroupStorm, ::testing::Range(1U, 21U));

} // namespace
} // namespace handfast
