// CONSUMER GROUP, being looked at.
#include "actors/consumer_group.hpp"
#include "actors/type_ids.hpp"

#include <caf/actor_cast.hpp>

#include <algorithm>

namespace handfast {

void consumer_group_state::on_describe(const describe_group& x) {
  const auto who = self->current_sender();
  if (!who)
    return;
  group_described answer;
  answer.id = x.id;
  answer.group = group();
  answer.code = not_now();
  answer.dead_letters = dead_letters;
  for (const auto& [address, entry] : members) {
    member_description told{
        entry.name.empty() ? "member " + std::to_string(entry.number) : entry.name, 0, 0};
    for (const auto& [key, s] : queues)
      told.held += static_cast<std::uint32_t>(s->window.leased_by(entry.number));
    for (const auto& [id, topic] : topics)
      told.queues_held += topic.owners.owned_by(entry.number);
    answer.members.push_back(std::move(told));
  }
  for (const auto& [key, s] : queues) {
    auto& w = s->window;
    answer.queues.push_back({key, queue_offset{w.progress().base()},
                             std::max(w.end(), queue_offset{w.progress().base()}),
                             static_cast<std::uint32_t>(w.leased()),
                             static_cast<std::uint32_t>(w.failed()), w.paused()});
  }
  for (const auto& [key, progress] : member->fold.queues())
    if (!queues.contains(key)) // nobody read there since the actor's start
      answer.queues.push_back(
          {key, queue_offset{progress.base()}, queue_offset{progress.base()}, 0, 0, false});
  std::sort(answer.queues.begin(), answer.queues.end(),
            [](const auto& a, const auto& b) { return a.queue < b.queue; });
  for (const auto& [id, topic] : topics)
    answer.terms.emplace_back(id, topic.terms);
  self->send(caf::actor_cast<caf::typed_actor<caf::reacts_to<group_described>>>(who),
             std::move(answer));
}

status_report consumer_group_state::status() {
  const auto own = "group=\"" + std::to_string(group().value) + "\"";
  status_report report;
  report.actor = "consumer_group/" + std::to_string(group().value);
  const auto gauge = [&](const char* what, const std::string& labels, std::uint64_t value) {
    report.samples.push_back({what, labels, static_cast<double>(value)});
  };
  std::uint64_t paused = 0;
  for (const auto& [key, s] : queues)
    paused += s->window.paused() ? 1 : 0;
  gauge("rocketmq_consumer_connections", own, members.size());
  gauge("handfast_consumer_parked_fetches", own, parked.size());
  gauge("handfast_consumer_paused_queues", own, paused);
  gauge("handfast_consumer_skipped_messages_total", own, skipped);
  gauge("rocketmq_send_to_dlq_messages_total", own, dead_letters);
  for (const auto& [key, s] : queues) {
    const auto labels = own + ",topic=\"" + std::to_string(key.topic.value) + "\",queue=\"" +
                        std::to_string(key.queue.value) + "\"";
    const auto base = s->window.progress().base();
    const auto end = std::max(s->window.end().value, base);
    gauge("rocketmq_consumer_lag_messages", labels, end - base);
    gauge("rocketmq_consumer_inflight_messages", labels, s->window.leased());
    gauge("rocketmq_consumer_ready_messages", labels, s->window.ready());
    gauge("handfast_consumer_failed_messages", labels, s->window.failed() + s->window.dead());
    gauge("handfast_consumer_done_offset", labels, base);
    gauge("handfast_consumer_end_offset", labels, end);
  }
  report.quarantined = member->quarantined();
  return report;
}

} // namespace handfast
