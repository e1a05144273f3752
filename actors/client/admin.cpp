#include "actors/client/admin.hpp"

#include "actors/client/calls.hpp"
#include "actors/client/deliveries.hpp"

#include <algorithm>

namespace handfast::client {

namespace {

/// A request whose answer is `done`, or which must not be repeated since a repeat would be answered
/// differently.
template <class Make>
request once(Make make) {
  auto r = single_request(std::move(make));
  r.resend = false;
  return r;
}

/// The only item of a page.
template <class Item, class Page>
answer<Item> only_item(session& via, request what) {
  auto got = call<Page>(via, std::move(what), [](Page page) { return std::move(page.items); });
  if (!got)
    return got.is_refused() ? answer<Item>{refused{got.why()}} : answer<Item>{unknown{got.why()}};
  if (got->empty())
    return error{ec::internal, "an empty answer"};
  return std::move(got).value().front();
}

answer<decision> decide(session& via, const transaction_id& id, outcome wanted) {
  return decision_of(wait_for(via, deciding_request({}, id, wanted, origin::admin, 0)));
}

} // namespace

answer<native::topic_item> admin::create_topic(std::string name, std::uint32_t queues,
                                               attributes options) {
  return only_item<native::topic_item, native::topics>(
      *session_, single_request([=](const addressing& with) {
        return native::topic_create{with.id, name, queues, options};
      }));
}

answer<std::vector<native::topic_item>> admin::topics() {
  std::vector<native::topic_item> all;
  std::string after;
  for (;;) {
    auto page = call<native::topics>(*session_, single_request([after](const addressing& with) {
      return native::topic_list{with.id, after, 500};
    }),
                                     [](native::topics got) { return got; });
    if (!page)
      return page.why();
    for (const auto& item : page->items)
      all.push_back(item);
    if (!page->more || page->items.empty())
      return all;
    after = page->items.back().info.name;
  }
}

answer<native::topic_item> admin::topic(std::string name) {
  return only_item<native::topic_item, native::topics>(
      *session_, single_request([name](const addressing& with) {
        return native::topic_show{with.id, name};
      }));
}

answer<nothing> admin::delete_topic(std::string name, bool force) {
  return call<native::done>(*session_, once([=](const addressing& with) {
    return native::topic_delete{with.id, name, force};
  }),
                            [](const native::done&) { return nothing{}; });
}

answer<std::vector<native::transaction_info>> admin::transactions(transaction_filter filter,
                                                                  std::size_t max) {
  std::vector<native::transaction_info> all;
  position after;
  while (all.size() < max) {
    auto count = static_cast<std::uint32_t>(std::min(max - all.size(), limits::page_items_max));
    auto page = call<native::transactions>(*session_, single_request([=](const addressing& with) {
      return native::list_transactions{with.id,      filter.state, filter.group,
                                       filter.topic, after,        count};
    }),
                                           [](native::transactions got) { return got; });
    if (!page)
      return page.why();
    for (const auto& item : page->items)
      all.push_back(item);
    if (!page->more || page->items.empty())
      break;
    after = page->items.back().life.id.opened_at;
  }
  return all;
}

answer<native::transaction_info> admin::transaction(const transaction_id& id) {
  return only_item<native::transaction_info, native::transactions>(
      *session_, single_request([id](const addressing& with) {
        return native::query_transaction{with.id, id};
      }));
}

answer<decision> admin::commit(const transaction_id& id) {
  return decide(*session_, id, outcome::committed);
}

answer<decision> admin::rollback(const transaction_id& id) {
  return decide(*session_, id, outcome::rolled_back);
}

answer<transaction_id> admin::reopen(const transaction_id& id) {
  return call<native::reopened>(*session_, once([id](const addressing& with) {
    return native::reopen{with.id, id};
  }),
                                [](const native::reopened& got) { return got.new_id; });
}

answer<std::vector<native::delayed_item>> admin::delayed(std::string topic, std::size_t max) {
  std::vector<native::delayed_item> all;
  native::list_delayed next{{}, std::move(topic), 0, {}, 0};
  while (all.size() < max) {
    next.items_max = static_cast<std::uint32_t>(std::min(max - all.size(), limits::page_items_max));
    auto page =
        call<native::delayed_page>(*session_, single_request([next](const addressing& with) {
          auto ask = next;
          ask.id = with.id;
          return ask;
        }),
                                   [](native::delayed_page got) { return got; });
    if (!page)
      return page.why();
    all.insert(all.end(), page->items.begin(), page->items.end());
    if (!page->more || page->items.empty())
      break;
    next.after_due_ms = all.back().due_ms;
    next.after_at = all.back().at;
  }
  return all;
}

answer<nothing> admin::cancel_delayed(position at) {
  return call<native::done>(*session_, once([at](const addressing& with) {
    return native::cancel_delayed{with.id, at};
  }),
                            [](const native::done&) { return nothing{}; });
}

answer<std::string> admin::status() {
  return call<native::status_report>(
      *session_, single_request([](const addressing& with) { return native::status{with.id}; }),
      [](native::status_report got) { return std::move(got.json); });
}

answer<std::vector<native::group_item>> admin::groups() {
  std::vector<native::group_item> all;
  std::string after;
  for (;;) {
    auto page = call<native::groups>(*session_, single_request([after](const addressing& with) {
      return native::group_list{with.id, after, 500};
    }),
                                     [](native::groups got) { return got; });
    if (!page)
      return page.why();
    all.insert(all.end(), page->items.begin(), page->items.end());
    if (!page->more || page->items.empty())
      return all;
    after = page->items.back().name;
  }
}

answer<native::group_description> admin::group(std::string name) {
  return call<native::group_description>(*session_, single_request([name](const addressing& with) {
    return native::group_show{with.id, name};
  }),
                                         [](native::group_description got) { return got; });
}

answer<nothing> admin::set_group(std::string name, std::uint16_t delivery_max) {
  return call<native::done>(*session_, single_request([=](const addressing& with) {
    return native::group_set{with.id, name, delivery_max};
  }),
                            [](const native::done&) { return nothing{}; });
}

answer<nothing> admin::delete_group(std::string name) {
  return call<native::done>(*session_, once([name](const addressing& with) {
    return native::group_delete{with.id, name};
  }),
                            [](const native::done&) { return nothing{}; });
}

answer<std::vector<native::found_offset>> admin::reset_group(std::string name, std::string topic,
                                                             start_point point,
                                                             std::optional<queue_no> queue) {
  auto r = single_request([=](const addressing& with) {
    return native::reset_progress{
        with.id, name, with.topic, queue.has_value(), queue.value_or(queue_no{}), point};
  });
  r.topic = topic;
  return call<native::offsets>(*session_, std::move(r),
                               [](native::offsets got) { return std::move(got.items); });
}

answer<std::vector<native::found_offset>> admin::find_offsets(std::string topic,
                                                              start_point point) {
  auto r = single_request([point](const addressing& with) {
    return native::find_offsets{with.id, with.topic, false, {}, point};
  });
  r.topic = topic;
  return call<native::offsets>(*session_, std::move(r),
                               [](native::offsets got) { return std::move(got.items); });
}

answer<std::vector<quarantined_item>> admin::quarantine(std::uint32_t max) {
  return call<native::quarantine_page>(
      *session_, single_request([max](const addressing& with) {
        return native::quarantine_list{with.id, max};
      }),
      [](native::quarantine_page got) { return std::move(got.items); });
}

answer<std::vector<received_message>> admin::peek(std::string topic, queue_no queue,
                                                  queue_offset from, std::uint32_t max) {
  auto r = single_request([=](const addressing& with) {
    return native::read_view{with.id, with.topic, queue, from, max};
  });
  r.topic = topic;
  return call<native::delivered>(*session_, std::move(r), [&](const native::delivered& got) {
    return messages_of(got, topic, clock::now());
  });
}

} // namespace handfast::client
