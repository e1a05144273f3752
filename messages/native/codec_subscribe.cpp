#include "messages/native/codec_support.hpp"

// Push delivery, broadcasting, and offsets.

namespace handfast::native {

namespace schema = native_schema;

void encode(frame_writer& to, const subscribe& from) {
  codec::write_any<schema::Subscribe>(to, subscribe::kind, [&](schema::Subscribe::Builder root) {
    root.setCorrelation(from.id.value);
    root.setTopic(from.topic.value);
    root.setCredit(from.credit);
    root.setGroupName(codec::text(from.group_name));
    codec::put_start(root, from.start);
    codec::put_terms(root, from.terms);
  });
}

result<void> decode(const frame& from, subscribe& into) {
  return codec::read_root<schema::Subscribe>(
      from, subscribe::kind, [&](schema::Subscribe::Reader root) -> result<void> {
        if (!codec::take_start(root, into.start) || !codec::take_terms(root, into.terms))
          return codec::bad(subscribe::kind, "start, mode or filter out of range");
        into.id = {root.getCorrelation()};
        into.topic = {root.getTopic()};
        into.credit = root.getCredit();
        codec::take(into.group_name, root.getGroupName());
        return {};
      });
}

void encode(frame_writer& to, const credit& from) {
  codec::write_any<schema::Credit>(to, credit::kind, [&](schema::Credit::Builder root) {
    root.setSubscription(from.subscription.value);
    root.setMessages(from.messages);
  });
}

result<void> decode(const frame& from, credit& into) {
  return codec::read_root<schema::Credit>(from, credit::kind,
                                          [&](schema::Credit::Reader root) -> result<void> {
                                            into.subscription = {root.getSubscription()};
                                            into.messages = root.getMessages();
                                            return {};
                                          });
}

void encode(frame_writer& to, const unsubscribe& from) {
  codec::write_any<schema::Unsubscribe>(to, unsubscribe::kind,
                                        [&](schema::Unsubscribe::Builder root) {
                                          root.setCorrelation(from.id.value);
                                          root.setSubscription(from.subscription.value);
                                        });
}

result<void> decode(const frame& from, unsubscribe& into) {
  return codec::read_root<schema::Unsubscribe>(
      from, unsubscribe::kind, [&](schema::Unsubscribe::Reader root) -> result<void> {
        into.id = {root.getCorrelation()};
        into.subscription = {root.getSubscription()};
        return {};
      });
}

void encode(frame_writer& to, const read_queues& from) {
  codec::write_any<schema::ReadQueues>(
      to, read_queues::kind, [&](schema::ReadQueues::Builder root) {
        root.setCorrelation(from.id.value);
        root.setTopic(from.topic.value);
        root.setMessagesMax(from.messages_max);
        root.setBytesMax(from.bytes_max);
        root.setWaitMs(from.wait_ms);
        root.setFilter(static_cast<std::uint8_t>(from.filter));
        if (!from.expression.empty())
          root.setExpression(codec::text(from.expression));
        codec::put_places(root.initPlaces(static_cast<unsigned>(from.places.size())), from.places);
      });
}

result<void> decode(const frame& from, read_queues& into) {
  return codec::read_root<schema::ReadQueues>(
      from, read_queues::kind, [&](schema::ReadQueues::Reader root) -> result<void> {
        if (!codec::valid_filter(root.getFilter()))
          return codec::bad(read_queues::kind, "filter out of range");
        into.id = {root.getCorrelation()};
        into.topic = {root.getTopic()};
        into.messages_max = root.getMessagesMax();
        into.bytes_max = root.getBytesMax();
        into.wait_ms = root.getWaitMs();
        into.filter = static_cast<filter_kind>(root.getFilter());
        codec::take(into.expression, root.getExpression());
        codec::take_places(root.getPlaces(), into.places);
        return {};
      });
}

namespace {

template <class Message>
void put_request(schema::StartRequest::Builder root, const Message& from) {
  root.setCorrelation(from.id.value);
  root.setTopic(from.topic.value);
  root.setOneQueue(from.one_queue);
  root.setQueue(from.queue.value);
  codec::put_start(root, from.point);
}

template <class Message>
result<void> take_request(schema::StartRequest::Reader root, Message& into) {
  if (!codec::take_start(root, into.point))
    return codec::bad(Message::kind, "start out of range");
  into.id = {root.getCorrelation()};
  into.topic = {root.getTopic()};
  into.one_queue = root.getOneQueue();
  into.queue = {root.getQueue()};
  return {};
}

} // namespace

void encode(frame_writer& to, const find_offsets& from) {
  codec::write_any<schema::StartRequest>(
      to, find_offsets::kind, [&](schema::StartRequest::Builder root) { put_request(root, from); });
}

result<void> decode(const frame& from, find_offsets& into) {
  return codec::read_root<schema::StartRequest>(
      from, find_offsets::kind,
      [&](schema::StartRequest::Reader root) { return take_request(root, into); });
}

void encode(frame_writer& to, const reset_progress& from) {
  codec::write_any<schema::StartRequest>(to, reset_progress::kind,
                                         [&](schema::StartRequest::Builder root) {
                                           put_request(root, from);
                                           root.setGroup(codec::text(from.group));
                                         });
}

result<void> decode(const frame& from, reset_progress& into) {
  return codec::read_root<schema::StartRequest>(from, reset_progress::kind,
                                                [&](schema::StartRequest::Reader root) {
                                                  codec::take(into.group, root.getGroup());
                                                  return take_request(root, into);
                                                });
}

void encode(frame_writer& to, const offsets& from) {
  codec::write_any<schema::Offsets>(to, offsets::kind, [&](schema::Offsets::Builder root) {
    root.setCorrelation(from.id.value);
    auto entries = root.initEntries(static_cast<unsigned>(from.items.size()));
    for (unsigned i = 0; i < entries.size(); ++i) {
      entries[i].setQueue(from.items[i].queue.value);
      entries[i].setOffset(from.items[i].offset.value);
      entries[i].setFirst(from.items[i].first.value);
      entries[i].setEnd(from.items[i].end.value);
    }
  });
}

result<void> decode(const frame& from, offsets& into) {
  return codec::read_root<schema::Offsets>(from, offsets::kind,
                                           [&](schema::Offsets::Reader root) -> result<void> {
                                             into.id = {root.getCorrelation()};
                                             auto entries = root.getEntries();
                                             into.items.resize(entries.size());
                                             for (unsigned i = 0; i < entries.size(); ++i)
                                               into.items[i] = {{entries[i].getQueue()},
                                                                {entries[i].getOffset()},
                                                                {entries[i].getFirst()},
                                                                {entries[i].getEnd()}};
                                             return {};
                                           });
}

} // namespace handfast::native
