#pragma once

/// How the public classes put a request together and wait for it. Internal.

#include "actors/client/answer.hpp"
#include "actors/client/message.hpp"
#include "actors/client/request.hpp"
#include "actors/client/session.hpp"
#include "actors/client/transaction_listener.hpp"

#include <future>
#include <memory>

namespace handfast::client {

/// A request that stores `what`, numbered; refused here if no node could accept it. `kind` is plain
/// or half.
result<request> storing_request(session& from, const message& what, request_kind kind);

/// A request for a decision.
request deciding_request(std::string group, const transaction_id& id, outcome wanted, origin by,
                         std::uint16_t messages);
answer<decision> decision_of(const reply& from);

/// A request of one frame; `make(correlation, topic)` gives its struct.
template <class Make>
request single_request(Make make) {
  request r;
  r.encode = [make = std::move(make)](native::frame_writer& to, const addressing& with) {
    native::encode(to, make(with));
  };
  return r;
}

/// A request about `topic`; `frame` gets its number and the topic's when it is sent.
template <class Frame>
request topic_request(Frame frame, std::string topic) {
  auto r = single_request([frame = std::move(frame)](const addressing& with) {
    auto copy = frame;
    copy.id = with.id;
    copy.topic = with.topic;
    return copy;
  });
  r.topic = std::move(topic);
  return r;
}

/// Sends `what` and waits. Not from the I/O thread.
reply wait_for(session& via, request what);

/// Sends `what`, waits, and reads the answer as a `Reply`; `take(Reply&&)` makes the value of it.
template <class Reply, class Take>
auto call(session& via, request what, Take&& take)
    -> answer<std::decay_t<decltype(take(std::declval<Reply>()))>> {
  auto got = wait_for(via, std::move(what));
  if (got.why.code != ec::ok)
    return got.why;
  Reply into;
  if constexpr (std::is_same_v<Reply, native::delivered>) {
    if (auto* read = std::get_if<native::delivered>(&got.body))
      return take(std::move(*read));
    return error{ec::bad_frame, "an answer of another kind"};
  }
  if (!std::holds_alternative<native::frame>(got.body))
    return error{ec::bad_frame, "an answer of another kind"};
  if (auto decoded = native::decode(std::get<native::frame>(got.body), into); !decoded)
    return decoded.error();
  return take(std::move(into));
}

inline std::chrono::system_clock::time_point time_of(std::uint64_t ms) {
  return std::chrono::system_clock::time_point{std::chrono::milliseconds{ms}};
}

} // namespace handfast::client
