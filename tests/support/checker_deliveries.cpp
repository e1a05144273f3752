/// Rules about messages and their places: I3, I4, I7, I9, I10.

#include "tests/support/checker_history.hpp"

#include <algorithm>

namespace handfast::proof {

namespace {

bool shows_a_body(const event& e) {
  return e.kind == event_kind::delivered || e.kind == event_kind::listed;
}

/// Goes through the acknowledgements in the order in which they were answered and tells how far a
/// group had come in a queue at any event.
class acknowledged_prefix {
public:
  acknowledged_prefix(const history& h, const std::string& group, const std::string& topic,
                      std::uint32_t queue) {
    for (auto d = h.deliveries.lower_bound({group, {topic, queue, 0}});
         d != h.deliveries.end() && d->first.group == group && d->first.at.topic == topic &&
         d->first.at.queue == queue;
         ++d)
      if (!d->second.acknowledged.empty())
        answered_[d->first.at.offset] = d->second.acknowledged.front();
  }

  /// Everything below was acknowledged before event `number`.
  [[nodiscard]] std::uint64_t before(std::uint64_t number) const {
    std::uint64_t base = 0;
    for (const auto& [offset, answered] : answered_) {
      if (offset != base || answered >= number)
        break;
      ++base;
    }
    return base;
  }

private:
  std::map<std::uint64_t, std::size_t> answered_;
};

} // namespace

void judge_bodies(const history& h, findings& to) {
  for (const auto& [key, m] : h.messages) {
    const bool was_sent = std::any_of(m.events.begin(), m.events.end(), [&](std::size_t number) {
      return h.events[number].kind == event_kind::half_sent ||
             h.events[number].kind == event_kind::plain_sent;
    });
    for (const auto number : m.events) {
      const auto& e = h.events[number];
      if (!shows_a_body(e))
        continue;
      if (!was_sent) {
        to.add("I3",
               "message " + key + " was never sent, but stands at " +
                   to_string(place{e.topic, e.queue, e.offset}) + ":",
               m.events);
        break;
      }
      if (e.body != m.body || e.topic != m.topic) {
        to.add("I3",
               "message " + key + " arrived with another body or topic than it was sent with:",
               m.events);
        break;
      }
    }
  }
}

void judge_places(const history& h, findings& to) {
  for (const auto& [at, keys] : h.keys_at) {
    if (keys.size() < 2)
      continue;
    event_list shown;
    std::string names;
    for (const auto& key : keys) {
      names += (names.empty() ? "" : ", ") + key;
      const auto& events = h.messages.at(key).events;
      shown.insert(shown.end(), events.begin(), events.end());
    }
    std::sort(shown.begin(), shown.end());
    to.add("I4", "place " + to_string(at) + " named several messages, " + names + ":", shown);
  }
  for (const auto& [key, m] : h.messages) {
    if (m.places.size() < 2)
      continue;
    std::string places;
    for (const auto& at : m.places)
      places += (places.empty() ? "" : ", ") + to_string(at);
    to.add("I4", "message " + key + " has several places, " + places + ":", m.events);
  }
  if (!h.drained)
    return;
  for (const auto& [queue, offsets] : h.listed)
    if (*offsets.rbegin() + 1 != offsets.size())
      to.add("I4",
             "queue " + queue.first + "/" + std::to_string(queue.second) + " has " +
                 std::to_string(offsets.size()) + " entries up to offset " +
                 std::to_string(*offsets.rbegin()) + ", so it has gaps",
             {});
  if (h.listed_events.empty())
    return;
  for (const auto& [at, keys] : h.keys_at)
    if (const auto q = h.listed.find({at.topic, at.queue});
        q == h.listed.end() || !q->second.contains(at.offset))
      to.add("I4",
             "place " + to_string(at) + " was said to hold " + *keys.begin() +
                 ", and is gone from the index:",
             h.messages.at(*keys.begin()).events);
}

void judge_repetition(const history& h, findings& to) {
  for (const auto& [at, d] : h.deliveries) {
    if (d.acknowledged.empty())
      continue;
    const auto answered = d.acknowledged.front();
    const auto again =
        std::find_if(d.delivered.begin(), d.delivered.end(),
                     [&](std::size_t number) { return h.events[number].since > answered; });
    if (again == d.delivered.end())
      continue;
    const acknowledged_prefix prefix{h, at.group, at.at.topic, at.at.queue};
    if (const auto base = prefix.before(h.events[*again].since); at.at.offset < base)
      to.add("I9",
             "group " + at.group + " had acknowledged everything below offset " +
                 std::to_string(base) + " of its queue, and was given " + to_string(at.at) +
                 " again:",
             d.events);
    else
      to.add("I7",
             "group " + at.group + " had acknowledged " + to_string(at.at) +
                 ", was told so, and got it again:",
             d.events);
  }
  for (const auto number : h.progress) {
    const auto& e = h.events[number];
    const acknowledged_prefix prefix{h, e.group, e.topic, e.queue};
    if (const auto base = prefix.before(e.since); e.offset < base)
      to.add("I9",
             "group " + e.group + " had acknowledged everything below offset " +
                 std::to_string(base) + " of " + e.topic + "/" + std::to_string(e.queue) +
                 ", but its progress says " + std::to_string(e.offset) + ":",
             {number});
  }
}

void judge_dead_letters(const history& h, const checker_options& o, findings& to) {
  for (const auto& [at, d] : h.deliveries) {
    const auto who = "group " + at.group + " and " + to_string(at.at);
    if (d.dead_at.size() > 1)
      to.add("I10", who + " have " + std::to_string(d.dead_at.size()) + " dead letters:", d.events);
    for (const auto number : d.dead) {
      const auto& e = h.events[number];
      const auto here = h.keys_at.find(at.at);
      const auto sent = h.messages.find(e.key);
      if ((here != h.keys_at.end() && !here->second.contains(e.key)) || sent == h.messages.end() ||
          sent->second.body != e.body)
        to.add("I10", who + " have a dead letter with another body:", d.events);
      if (e.attempts < o.delivery_max)
        to.add("I10",
               who + " have a dead letter after " + std::to_string(e.attempts) + " of " +
                   std::to_string(o.delivery_max) + " deliveries:",
               d.events);
    }
    if (h.drained && !d.rejected.empty() && d.ack_sent.empty() && d.dead.empty())
      to.add("I10", who + ": it always failed, and is no dead letter in the end:", d.events);
  }
}

} // namespace handfast::proof
