#include "messages/native/codec_support.hpp"

namespace handfast::native {

namespace schema = native_schema;

namespace {

void put_options(schema::TopicOptions::Builder to, const attributes& from) {
  to.setRetentionMs(from.retention_ms);
  to.setRetentionBytes(from.retention_bytes);
  to.setTransactionTimeoutMs(from.transaction_timeout_ms);
  to.setCheckIntervalMs(from.check_interval_ms);
  to.setCheckMax(from.check_max);
  to.setBuffered(from.buffered);
}

attributes options_of(schema::TopicOptions::Reader from) {
  attributes options;
  options.retention_ms = from.getRetentionMs();
  options.retention_bytes = from.getRetentionBytes();
  options.transaction_timeout_ms = from.getTransactionTimeoutMs();
  options.check_interval_ms = from.getCheckIntervalMs();
  options.check_max = from.getCheckMax();
  options.buffered = from.getBuffered();
  return options;
}

void write_ask(frame_writer& to, frame_kind kind, correlation id, std::uint32_t items_max,
               const std::string& after) {
  codec::write_any<schema::Ask>(to, kind, [&](schema::Ask::Builder root) {
    root.setCorrelation(id.value);
    root.setItemsMax(items_max);
    if (!after.empty())
      root.setAfter(codec::text(after));
  });
}

result<void> read_ask(const frame& from, frame_kind kind, correlation& id, std::uint32_t* items_max,
                      std::string* after) {
  return codec::read_root<schema::Ask>(from, kind, [&](schema::Ask::Reader root) -> result<void> {
    id = {root.getCorrelation()};
    if (items_max)
      *items_max = root.getItemsMax();
    if (after)
      codec::take(*after, root.getAfter());
    return {};
  });
}

} // namespace

void encode(frame_writer& to, const topic_create& from) {
  codec::write_any<schema::TopicRequest>(to, topic_create::kind,
                                         [&](schema::TopicRequest::Builder root) {
                                           root.setCorrelation(from.id.value);
                                           root.setQueues(from.queues);
                                           root.setName(codec::text(from.name));
                                           put_options(root.initOptions(), from.options);
                                         });
}

result<void> decode(const frame& from, topic_create& into) {
  return codec::read_root<schema::TopicRequest>(
      from, topic_create::kind, [&](schema::TopicRequest::Reader root) -> result<void> {
        into.id = {root.getCorrelation()};
        into.queues = root.getQueues();
        codec::take(into.name, root.getName());
        into.options = options_of(root.getOptions());
        return {};
      });
}

void encode(frame_writer& to, const topic_show& from) {
  codec::write_any<schema::TopicRequest>(to, topic_show::kind,
                                         [&](schema::TopicRequest::Builder root) {
                                           root.setCorrelation(from.id.value);
                                           root.setName(codec::text(from.name));
                                         });
}

result<void> decode(const frame& from, topic_show& into) {
  return codec::read_root<schema::TopicRequest>(
      from, topic_show::kind, [&](schema::TopicRequest::Reader root) -> result<void> {
        into.id = {root.getCorrelation()};
        codec::take(into.name, root.getName());
        return {};
      });
}

void encode(frame_writer& to, const topic_delete& from) {
  codec::write_any<schema::TopicRequest>(to, topic_delete::kind,
                                         [&](schema::TopicRequest::Builder root) {
                                           root.setCorrelation(from.id.value);
                                           root.setForce(from.force);
                                           root.setName(codec::text(from.name));
                                         });
}

result<void> decode(const frame& from, topic_delete& into) {
  return codec::read_root<schema::TopicRequest>(
      from, topic_delete::kind, [&](schema::TopicRequest::Reader root) -> result<void> {
        into.id = {root.getCorrelation()};
        into.force = root.getForce();
        codec::take(into.name, root.getName());
        return {};
      });
}

void encode(frame_writer& to, const topic_list& from) {
  write_ask(to, topic_list::kind, from.id, from.items_max, from.after);
}
result<void> decode(const frame& from, topic_list& into) {
  return read_ask(from, topic_list::kind, into.id, &into.items_max, &into.after);
}

void encode(frame_writer& to, const group_list& from) {
  write_ask(to, group_list::kind, from.id, from.items_max, from.after);
}
result<void> decode(const frame& from, group_list& into) {
  return read_ask(from, group_list::kind, into.id, &into.items_max, &into.after);
}

void encode(frame_writer& to, const status& from) {
  write_ask(to, status::kind, from.id, 0, {});
}
result<void> decode(const frame& from, status& into) {
  return read_ask(from, status::kind, into.id, nullptr, nullptr);
}

void encode(frame_writer& to, const quarantine_list& from) {
  write_ask(to, quarantine_list::kind, from.id, from.items_max, {});
}
result<void> decode(const frame& from, quarantine_list& into) {
  return read_ask(from, quarantine_list::kind, into.id, &into.items_max, nullptr);
}

void encode(frame_writer& to, const topics& from) {
  codec::write_any<schema::Topics>(to, topics::kind, [&](schema::Topics::Builder root) {
    root.setCorrelation(from.id.value);
    root.setMore(from.more);
    auto items = root.initItems(static_cast<unsigned>(from.items.size()));
    for (unsigned i = 0; i < items.size(); ++i) {
      const auto& item = from.items[i];
      items[i].setTopic(item.info.id.value);
      items[i].setQueues(item.info.queues);
      items[i].setReadOnly(item.info.read_only);
      items[i].setName(codec::text(item.info.name));
      put_options(items[i].initOptions(), item.info.options);
      auto queues = items[i].initPerQueue(static_cast<unsigned>(item.queues.size()));
      for (unsigned q = 0; q < queues.size(); ++q) {
        queues[q].setQueue(item.queues[q].queue.value);
        queues[q].setFirst(item.queues[q].first.value);
        queues[q].setEnd(item.queues[q].end.value);
      }
    }
  });
}

result<void> decode(const frame& from, topics& into) {
  return codec::read_root<schema::Topics>(
      from, topics::kind, [&](schema::Topics::Reader root) -> result<void> {
        into.id = {root.getCorrelation()};
        into.more = root.getMore();
        into.items.clear();
        for (auto from_item : root.getItems()) {
          auto& item = into.items.emplace_back();
          item.info.id = {from_item.getTopic()};
          item.info.queues = from_item.getQueues();
          item.info.read_only = from_item.getReadOnly();
          codec::take(item.info.name, from_item.getName());
          item.info.options = options_of(from_item.getOptions());
          for (auto queue : from_item.getPerQueue())
            item.queues.push_back({{queue.getQueue()}, {queue.getFirst()}, {queue.getEnd()}});
        }
        return {};
      });
}

void encode(frame_writer& to, const groups& from) {
  codec::write_any<schema::Groups>(to, groups::kind, [&](schema::Groups::Builder root) {
    root.setCorrelation(from.id.value);
    root.setMore(from.more);
    auto items = root.initItems(static_cast<unsigned>(from.items.size()));
    for (unsigned i = 0; i < items.size(); ++i) {
      const auto& item = from.items[i];
      items[i].setGroup(item.group.value);
      items[i].setProducers(item.producers);
      items[i].setConsumers(item.consumers);
      items[i].setName(codec::text(item.name));
      auto progress = items[i].initProgress(static_cast<unsigned>(item.progress.size()));
      for (unsigned q = 0; q < progress.size(); ++q) {
        progress[q].setDone(item.progress[q].done.value);
        progress[q].setEnd(item.progress[q].end.value);
        progress[q].setLeased(item.progress[q].leased);
        progress[q].setQueue(item.progress[q].queue.value);
        progress[q].setTopic(codec::text(item.progress[q].topic));
      }
    }
  });
}

result<void> decode(const frame& from, groups& into) {
  return codec::read_root<schema::Groups>(from, groups::kind,
                                          [&](schema::Groups::Reader root) -> result<void> {
                                            into.id = {root.getCorrelation()};
                                            into.more = root.getMore();
                                            into.items.clear();
                                            for (auto from_item : root.getItems()) {
                                              auto& item = into.items.emplace_back();
                                              item.group = {from_item.getGroup()};
                                              item.producers = from_item.getProducers();
                                              item.consumers = from_item.getConsumers();
                                              codec::take(item.name, from_item.getName());
                                              for (auto queue : from_item.getProgress()) {
                                                auto& progress = item.progress.emplace_back();
                                                codec::take(progress.topic, queue.getTopic());
                                                progress.queue = {queue.getQueue()};
                                                progress.done = {queue.getDone()};
                                                progress.end = {queue.getEnd()};
                                                progress.leased = queue.getLeased();
                                              }
                                            }
                                            return {};
                                          });
}

void encode(frame_writer& to, const status_report& from) {
  codec::write_any<schema::StatusReport>(to, status_report::kind,
                                         [&](schema::StatusReport::Builder root) {
                                           root.setCorrelation(from.id.value);
                                           root.setJson(codec::text(from.json));
                                         });
}

result<void> decode(const frame& from, status_report& into) {
  return codec::read_root<schema::StatusReport>(
      from, status_report::kind, [&](schema::StatusReport::Reader root) -> result<void> {
        into.id = {root.getCorrelation()};
        codec::take(into.json, root.getJson());
        return {};
      });
}

void encode(frame_writer& to, const quarantine_page& from) {
  codec::write_any<schema::QuarantinePage>(
      to, quarantine_page::kind, [&](schema::QuarantinePage::Builder root) {
        root.setCorrelation(from.id.value);
        auto items = root.initItems(static_cast<unsigned>(from.items.size()));
        for (unsigned i = 0; i < items.size(); ++i) {
          items[i].setPosition(from.items[i].at.value);
          items[i].setOpenedAt(from.items[i].transaction.opened_at.value);
          items[i].setCheck(from.items[i].transaction.check);
          items[i].setWhat(codec::text(from.items[i].what));
          items[i].setWhy(codec::text(from.items[i].why));
        }
      });
}

result<void> decode(const frame& from, quarantine_page& into) {
  return codec::read_root<schema::QuarantinePage>(
      from, quarantine_page::kind, [&](schema::QuarantinePage::Reader root) -> result<void> {
        into.id = {root.getCorrelation()};
        into.items.clear();
        for (auto from_item : root.getItems()) {
          auto& item = into.items.emplace_back();
          item.at = {from_item.getPosition()};
          item.transaction = codec::id_of(from_item.getOpenedAt(), from_item.getCheck());
          codec::take(item.what, from_item.getWhat());
          codec::take(item.why, from_item.getWhy());
        }
        return {};
      });
}

} // namespace handfast::native
