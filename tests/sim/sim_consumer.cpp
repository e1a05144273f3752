#include "tests/sim/sim_consumer.hpp"

#include <utility>

namespace handfast::sim {

using proof::event_kind;
using std::chrono::milliseconds;

void sim_consumer::on_welcome() {
  for (std::size_t i = 0; i < topics_.size(); ++i)
    resolve(i);
}

void sim_consumer::resolve(std::size_t topic) {
  native::resolve_topic frame;
  frame.id = expect(next_id());
  frame.name = topics_[topic].name;
  topic_questions_[frame.id.value] = {topic, false};
  send(frame);
}

void sim_consumer::on_lost() {
  topic_questions_.clear();
  acks_.clear(); // their outcome is unknown, and stays so
  group_ = {};
}

void sim_consumer::wind_up() {
  sim_client::wind_up();
  empty_rounds_ = empty_in_row_ = 0;
}

std::string sim_consumer::topic_name(topic_id id) const {
  const auto known = names_.find(id);
  return known == names_.end() ? "unresolved-" + std::to_string(id.value) : known->second;
}

void sim_consumer::on_frame(const native::frame& from) {
  switch (from.header.kind) {
  case native::frame_kind::topic_resolved:
    on_topic(from);
    break;
  case native::frame_kind::delivered:
    on_delivered(from);
    break;
  case native::frame_kind::acknowledged:
    on_acknowledged(from);
    break;
  case native::frame_kind::refused:
    on_refused(from);
    break;
  default:
    break;
  }
}

void sim_consumer::on_topic(const native::frame& from) {
  native::topic_resolved x;
  if (!read(from, x) || !answered(x.id))
    return;
  const auto topic = topic_questions_.extract(x.id.value).mapped().topic;
  if (x.code != ec::ok) {
    later(milliseconds{100}, [this, topic] { resolve(topic); });
    return;
  }
  topic_ids_[topic] = x.topic;
  names_[x.topic] = topics_[topic].name;
  fetch(topic);
}

void sim_consumer::fetch(std::size_t topic) {
  auto& random = time_.random;
  native::fetch frame;
  frame.id = next_id();
  frame.group_name = group_name_;
  frame.topic = topic_ids_[topic];
  frame.messages_max = static_cast<std::uint32_t>(random.between(1, 16));
  frame.wait_ms = static_cast<std::uint32_t>(random.between(0, 1'000));
  topic_questions_[expect(frame.id).value] = {topic, true};
  send(frame);
}

void sim_consumer::on_delivered(const native::frame& from) {
  native::delivered x;
  if (!read(from, x) || !answered(x.id))
    return;
  const auto topic = topic_questions_.extract(x.id.value).mapped().topic;
  if (x.code == ec::ok && x.group != group_id{})
    group_ = x.group;
  if (x.items.empty()) {
    if (x.code == ec::ok && winding_up_ && ++empty_in_row_ >= topics_.size()) {
      empty_in_row_ = 0;
      ++empty_rounds_;
    }
    later(time_.random.between(milliseconds{10}, milliseconds{winding_up_ ? 500 : 100}),
          [this, topic] { fetch(topic); });
    return;
  }
  take(x, topic);
}

/// The same for all members of the group, whenever they are asked.
bool sim_consumer::is_poison(const std::string& key) const {
  return proof::body_hash(group_name_ + key) % 1'000 < plan_.poison;
}

void sim_consumer::take(const native::delivered& x, std::size_t topic) {
  empty_rounds_ = empty_in_row_ = 0;
  last_taken_ = time_.now();
  auto& random = time_.random;
  std::vector<native::acknowledge_item> items;
  for (const auto& item : x.items) {
    ++taken_;
    const auto body = item.payload.text().substr(item.properties_size);
    witness({.kind = event_kind::delivered,
             .key = key_of(body),
             .tx = item.transaction,
             .group = group_name_,
             .topic = topic_name(item.topic),
             .queue = item.queue.value,
             .offset = item.offset.value,
             .body = proof::body_hash(body),
             .since = since(),
             .when = item.visible_ms - sim_timeline::first_wall});
    items.push_back({item.topic, item.queue, item.offset, item.lease,
                     is_poison(std::string{key_of(body)}) ? handling::failed : handling::done});
  }
  if (!winding_up_ && random.chance(plan_.stalls)) {
    // Says nothing about them until its leases have ended, and perhaps not even then.
    if (random.chance(500))
      later(plan_.settings.consumer.lease + random.between(milliseconds{0}, milliseconds{500}),
            [this, items] { acknowledge(items); });
  } else if (!winding_up_ && random.chance(50)) {
    items.front().what = handling::returned;
    acknowledge(std::move(items));
  } else {
    later(random.between(milliseconds{0}, milliseconds{30}), [this, items] { acknowledge(items); });
  }
  later(random.between(milliseconds{0}, milliseconds{30}), [this, topic] { fetch(topic); });
}

void sim_consumer::acknowledge(std::vector<native::acknowledge_item> items) {
  native::acknowledge frame;
  frame.id = expect(next_id());
  frame.group = group_;
  frame.items = items;
  for (const auto& item : items)
    witness({.kind = ends_delivery(item.what) ? event_kind::ack_sent : event_kind::rejected,
             .group = group_name_,
             .topic = topic_name(item.topic),
             .queue = item.queue.value,
             .offset = item.offset.value});
  acks_[frame.id.value] = std::move(items);
  send(frame);
}

void sim_consumer::on_acknowledged(const native::frame& from) {
  native::acknowledged x;
  if (!read(from, x))
    return;
  const auto asked = acks_.find(x.id.value);
  if (asked == acks_.end())
    return;
  // Which of them came late is not said, so none of them certainly counts then.
  const bool all = x.code == ec::ok && x.late == 0 && x.accepted == asked->second.size();
  answer_acks(x.id, all ? ec::ok : x.code == ec::ok ? ec::outcome_unknown : x.code);
}

void sim_consumer::answer_acks(correlation id, ec code) {
  answered(id);
  auto asked = acks_.extract(id.value);
  if (!asked)
    return;
  for (const auto& item : asked.mapped())
    if (ends_delivery(item.what))
      witness({.kind = event_kind::ack_answered,
               .code = code,
               .group = group_name_,
               .topic = topic_name(item.topic),
               .queue = item.queue.value,
               .offset = item.offset.value});
  if (is_retriable(code) || verdict_of(code) == verdict::unknown)
    later(milliseconds{time_.random.between(10, 100)}, [this, items = asked.mapped()] {
      if (!winding_up_ || time_.random.chance(500))
        acknowledge(items);
    });
}

void sim_consumer::on_refused(const native::frame& from) {
  native::refused x;
  if (!read(from, x))
    return;
  if (acks_.contains(x.id.value)) {
    answer_acks(x.id, x.code);
    return;
  }
  const auto asked = topic_questions_.extract(x.id.value);
  if (!asked || !answered(x.id))
    return;
  empty_rounds_ = empty_in_row_ = 0;
  later(milliseconds{time_.random.between(20, 200)}, [this, q = asked.mapped()] {
    if (q.fetches)
      fetch(q.topic);
    else
      resolve(q.topic);
  });
}

std::string sim_consumer::waiting_for() const {
  return sim_client::waiting_for() + ", " + std::to_string(acks_.size()) +
         " acknowledgements under way, " + std::to_string(empty_rounds_) +
         " rounds without messages";
}

} // namespace handfast::sim
