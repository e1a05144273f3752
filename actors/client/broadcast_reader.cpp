#include "actors/client/calls.hpp"
#include "actors/client/deliveries.hpp"
#include "actors/client/offset_store.hpp"

#include <algorithm>

namespace handfast::client {

struct broadcast_reader::impl {
  std::shared_ptr<session> via;
  std::string topic;
  message_filter filter;
  start_point start;
  std::shared_ptr<offset_store> offsets;
  std::vector<native::queue_position> places; ///< empty until the topic's queues are known
  std::vector<queue_no> moved;                ///< since the last save

  /// Where each queue begins.
  answer<nothing> find_places() {
    auto r = single_request([this_point = start](const addressing& with) {
      return native::find_offsets{with.id, with.topic, false, {}, this_point};
    });
    r.topic = topic;
    auto found = call<native::offsets>(*via, std::move(r),
                                       [](native::offsets got) { return std::move(got.items); });
    if (!found) {
      if (found.why().code == ec::unknown_topic)
        start = {}; // all that it will hold came after this
      return found.why();
    }
    std::vector<native::queue_position> all;
    std::vector<offset_store::place> begun;
    for (const auto& item : found.value()) {
      const auto kept = offsets ? offsets->load(topic, item.queue) : std::nullopt;
      all.push_back({item.queue, kept.value_or(item.offset)});
      if (!kept)
        begun.push_back({item.queue, item.offset});
    }
    // Before the first message: a queue in which nothing comes until this process ends must not
    // begin somewhere else the next time.
    if (offsets && !begun.empty())
      if (auto saved = offsets->save(topic, begun); !saved)
        return saved.error();
    places = std::move(all);
    return nothing{};
  }

  void move_to(const std::vector<native::queue_position>& next) {
    for (const auto& to : next)
      for (auto& place : places)
        if (place.queue == to.queue) {
          place.offset = to.offset;
          if (std::find(moved.begin(), moved.end(), to.queue) == moved.end())
            moved.push_back(to.queue);
        }
    // The one that was served first is the last next time.
    if (!places.empty())
      std::rotate(places.begin(), places.begin() + 1, places.end());
  }
};

broadcast_reader::broadcast_reader(const client& from, std::string topic, message_filter filter,
                                   start_point start, std::shared_ptr<offset_store> offsets)
    : impl_{std::make_shared<impl>()} {
  impl_->via = from.link();
  impl_->topic = std::move(topic);
  impl_->filter = std::move(filter);
  impl_->start = start;
  impl_->offsets = std::move(offsets);
}

answer<std::vector<received_message>> broadcast_reader::fetch(std::uint32_t max,
                                                              std::chrono::milliseconds wait) {
  if (impl_->places.empty())
    if (auto found = impl_->find_places(); !found)
      return found.why();
  native::read_queues asked;
  asked.messages_max = max;
  asked.wait_ms = static_cast<std::uint32_t>(std::max<std::int64_t>(wait.count(), 0));
  asked.filter = impl_->filter.kind;
  asked.expression = impl_->filter.expression;
  asked.places = impl_->places;
  auto r = topic_request(std::move(asked), impl_->topic);
  r.extra_time = wait;
  return call<native::delivered>(*impl_->via, std::move(r), [&](const native::delivered& got) {
    impl_->move_to(got.next);
    return messages_of(got, impl_->topic, clock::now());
  });
}

result<void> broadcast_reader::save() {
  const auto moved = std::exchange(impl_->moved, {});
  if (moved.empty() || !impl_->offsets)
    return {};
  std::vector<offset_store::place> places;
  for (const auto& place : impl_->places)
    if (std::find(moved.begin(), moved.end(), place.queue) != moved.end())
      places.push_back({place.queue, place.offset});
  auto saved = impl_->offsets->save(impl_->topic, places);
  if (!saved)
    impl_->moved = moved; // with the next one
  return saved;
}

} // namespace handfast::client
