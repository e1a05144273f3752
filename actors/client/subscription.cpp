#include "actors/client/subscription.hpp"

#include "actors/client/calls.hpp"
#include "actors/client/deliveries.hpp"
#include "messages/names.hpp"

#include <algorithm>
#include <atomic>

namespace handfast::client {

struct subscription::impl {
  std::shared_ptr<session> via;
  std::string group;
  std::string topic;
  reading how;
  std::atomic<std::uint32_t> group_id{0}; ///< learnt from the first delivery
  std::atomic<bool> was_missing{false};   ///< the topic: all that it will hold came after that

  answer<acknowledged_messages> settle(const std::vector<receipt>& what, consumed verdict) {
    if (what.empty())
      return acknowledged_messages{};
    std::vector<settled> all;
    all.reserve(what.size());
    for (const auto& r : what)
      all.push_back({r, verdict});
    native::acknowledge frame;
    frame.group = {group_id.load()};
    frame.items = items_of(all, clock::now());
    auto r = single_request([frame](const addressing& with) {
      auto copy = frame;
      copy.id = with.id;
      return copy;
    });
    r.topic = topic; // a new connection has to learn of it
    return call<native::acknowledged>(*via, std::move(r), [](const native::acknowledged& a) {
      return acknowledged_messages{a.accepted, a.late};
    });
  }
};

subscription::subscription(const client& from, std::string group, std::string topic, reading how)
    : impl_{std::make_shared<impl>()} {
  impl_->via = from.link();
  impl_->group = std::move(group);
  impl_->topic = std::move(topic);
  impl_->how = std::move(how);
}

answer<std::vector<received_message>>
subscription::fetch(std::uint32_t max, std::chrono::milliseconds wait, std::uint32_t bytes_max) {
  if (auto valid = valid_name(name_kind::topic, impl_->topic); !valid)
    return valid.error();
  if (auto valid = valid_name(name_kind::group, impl_->group); !valid)
    return valid.error();
  native::fetch asked;
  asked.group_name = impl_->group;
  asked.messages_max = max;
  asked.bytes_max = bytes_max;
  asked.wait_ms = static_cast<std::uint32_t>(std::max<std::int64_t>(wait.count(), 0));
  asked.start = impl_->was_missing ? start_point{} : impl_->how.start;
  asked.terms = {impl_->how.mode, impl_->how.filter.kind, impl_->how.filter.expression};
  auto r = topic_request(std::move(asked), impl_->topic);
  r.extra_time = wait;
  auto got = call<native::delivered>(*impl_->via, std::move(r), [&](const native::delivered& all) {
    impl_->group_id = all.group.value;
    return messages_of(all, impl_->topic, clock::now());
  });
  if (got.is_refused() && got.why().code == ec::unknown_topic)
    impl_->was_missing = true;
  return got;
}

answer<acknowledged_messages> subscription::acknowledge(const std::vector<receipt>& what) {
  return impl_->settle(what, consumed::done);
}

answer<acknowledged_messages> subscription::fail(const std::vector<receipt>& what,
                                                 std::chrono::milliseconds pause) {
  return impl_->settle(what, consumed::retry_in(pause));
}

answer<acknowledged_messages> subscription::hand_back(const std::vector<receipt>& what) {
  return impl_->settle(what, consumed::returned);
}

answer<acknowledged_messages> subscription::dead_letter(const std::vector<receipt>& what) {
  return impl_->settle(what, consumed::dead_letter);
}

} // namespace handfast::client
