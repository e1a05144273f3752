#include "actors/client/calls.hpp"
#include "actors/client/consumer.hpp"
#include "actors/client/deliveries.hpp"
#include "messages/names.hpp"

#include <atomic>

namespace handfast::client {

std::vector<received_message> messages_of(const native::delivered& from, const std::string& topic) {
  std::vector<received_message> messages;
  messages.reserve(from.items.size());
  for (const auto& item : from.items) {
    auto& m = messages.emplace_back();
    m.content = decode_message(topic, item.payload, item.properties_size);
    m.content.queue = item.queue;
    m.delivery = {{item.topic, item.queue}, item.offset, item.lease};
    m.attempt = item.attempts;
    m.at = item.at;
    m.transaction = item.transaction;
    m.born = time_of(item.born_ms);
    m.visible = time_of(item.visible_ms);
  }
  return messages;
}

struct subscription::impl {
  std::shared_ptr<session> via;
  std::string group;
  std::string topic;
  std::atomic<start_from> start;
  std::atomic<std::uint32_t> group_id{0}; ///< learnt from the first delivery

  answer<acknowledged_messages> settle(const std::vector<receipt>& what, bool done) {
    if (what.empty())
      return acknowledged_messages{};
    native::acknowledge settled;
    settled.group = {group_id.load()};
    for (const auto& r : what)
      settled.items.push_back({r.queue.topic, r.queue.queue, r.offset, r.lease, done});
    auto r = single_request([settled](const addressing& with) {
      auto copy = settled;
      copy.id = with.id;
      return copy;
    });
    return call<native::acknowledged>(*via, std::move(r), [](const native::acknowledged& a) {
      return acknowledged_messages{a.accepted, a.late};
    });
  }
};

subscription::subscription(const client& from, std::string group, std::string topic,
                           start_from start)
    : impl_{std::make_shared<impl>()} {
  impl_->via = from.link();
  impl_->group = std::move(group);
  impl_->topic = std::move(topic);
  impl_->start = start;
}

answer<std::vector<received_message>> subscription::fetch(std::uint32_t max,
                                                          std::chrono::milliseconds wait) {
  if (auto valid = valid_name(name_kind::topic, impl_->topic); !valid)
    return valid.error();
  if (auto valid = valid_name(name_kind::group, impl_->group); !valid)
    return valid.error();
  native::fetch asked;
  asked.group_name = impl_->group;
  asked.messages_max = max;
  asked.wait_ms = static_cast<std::uint32_t>(std::max<std::int64_t>(wait.count(), 0));
  asked.start = impl_->start.load();
  auto r = single_request([asked](const addressing& with) {
    auto copy = asked;
    copy.id = with.id;
    copy.topic = with.topic;
    return copy;
  });
  r.topic = impl_->topic;
  r.extra_time = wait;
  auto got = call<native::delivered>(*impl_->via, std::move(r), [&](const native::delivered& all) {
    impl_->group_id = all.group.value;
    return messages_of(all, impl_->topic);
  });
  if (got.is_refused() && got.why().code == ec::unknown_topic)
    impl_->start = start_from::earliest; // whatever it will hold came after this
  return got;
}

answer<acknowledged_messages> subscription::acknowledge(const std::vector<receipt>& what) {
  return impl_->settle(what, true);
}

answer<acknowledged_messages> subscription::hand_back(const std::vector<receipt>& what) {
  return impl_->settle(what, false);
}

} // namespace handfast::client
