#include "actors/client/deliveries.hpp"

#include "actors/client/calls.hpp"

#include <algorithm>
#include <tuple>

namespace handfast::client {

std::vector<received_message> messages_of(const native::delivered& from, const std::string& topic,
                                          std::chrono::steady_clock::time_point arrived) {
  std::vector<received_message> messages;
  messages.reserve(from.items.size());
  const auto until = arrived + std::chrono::milliseconds{from.lease_ms};
  for (const auto& item : from.items) {
    auto& m = messages.emplace_back();
    m.content = decode_message(topic, item.payload, item.properties_size);
    m.content.queue = item.queue;
    m.delivery = {{item.topic, item.queue}, item.offset, item.lease, until};
    m.attempt = item.attempts;
    m.at = item.at;
    m.transaction = item.transaction;
    m.born = time_of(item.born_ms);
    m.visible = time_of(item.visible_ms);
  }
  return messages;
}

std::vector<native::acknowledge_item> items_of(std::vector<settled>& what,
                                               std::chrono::steady_clock::time_point now) {
  std::sort(what.begin(), what.end(), [](const settled& a, const settled& b) {
    return std::tie(a.delivery.queue, a.delivery.offset) <
           std::tie(b.delivery.queue, b.delivery.offset);
  });
  std::vector<native::acknowledge_item> items;
  const settled* before = nullptr;
  for (const auto& s : what) {
    const auto& at = s.delivery;
    const auto running = [&](const settled& x) {
      return x.verdict.what == handling::done && x.delivery.until > now;
    };
    if (before && running(*before) && running(s) && before->delivery.queue == at.queue &&
        before->delivery.offset.value + 1 == at.offset.value) {
      items.back().to = queue_offset{at.offset.value + 1};
    } else {
      const auto pause = std::clamp<std::int64_t>(s.verdict.pause.count(), 0, UINT32_MAX);
      items.push_back({at.queue.topic,
                       at.queue.queue,
                       at.offset,
                       at.lease,
                       s.verdict.what,
                       {},
                       static_cast<std::uint32_t>(pause)});
    }
    before = &s;
  }
  return items;
}

} // namespace handfast::client
