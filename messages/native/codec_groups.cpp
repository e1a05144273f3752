#include "messages/native/codec_support.hpp"

namespace handfast::native {

namespace schema = native_schema;

namespace {

template <class Message>
void write_request(frame_writer& to, const Message& from, std::uint16_t delivery_max = 0) {
  codec::write_any<schema::GroupRequest>(to, Message::kind,
                                         [&](schema::GroupRequest::Builder root) {
                                           root.setCorrelation(from.id.value);
                                           root.setDeliveryMax(delivery_max);
                                           root.setName(codec::text(from.name));
                                         });
}

template <class Message>
result<void> read_request(const frame& from, Message& into) {
  return codec::read_root<schema::GroupRequest>(
      from, Message::kind, [&](schema::GroupRequest::Reader root) -> result<void> {
        into.id = {root.getCorrelation()};
        codec::take(into.name, root.getName());
        if constexpr (requires { into.delivery_max; })
          into.delivery_max = root.getDeliveryMax();
        return {};
      });
}

void put_place(schema::GroupPlace::Builder to, const group_place& from) {
  to.setBase(from.base.value);
  to.setEnd(from.end.value);
  to.setInFlight(from.in_flight);
  to.setWaitingAgain(from.waiting_again);
  to.setQueue(from.queue.value);
  to.setPaused(from.paused);
  to.setTopic(codec::text(from.topic));
}

void take_place(schema::GroupPlace::Reader from, group_place& into) {
  codec::take(into.topic, from.getTopic());
  into.queue = {from.getQueue()};
  into.base = {from.getBase()};
  into.end = {from.getEnd()};
  into.in_flight = from.getInFlight();
  into.waiting_again = from.getWaitingAgain();
  into.paused = from.getPaused();
}

} // namespace

void encode(frame_writer& to, const group_show& from) {
  write_request(to, from);
}
void encode(frame_writer& to, const group_set& from) {
  write_request(to, from, from.delivery_max);
}
void encode(frame_writer& to, const group_delete& from) {
  write_request(to, from);
}
result<void> decode(const frame& from, group_show& into) {
  return read_request(from, into);
}
result<void> decode(const frame& from, group_set& into) {
  return read_request(from, into);
}
result<void> decode(const frame& from, group_delete& into) {
  return read_request(from, into);
}

void encode(frame_writer& to, const group_description& from) {
  codec::write_any<schema::GroupDescription>(
      to, group_description::kind, [&](schema::GroupDescription::Builder root) {
        root.setCorrelation(from.id.value);
        root.setDeadLetters(from.dead_letters);
        root.setGroup(from.group.value);
        root.setName(codec::text(from.name));
        auto members = root.initMembers(static_cast<unsigned>(from.members.size()));
        for (unsigned i = 0; i < members.size(); ++i) {
          members[i].setName(codec::text(from.members[i].name));
          members[i].setHeld(from.members[i].held);
          members[i].setQueuesHeld(from.members[i].queues_held);
        }
        auto places = root.initPlaces(static_cast<unsigned>(from.places.size()));
        for (unsigned i = 0; i < places.size(); ++i)
          put_place(places[i], from.places[i]);
        auto terms = root.initTerms(static_cast<unsigned>(from.terms.size()));
        for (unsigned i = 0; i < terms.size(); ++i) {
          terms[i].setTopic(codec::text(from.terms[i].topic));
          codec::put_terms(terms[i], from.terms[i].terms);
        }
      });
}

result<void> decode(const frame& from, group_description& into) {
  return codec::read_root<schema::GroupDescription>(
      from, group_description::kind, [&](schema::GroupDescription::Reader root) -> result<void> {
        into.id = {root.getCorrelation()};
        into.group = {root.getGroup()};
        into.dead_letters = root.getDeadLetters();
        codec::take(into.name, root.getName());
        auto members = root.getMembers();
        into.members.resize(members.size());
        for (unsigned i = 0; i < members.size(); ++i) {
          codec::take(into.members[i].name, members[i].getName());
          into.members[i].held = members[i].getHeld();
          into.members[i].queues_held = members[i].getQueuesHeld();
        }
        auto places = root.getPlaces();
        into.places.resize(places.size());
        for (unsigned i = 0; i < places.size(); ++i)
          take_place(places[i], into.places[i]);
        auto terms = root.getTerms();
        into.terms.resize(terms.size());
        for (unsigned i = 0; i < terms.size(); ++i) {
          codec::take(into.terms[i].topic, terms[i].getTopic());
          if (!codec::take_terms(terms[i], into.terms[i].terms))
            return codec::bad(group_description::kind, "mode or filter out of range");
        }
        return {};
      });
}

} // namespace handfast::native
