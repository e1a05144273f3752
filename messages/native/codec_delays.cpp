#include "messages/native/codec_support.hpp"

namespace handfast::native {

namespace schema = native_schema;

void encode(frame_writer& to, const list_delayed& from) {
  codec::write_any<schema::ListDelayed>(to, list_delayed::kind,
                                        [&](schema::ListDelayed::Builder root) {
                                          root.setCorrelation(from.id.value);
                                          root.setAfterDueMs(from.after_due_ms);
                                          root.setAfterPosition(from.after_at.value);
                                          root.setItemsMax(from.items_max);
                                          root.setTopic(codec::text(from.topic));
                                        });
}

result<void> decode(const frame& from, list_delayed& into) {
  return codec::read_root<schema::ListDelayed>(
      from, list_delayed::kind, [&](schema::ListDelayed::Reader root) -> result<void> {
        into.id = {root.getCorrelation()};
        into.after_due_ms = root.getAfterDueMs();
        into.after_at = {root.getAfterPosition()};
        into.items_max = root.getItemsMax();
        codec::take(into.topic, root.getTopic());
        return {};
      });
}

void encode(frame_writer& to, const cancel_delayed& from) {
  codec::write_any<schema::CancelDelayed>(to, cancel_delayed::kind,
                                          [&](schema::CancelDelayed::Builder root) {
                                            root.setCorrelation(from.id.value);
                                            root.setPosition(from.at.value);
                                          });
}

result<void> decode(const frame& from, cancel_delayed& into) {
  return codec::read_root<schema::CancelDelayed>(
      from, cancel_delayed::kind, [&](schema::CancelDelayed::Reader root) -> result<void> {
        into.id = {root.getCorrelation()};
        into.at = {root.getPosition()};
        return {};
      });
}

void encode(frame_writer& to, const delayed_page& from) {
  codec::write_any<schema::DelayedPage>(
      to, delayed_page::kind, [&](schema::DelayedPage::Builder root) {
        root.setCorrelation(from.id.value);
        root.setMore(from.more);
        auto items = root.initItems(static_cast<unsigned>(from.items.size()));
        for (unsigned i = 0; i < items.size(); ++i) {
          const auto& item = from.items[i];
          items[i].setPosition(item.at.value);
          items[i].setDueMs(item.due_ms);
          items[i].setOpenedAt(item.transaction.opened_at.value);
          items[i].setCheck(item.transaction.check);
          items[i].setLength(item.length);
          items[i].setQueue(item.queue.value);
          items[i].setTopic(codec::text(item.topic));
        }
      });
}

result<void> decode(const frame& from, delayed_page& into) {
  return codec::read_root<schema::DelayedPage>(
      from, delayed_page::kind, [&](schema::DelayedPage::Reader root) -> result<void> {
        into.id = {root.getCorrelation()};
        into.more = root.getMore();
        into.items.clear();
        for (auto item : root.getItems()) {
          auto& to = into.items.emplace_back();
          to.at = {item.getPosition()};
          to.due_ms = item.getDueMs();
          to.transaction = codec::id_of(item.getOpenedAt(), item.getCheck());
          to.length = item.getLength();
          to.queue = {item.getQueue()};
          codec::take(to.topic, item.getTopic());
        }
        return {};
      });
}

} // namespace handfast::native
