/// Rules about transactions: I1, I2, I5, I6, I8.

#include "tests/support/checker_history.hpp"

#include <algorithm>
#include <optional>

namespace handfast::proof {

namespace {

std::string quoted(const std::string& key) {
  return "message " + key;
}

bool is_committed(const transaction_history& t) {
  return std::any_of(t.stated.begin(), t.stated.end(),
                     [](const auto& s) { return s.recorded == outcome::committed; });
}

bool is_ended_without(const transaction_history& t) {
  return std::any_of(t.stated.begin(), t.stated.end(), [](const auto& s) {
    return s.recorded == outcome::rolled_back || s.recorded == outcome::given_up;
  });
}

void judge_forgotten(const transaction_id& id, const transaction_history& t, const history& h,
                     findings& to) {
  for (const auto number : t.events) {
    const auto& e = h.events[number];
    if ((e.kind == event_kind::decision_answered || e.kind == event_kind::query_answered) &&
        (e.code == ec::unknown_transaction || e.code == ec::transaction_expired)) {
      to.add("I1",
             "transaction " + to_string(id) +
                 " was acknowledged, and later nobody knew it any more:",
             t.events);
      return;
    }
  }
}

/// All transactions that `m` may have become visible by.
std::set<transaction_id> possible_transactions(const message_history& m, const history& h) {
  std::set<transaction_id> all;
  for (const auto& id : m.transactions)
    all.merge(h.family(id));
  return all;
}

void judge_delivered_half(const std::string& key, const message_history& m, std::size_t delivered,
                          const history& h, const checker_options& o, findings& to) {
  bool asked = o.policy_commits;
  bool asked_before = o.policy_commits;
  bool all_ended_without = true;
  const auto possible = possible_transactions(m, h);
  for (const auto& id : possible) {
    const auto& t = h.transactions.at(id);
    asked |= !t.commits_asked.empty();
    asked_before |= !t.commits_asked.empty() && t.commits_asked.front() < delivered;
    all_ended_without &= is_ended_without(t);
  }
  const auto& e = h.events[delivered];
  const auto what = quoted(key) + " of transaction " +
                    to_string(possible.empty() ? transaction_id{} : *possible.begin());
  if (!asked)
    to.add("I2",
           what + " was delivered to group " + e.group + ", though nobody asked for a commit:",
           m.events);
  else if (!asked_before)
    to.add("I6",
           what + " was delivered to group " + e.group + " before anybody asked for its commit:",
           m.events);
  if (!possible.empty() && all_ended_without)
    to.add("I2", what + " was delivered to group " + e.group + ", though it was not committed:",
           m.events);
}

/// When the node and its clients last spoke about the transaction, as far as that puts a check off,
/// and from when on it may be decided.
struct undecided_life {
  std::vector<std::uint64_t> touched;
  std::optional<std::uint64_t> decided;
};

undecided_life undecided_life_of(const transaction_history& t, const history& h) {
  undecided_life life;
  for (const auto number : t.events) {
    const auto& e = h.events[number];
    if (e.kind == event_kind::half_answered || e.kind == event_kind::check_asked ||
        e.kind == event_kind::check_answered || e.kind == event_kind::reopened)
      life.touched.push_back(e.at_ms);
    const bool may_decide =
        (e.kind == event_kind::decision_sent || e.kind == event_kind::check_answered) &&
        e.wanted != outcome::pending;
    if (!life.decided && (may_decide || e.recorded != outcome::pending))
      life.decided = e.at_ms;
  }
  return life;
}

void judge_check_gaps(const transaction_id& id, const transaction_history& t,
                      const std::vector<calm_stretch>& calm, const history& h,
                      const checker_options& o, findings& to) {
  const auto life = undecided_life_of(t, h);
  if (life.touched.empty())
    return;
  const bool given_up = std::any_of(t.stated.begin(), t.stated.end(),
                                    [](const auto& s) { return s.recorded == outcome::given_up; });
  const auto limit =
      static_cast<std::uint64_t>((o.timeout + o.check_interval + o.lateness_max).count());
  for (const auto& stretch : calm) {
    auto last = std::max(stretch.from_ms, life.touched.front());
    auto end = std::min(stretch.to_ms, life.decided.value_or(stretch.to_ms));
    if (given_up ||
        o.policy_commits) // by whom and when, no client saw: only the gaps between checks count
      end = std::min(end, t.checks.empty() ? std::uint64_t{0} : h.events[t.checks.back()].at_ms);
    for (const auto touched : life.touched) {
      if (touched >= end)
        break;
      if (touched > last && touched - last <= limit)
        last = touched;
    }
    if (end > last && end - last > limit) {
      to.add("I8",
             "transaction " + to_string(id) + " was undecided and nobody was asked for " +
                 std::to_string(end - last) + " ms without faults, allowed are " +
                 std::to_string(limit) + ":",
             t.events);
      return;
    }
  }
}

} // namespace

void judge_arrival(const history& h, const checker_options&, findings& to) {
  for (const auto& [id, t] : h.transactions)
    if (t.acknowledged)
      judge_forgotten(id, t, h, to);
  if (!h.drained)
    return;
  const auto judge = [&](const std::string& key, const message_history& m, const std::string& why,
                         const event_list& shown) {
    const auto groups = h.groups_of_topic.find(m.topic);
    if (groups == h.groups_of_topic.end())
      return;
    for (const auto& group : groups->second)
      if (!m.reached.contains(group))
        to.add("I1", quoted(key) + why + ", but never reached group " + group + ":", shown);
  };
  for (const auto& [key, m] : h.messages) {
    if (m.cancels_unanswered > 0)
      continue; // nobody knows, or it is not to arrive
    if (m.plain && m.acknowledged)
      judge(key, m, " was acknowledged", m.events);
    if (m.plain || !m.acknowledged)
      continue;
    for (const auto& id : m.transactions)
      if (const auto& t = h.transactions.at(id); is_committed(t)) {
        auto shown = t.events;
        shown.insert(shown.end(), m.events.begin(), m.events.end());
        std::sort(shown.begin(), shown.end());
        shown.erase(std::unique(shown.begin(), shown.end()), shown.end());
        judge(key, m, " of transaction " + to_string(id) + " was committed, and that was said",
              shown);
      }
  }
}

void judge_visibility(const history& h, const checker_options& o, findings& to) {
  for (const auto& [key, m] : h.messages) {
    if (m.plain)
      continue;
    const auto first = std::find_if(m.events.begin(), m.events.end(), [&](std::size_t number) {
      return h.events[number].kind == event_kind::delivered ||
             h.events[number].kind == event_kind::listed;
    });
    if (first != m.events.end())
      judge_delivered_half(key, m, *first, h, o, to);
  }
}

namespace {

/// It was opened again a second time, or an answer does not know of the first, although it was
/// asked for afterwards.
bool denies_reopening(const event& e, const transaction_history& t) {
  if (!t.reopened_at || e.code != ec::ok || e.other == t.reopened_as)
    return false;
  return e.kind == event_kind::reopened ||
         (e.kind == event_kind::query_answered && *t.reopened_at < e.since);
}

/// Giving up is a way of rolling back: who asks for that has got it.
bool is_done_by(outcome recorded, outcome wanted) {
  return recorded == wanted || wanted == outcome::pending ||
         (wanted == outcome::rolled_back && recorded == outcome::given_up);
}

} // namespace

void judge_decisions(const history& h, findings& to) {
  for (const auto& [id, t] : h.transactions) {
    const auto what = "transaction " + to_string(id);
    for (const auto& s : t.stated) {
      const auto& e = h.events[s.event];
      if (s.recorded != t.stated.front().recorded) {
        to.add("I5",
               what + " was said to be " + std::string{name_of(t.stated.front().recorded)} +
                   ", and later " + std::string{name_of(s.recorded)} + ":",
               t.events);
        break;
      }
      if (e.kind == event_kind::decision_answered && e.code == ec::ok &&
          !is_done_by(s.recorded, e.wanted)) {
        to.add("I5",
               what + ": " + std::string{name_of(e.wanted)} +
                   " was asked for and answered as done, but recorded is " +
                   std::string{name_of(s.recorded)} + ":",
               t.events);
        break;
      }
    }
    for (const auto number : t.events) {
      const auto& e = h.events[number];
      if (e.kind == event_kind::query_answered && e.code == ec::ok &&
          e.recorded == outcome::pending && !t.stated.empty() && t.stated.front().event < e.since) {
        to.add("I5", what + " had an outcome, and was undecided again afterwards:", t.events);
        break;
      }
      if (e.tx == id && denies_reopening(e, t)) {
        to.add("I5",
               what + " was opened again as " + to_string(t.reopened_as) +
                   ", and later that was not so:",
               t.events);
        break;
      }
    }
  }
}

void judge_checks(const history& h, const checker_options& o, findings& to) {
  const auto calm = calm_stretches(h);
  for (const auto& [id, t] : h.transactions) {
    if (!t.acknowledged || t.events.empty())
      continue;
    judge_check_gaps(id, t, calm, h, o, to);
    const bool given_up = std::any_of(t.stated.begin(), t.stated.end(), [](const auto& s) {
      return s.recorded == outcome::given_up;
    });
    if (given_up && o.check_max != 0 && t.checks.size() < o.check_max)
      to.add("I8",
             "transaction " + to_string(id) + " was given up after " +
                 std::to_string(t.checks.size()) + " checks that a producer saw, not " +
                 std::to_string(o.check_max) + ":",
             t.events);
  }
}

} // namespace handfast::proof
