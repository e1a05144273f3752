/// Rules about messages that become visible later: I11.

#include "tests/support/checker_history.hpp"

#include <algorithm>
#include <optional>

namespace handfast::proof {

namespace {

/// No earlier than this may it be visible: told by the node, or worked out from what was asked.
std::optional<std::uint64_t> earliest(const message_history& m, const history& h) {
  if (m.due != 0)
    return m.due;
  if (m.plain)
    return h.events[m.events.front()].at_ms + m.delay;
  std::optional<std::uint64_t> first;
  std::set<transaction_id> all;
  for (const auto& id : m.transactions)
    all.merge(h.family(id));
  for (const auto& id : all)
    for (const auto asked : h.transactions.at(id).commits_asked)
      first = std::min(first.value_or(UINT64_MAX), h.events[asked].at_ms + m.delay);
  return first;
}

void judge_one(const std::string& key, const message_history& m, const history& h,
               const std::vector<calm_stretch>& calm, const checker_options& o, findings& to) {
  const auto due = earliest(m, h);
  const auto late_max = static_cast<std::uint64_t>(o.release_late_max.count());
  for (const auto number : m.events) {
    const auto& e = h.events[number];
    if (e.kind != event_kind::delivered)
      continue;
    if (due && (e.at_ms < *due || (e.when != 0 && e.when < *due))) {
      to.add("I11",
             "message " + key + " was to become visible at " + std::to_string(*due) +
                 " ms, and was delivered before:",
             m.events);
      return;
    }
    if (m.due == 0 || e.when == 0)
      continue; // nobody knows when exactly
    for (const auto& stretch : calm)
      if (e.when <= stretch.to_ms && e.when > std::max(m.due, stretch.from_ms) + late_max) {
        to.add("I11",
               "message " + key + " was to become visible at " + std::to_string(m.due) +
                   " ms, and did so only at " + std::to_string(e.when) + " ms, without faults:",
               m.events);
        return;
      }
  }
}

} // namespace

void judge_delays(const history& h, const checker_options& o, findings& to) {
  const auto calm = calm_stretches(h);
  for (const auto& [key, m] : h.messages) {
    if (m.delay != 0)
      judge_one(key, m, h, calm, o, to);
    const auto seen = std::find_if(m.events.begin(), m.events.end(), [&](std::size_t number) {
      return h.events[number].kind == event_kind::delivered ||
             h.events[number].kind == event_kind::listed;
    });
    if (m.cancelled && seen != m.events.end())
      to.add("I11", "message " + key + " was cancelled, and became visible:", m.events);
  }
}

} // namespace handfast::proof
