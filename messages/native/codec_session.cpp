#include "messages/native/codec_support.hpp"

namespace handfast::native {

namespace schema = native_schema;

void encode(frame_writer& to, const hello& from) {
  codec::write_any<schema::Hello>(to, hello::kind, [&](schema::Hello::Builder root) {
    root.setProducer(from.producer.value);
    root.setCredit(from.credit);
    root.setVersion(from.version);
    root.setLibrary(codec::text(from.library));
    root.setLibraryVersion(codec::text(from.library_version));
    root.setClient(codec::text(from.client));
    root.setMechanism(codec::text(from.mechanism));
    root.setCredentials(
        {reinterpret_cast<const kj::byte*>(from.credentials.data()), from.credentials.size()});
  });
}

result<void> decode(const frame& from, hello& into) {
  return codec::read_root<schema::Hello>(
      from, hello::kind, [&](schema::Hello::Reader root) -> result<void> {
        into.producer = {root.getProducer()};
        into.credit = root.getCredit();
        into.version = root.getVersion();
        codec::take(into.library, root.getLibrary());
        codec::take(into.library_version, root.getLibraryVersion());
        codec::take(into.client, root.getClient());
        codec::take(into.mechanism, root.getMechanism());
        auto credentials = root.getCredentials();
        into.credentials.assign(reinterpret_cast<const char*>(credentials.begin()),
                                credentials.size());
        return {};
      });
}

void encode(frame_writer& to, const welcome& from) {
  codec::write_any<schema::Welcome>(to, welcome::kind, [&](schema::Welcome::Builder root) {
    root.setStoreId(from.store_id);
    root.setCredit(from.credit);
    root.setCreditBytes(from.credit_bytes);
    root.setFrameMax(from.frame_max);
    root.setBodyMax(from.body_max);
    root.setVersion(from.version);
    root.setNode(codec::text(from.node));
    root.setNodeVersion(codec::text(from.node_version));
  });
}

result<void> decode(const frame& from, welcome& into) {
  return codec::read_root<schema::Welcome>(from, welcome::kind,
                                           [&](schema::Welcome::Reader root) -> result<void> {
                                             into.store_id = root.getStoreId();
                                             into.credit = root.getCredit();
                                             into.credit_bytes = root.getCreditBytes();
                                             into.frame_max = root.getFrameMax();
                                             into.body_max = root.getBodyMax();
                                             into.version = root.getVersion();
                                             codec::take(into.node, root.getNode());
                                             codec::take(into.node_version, root.getNodeVersion());
                                             return {};
                                           });
}

namespace {

void write_notice(frame_writer& to, frame_kind kind, correlation id, ec code,
                  const std::string& detail) {
  codec::write_any<schema::Notice>(to, kind, [&](schema::Notice::Builder root) {
    root.setCorrelation(id.value);
    root.setCode(static_cast<std::uint16_t>(code));
    if (!detail.empty())
      root.setDetail(codec::text(detail));
  });
}

result<void> read_notice(const frame& from, frame_kind kind, correlation* id, ec* code,
                         std::string* detail) {
  return codec::read_root<schema::Notice>(from, kind,
                                          [&](schema::Notice::Reader root) -> result<void> {
                                            if (id)
                                              *id = {root.getCorrelation()};
                                            if (code)
                                              *code = ec_from_wire(root.getCode());
                                            if (detail)
                                              codec::take(*detail, root.getDetail());
                                            return {};
                                          });
}

} // namespace

void encode(frame_writer& to, const closing& from) {
  write_notice(to, closing::kind, {}, from.code, from.detail);
}
result<void> decode(const frame& from, closing& into) {
  return read_notice(from, closing::kind, nullptr, &into.code, &into.detail);
}

void encode(frame_writer& to, const goodbye&) {
  write_notice(to, goodbye::kind, {}, ec::ok, {});
}
result<void> decode(const frame& from, goodbye&) {
  return read_notice(from, goodbye::kind, nullptr, nullptr, nullptr);
}

void encode(frame_writer& to, const refused& from) {
  write_notice(to, refused::kind, from.id, from.code, from.detail);
}
result<void> decode(const frame& from, refused& into) {
  return read_notice(from, refused::kind, &into.id, &into.code, &into.detail);
}

void encode(frame_writer& to, const done& from) {
  write_notice(to, done::kind, from.id, ec::ok, {});
}
result<void> decode(const frame& from, done& into) {
  return read_notice(from, done::kind, &into.id, nullptr, nullptr);
}

void encode(frame_writer& to, const resolve_topic& from) {
  codec::write_any<schema::ResolveTopic>(to, resolve_topic::kind,
                                         [&](schema::ResolveTopic::Builder root) {
                                           root.setCorrelation(from.id.value);
                                           root.setCreate(from.create);
                                           root.setName(codec::text(from.name));
                                         });
}

result<void> decode(const frame& from, resolve_topic& into) {
  return codec::read_root<schema::ResolveTopic>(
      from, resolve_topic::kind, [&](schema::ResolveTopic::Reader root) -> result<void> {
        into.id = {root.getCorrelation()};
        into.create = root.getCreate();
        codec::take(into.name, root.getName());
        return {};
      });
}

void encode(frame_writer& to, const topic_resolved& from) {
  codec::write_any<schema::TopicResolved>(to, topic_resolved::kind,
                                          [&](schema::TopicResolved::Builder root) {
                                            root.setCorrelation(from.id.value);
                                            root.setTopic(from.topic.value);
                                            root.setQueues(from.queues);
                                            root.setCode(static_cast<std::uint16_t>(from.code));
                                            root.setDetail(codec::text(from.detail));
                                          });
}

result<void> decode(const frame& from, topic_resolved& into) {
  return codec::read_root<schema::TopicResolved>(
      from, topic_resolved::kind, [&](schema::TopicResolved::Reader root) -> result<void> {
        into.id = {root.getCorrelation()};
        into.topic = {root.getTopic()};
        into.queues = root.getQueues();
        into.code = ec_from_wire(root.getCode());
        codec::take(into.detail, root.getDetail());
        return {};
      });
}

void encode(frame_writer& to, const join_producer_group& from) {
  codec::write_any<schema::JoinProducerGroup>(
      to, join_producer_group::kind, [&](schema::JoinProducerGroup::Builder root) {
        root.setCorrelation(from.id.value);
        root.setSession(from.session);
        root.setGroup(codec::text(from.group));
        auto topics = root.initTopics(static_cast<unsigned>(from.topics.size()));
        for (unsigned i = 0; i < topics.size(); ++i)
          topics.set(i, codec::text(from.topics[i]));
      });
}

result<void> decode(const frame& from, join_producer_group& into) {
  return codec::read_root<schema::JoinProducerGroup>(
      from, join_producer_group::kind, [&](schema::JoinProducerGroup::Reader root) -> result<void> {
        into.id = {root.getCorrelation()};
        into.session = root.getSession();
        codec::take(into.group, root.getGroup());
        auto topics = root.getTopics();
        into.topics.resize(topics.size());
        for (unsigned i = 0; i < topics.size(); ++i)
          codec::take(into.topics[i], topics[i]);
        return {};
      });
}

void encode(frame_writer& to, const group_joined& from) {
  codec::write_any<schema::GroupJoined>(to, group_joined::kind,
                                        [&](schema::GroupJoined::Builder root) {
                                          root.setCorrelation(from.id.value);
                                          root.setGroup(from.group.value);
                                          root.setCode(static_cast<std::uint16_t>(from.code));
                                          root.setDetail(codec::text(from.detail));
                                        });
}

result<void> decode(const frame& from, group_joined& into) {
  return codec::read_root<schema::GroupJoined>(
      from, group_joined::kind, [&](schema::GroupJoined::Reader root) -> result<void> {
        into.id = {root.getCorrelation()};
        into.group = {root.getGroup()};
        into.code = ec_from_wire(root.getCode());
        codec::take(into.detail, root.getDetail());
        return {};
      });
}

void encode(frame_writer& to, const leave_producer_group& from) {
  codec::write_any<schema::LeaveProducerGroup>(to, leave_producer_group::kind,
                                               [&](schema::LeaveProducerGroup::Builder root) {
                                                 root.setCorrelation(from.id.value);
                                                 root.setGroup(from.group.value);
                                               });
}

result<void> decode(const frame& from, leave_producer_group& into) {
  return codec::read_root<schema::LeaveProducerGroup>(
      from, leave_producer_group::kind,
      [&](schema::LeaveProducerGroup::Reader root) -> result<void> {
        into.id = {root.getCorrelation()};
        into.group = {root.getGroup()};
        return {};
      });
}

} // namespace handfast::native
