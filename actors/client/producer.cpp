#include "actors/client/producer.hpp"

#include "actors/client/calls.hpp"

namespace handfast::client {

namespace {

answer<stored_message> stored_of(const reply& from) {
  if (from.why.code != ec::ok)
    return from.why;
  const auto& item = std::get<native::sent_item>(from.body);
  return stored_message{item.at, {item.topic, item.queue}, item.offset, item.due_ms};
}

} // namespace

answer<stored_message> producer::send(message what) {
  return send_async(std::move(what)).get();
}

std::future<answer<stored_message>> producer::send_async(message what) {
  auto promise = std::make_shared<std::promise<answer<stored_message>>>();
  auto future = promise->get_future();
  send_async(std::move(what),
             [promise](answer<stored_message> got) { promise->set_value(std::move(got)); });
  return future;
}

void producer::send_async(message what, callback done) {
  auto r = storing_request(*session_, what, request_kind::plain);
  if (!r)
    return done(r.error());
  r->done = [done = std::move(done)](const reply& got) { done(stored_of(got)); };
  session_->submit(std::move(*r));
}

} // namespace handfast::client
