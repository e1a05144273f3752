#include "tests/support/fake_node.hpp"

#include "messages/native/frame_splitter.hpp"

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/write.hpp>

#include <set>
#include <thread>

namespace handfast::native::test {

using asio::ip::tcp;

struct fake_node::impl {
  struct connection {
    explicit connection(tcp::socket s) : socket{std::move(s)} {}
    tcp::socket socket;
    frame_splitter splitter;
    std::array<std::byte, 32 * 1024> buffer{};
    frame_writer out;
    producer_id producer;
    std::set<group_id> groups;
    correlation subscription; ///< one at a time is enough
    topic_id subscribed_to;
    std::uint32_t credit = 0;
    std::uint32_t unsettled = 0;
  };
  using connection_ptr = std::shared_ptr<connection>;

  struct fault {
    misbehaviour how;
    int left;
  };
  struct refusal {
    ec code;
    std::string detail;
    int left;
  };

  fake_node& node;
  settings how;
  asio::io_context io;
  tcp::acceptor acceptor{io, {asio::ip::address_v4::loopback(), 0}};
  std::set<connection_ptr> connections;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<frame_kind, std::vector<fault>> faults;
  std::map<frame_kind, refusal> refusals;
  std::map<std::string, topic_id> topic_ids;
  std::map<std::string, group_id> group_ids;
  std::map<std::pair<producer_id, sequence_no>, sent_item> known_sends;
  std::map<std::pair<producer_id, sequence_no>, half_stored_item> known_halves;
  std::uint64_t next_position = 4096;
  std::size_t fetched = 0;
  std::thread thread;

  impl(fake_node& n, settings s) : node{n}, how{s} {
    accept();
    thread = std::thread{[this] { io.run(); }};
  }

  void accept() {
    acceptor.async_accept([this](const asio::error_code& error, tcp::socket socket) {
      if (error)
        return;
      auto c = std::make_shared<connection>(std::move(socket));
      connections.insert(c);
      read(c);
      accept();
    });
  }

  void read(const connection_ptr& c) {
    c->socket.async_read_some(
        asio::buffer(c->buffer), [this, c](const asio::error_code& error, std::size_t count) {
          if (error) {
            close(c);
            return;
          }
          c->splitter.feed(shared_bytes::copy_of(std::span{c->buffer.data(), count}));
          take_frames(c);
        });
  }

  void take_frames(const connection_ptr& c) {
    while (connections.contains(c)) {
      auto next = c->splitter.next();
      if (!next)
        return close(c);
      if (!*next)
        break;
      take(c, **next);
      write(c);
      changed.notify_all();
    }
    if (connections.contains(c))
      read(c);
  }

  void write(const connection_ptr& c) {
    asio::error_code ignored;
    c->out.for_each_piece([&](std::span<const std::byte> piece) {
      asio::write(c->socket, asio::buffer(piece.data(), piece.size()), ignored);
    });
    c->out.clear();
  }

  void close(const connection_ptr& c) {
    asio::error_code ignored;
    c->socket.close(ignored);
    connections.erase(c);
    changed.notify_all();
  }

  std::optional<misbehaviour> fault_for(frame_kind kind) {
    auto& list = faults[kind];
    if (list.empty())
      return std::nullopt;
    auto how_now = list.front().how;
    if (--list.front().left == 0)
      list.erase(list.begin());
    return how_now;
  }

  std::optional<refusal> refusal_for(frame_kind kind) {
    auto at = refusals.find(kind);
    if (at == refusals.end() || at->second.left == 0)
      return std::nullopt;
    --at->second.left;
    return at->second;
  }

  void take(const connection_ptr& c, const frame& f) {
    std::lock_guard lock{mutex};
    auto wrong = fault_for(f.header.kind);
    if (wrong == misbehaviour::drop_request)
      return;
    if (wrong != misbehaviour::close_before)
      dispatch(*c, f);
    if (wrong == misbehaviour::drop_answer || wrong == misbehaviour::close_after)
      c->out.clear();
    if (wrong == misbehaviour::close_before || wrong == misbehaviour::close_after)
      close(c);
  }

  template <class Message>
  Message read_as(const frame& f) {
    Message m;
    if (!decode(f, m))
      std::abort(); // the client under test wrote nonsense
    return m;
  }

  void dispatch(connection& c, const frame& f) {
    switch (f.header.kind) {
    case frame_kind::hello:
      return on(c, read_as<hello>(f));
    case frame_kind::goodbye:
      ++node.goodbyes;
      return;
    case frame_kind::resolve_topic:
      return on(c, read_as<resolve_topic>(f));
    case frame_kind::join_producer_group:
      return on(c, read_as<join_producer_group>(f));
    case frame_kind::leave_producer_group:
      ++node.leaves;
      return;
    case frame_kind::send:
      return on(c, read_as<native::send>(f));
    case frame_kind::send_half:
      return on(c, read_as<send_half>(f));
    case frame_kind::decide:
      return on(c, read_as<decide>(f));
    case frame_kind::running: {
      auto r = read_as<native::running>(f);
      node.running.insert(node.running.end(), r.items.begin(), r.items.end());
      return;
    }
    case frame_kind::check_received: {
      auto r = read_as<check_received>(f);
      node.receipts.insert(node.receipts.end(), r.items.begin(), r.items.end());
      return;
    }
    case frame_kind::fetch:
      return on(c, read_as<fetch>(f));
    case frame_kind::acknowledge:
      return on(c, read_as<acknowledge>(f));
    case frame_kind::subscribe:
      return on(c, read_as<subscribe>(f));
    case frame_kind::unsubscribe:
      return on(c, read_as<unsubscribe>(f));
    case frame_kind::find_offsets:
      return on(c, read_as<find_offsets>(f));
    case frame_kind::read_queues:
      return on(c, read_as<read_queues>(f));
    case frame_kind::reset_progress: {
      node.resets.push_back(read_as<reset_progress>(f));
      encode(c.out, offsets{node.resets.back().id, {{{0}, {5}, {}, {}}}});
      return;
    }
    case frame_kind::group_show: {
      const auto asked = read_as<group_show>(f);
      if (asked.name != "readers")
        return encode(c.out, refused{asked.id, ec::unknown_group, "'" + asked.name + "'"});
      return encode(
          c.out,
          group_description{asked.id,
                            {70},
                            asked.name,
                            3,
                            {{"alice", 2, 0}},
                            {{"orders", {0}, {5}, {9}, 2, 1, false}},
                            {{"orders", {delivery_mode::concurrent, filter_kind::tags, "paid"}}}});
    }
    case frame_kind::group_list:
      return encode(c.out, groups{read_as<group_list>(f).id, false, {{{70}, "readers", 0, 1, {}}}});
    case frame_kind::query_transaction:
      return on(c, read_as<query_transaction>(f));
    case frame_kind::topic_list:
      return on(c, read_as<topic_list>(f));
    case frame_kind::topic_show: // it has no topic that people look at
      return encode(c.out, refused{read_as<topic_show>(f).id, ec::unknown_topic, ""});
    case frame_kind::topic_delete:
      return on(c, read_as<topic_delete>(f));
    case frame_kind::list_delayed:
      return on(c, read_as<list_delayed>(f));
    case frame_kind::cancel_delayed:
      return on(c, read_as<cancel_delayed>(f));
    case frame_kind::reopen:
      return on(c, read_as<reopen>(f));
    case frame_kind::status: {
      encode(c.out, status_report{read_as<status>(f).id, R"({"state":"serving"})"});
      return;
    }
    default:
      std::abort(); // not used by these tests
    }
  }

  void on(connection& c, const hello& h) {
    node.hellos.push_back(h);
    c.producer = h.producer;
    welcome w;
    w.node = "fake";
    w.store_id = how.store_id;
    w.credit = how.credit;
    w.credit_bytes = 1 << 20;
    w.frame_max = 8 << 20;
    w.body_max = how.body_max;
    encode(c.out, w);
  }

  void on(connection& c, const resolve_topic& r) {
    if (auto no = refusal_for(frame_kind::resolve_topic))
      return encode(c.out, topic_resolved{r.id, no->code, {}, 0, no->detail});
    if (!r.create && topic_ids.count(r.name) == 0)
      return encode(c.out, topic_resolved{r.id, ec::unknown_topic, {}, 0, "'" + r.name + "'"});
    auto [at, fresh] =
        topic_ids.try_emplace(r.name, topic_id{static_cast<std::uint32_t>(16 + topic_ids.size())});
    encode(c.out, topic_resolved{r.id, ec::ok, at->second, 4, {}});
  }

  void on(connection& c, const join_producer_group& j) {
    node.joins.push_back(j);
    if (auto no = refusal_for(frame_kind::join_producer_group))
      return encode(c.out, group_joined{j.id, no->code, {}, no->detail});
    auto [at, fresh] =
        group_ids.try_emplace(j.group, group_id{static_cast<std::uint32_t>(50 + group_ids.size())});
    c.groups.insert(at->second);
    encode(c.out, group_joined{j.id, ec::ok, at->second, {}});
  }

  position take_position() { return {next_position += 8}; }

  void on(connection& c, const native::send& s) {
    ++node.send_frames;
    node.most_in_one_frame = std::max(node.most_in_one_frame, s.items.size());
    sent answer;
    for (const auto& item : s.items) {
      node.sends.push_back(item);
      if (auto no = refusal_for(frame_kind::send)) {
        answer.items.push_back({item.id, no->code, {}, {}, {}, {}});
        answer.details.push_back({item.id, no->detail});
        continue;
      }
      auto [at, fresh] = known_sends.try_emplace({c.producer, item.sequence});
      if (fresh && item.delay_ms != 0) {
        const auto due = item.born_ms + item.delay_ms;
        at->second = {item.id, ec::ok, take_position(), item.topic, {0}, {}, due};
        node.delayed.push_back({at->second.at, {}, due, 100, {0}, "orders"});
      } else if (fresh) {
        at->second = {item.id, ec::ok, take_position(), item.topic, {0}, {node.visible.size()}};
        node.visible.push_back(item);
      }
      answer.items.push_back(at->second);
      answer.items.back().id = item.id;
    }
    encode(c.out, answer);
    push(c); // a client that subscribes over the connection by which it sends
  }

  void on(connection& c, const send_half& s) {
    half_stored answer;
    for (const auto& item : s.items) {
      node.halves.push_back(item);
      if (auto no = refusal_for(frame_kind::send_half)) {
        answer.items.push_back({item.id, no->code, {}, {}, {}});
        answer.details.push_back({item.id, no->detail});
        continue;
      }
      auto [at, fresh] = known_halves.try_emplace({c.producer, item.sequence});
      if (fresh)
        at->second = {item.id, ec::ok, store_half(item), {1}, {0}};
      answer.items.push_back(at->second);
      answer.items.back().id = item.id;
    }
    encode(c.out, answer);
  }

  transaction_id store_half(const send_item& item) {
    if (auto at = node.transactions.find(item.transaction); at != node.transactions.end()) {
      ++at->second.messages;
      at->second.joined.push_back(item);
      return item.transaction;
    }
    transaction_id id{take_position(), 77};
    node.transactions[id].item = item;
    return id;
  }

  decided_item decide_one(const decide_item& item) {
    decided_item result;
    result.id = item.id;
    result.transaction = item.transaction;
    result.by = item.by;
    auto at = node.transactions.find(item.transaction);
    if (at == node.transactions.end()) {
      result.code = ec::unknown_transaction;
      return result;
    }
    auto& t = at->second;
    if (t.recorded == outcome::pending && item.wanted == outcome::committed && item.messages != 0 &&
        item.messages != t.messages)
      result.code = ec::incomplete;
    else if (t.recorded == outcome::pending)
      t.recorded = item.wanted;
    else if (t.recorded != item.wanted)
      result.code =
          t.recorded == outcome::committed ? ec::conflict_committed : ec::conflict_rolled_back;
    result.recorded = t.recorded;
    result.messages = static_cast<std::uint16_t>(t.messages);
    return result;
  }

  void on(connection& c, const decide& d) {
    decided answer;
    for (const auto& item : d.items) {
      node.decides.push_back(item);
      if (auto no = refusal_for(frame_kind::decide)) {
        answer.items.push_back({item.id, no->code, item.transaction, {}, {}, 0, {}, {}, {}});
        answer.items.back().by = origin::producer;
        continue;
      }
      auto result = decide_one(item);
      if (item.id != correlation{})
        answer.items.push_back(result);
    }
    if (!answer.items.empty())
      encode(c.out, answer);
  }

  void on(connection& c, const list_delayed& x) {
    delayed_page page{x.id, false, {}};
    for (const auto& item : node.delayed) {
      const bool behind = std::pair{item.due_ms, item.at} > std::pair{x.after_due_ms, x.after_at};
      if (!behind || (!x.topic.empty() && item.topic != x.topic))
        continue;
      page.more = page.items.size() == x.items_max;
      if (page.more)
        break;
      page.items.push_back(item);
    }
    encode(c.out, page);
  }

  void on(connection& c, const cancel_delayed& x) {
    const auto gone = std::erase_if(node.delayed, [&](const auto& d) { return d.at == x.at; });
    if (gone == 0)
      encode(c.out, refused{x.id, ec::unknown_message, {}});
    else
      encode(c.out, done{x.id});
  }

  delivered_item item_of(std::size_t n) {
    const auto& m = node.visible[n];
    delivered_item item;
    item.at = take_position();
    item.topic = m.topic;
    item.offset = {n};
    item.lease = 1000 + n;
    item.born_ms = item.visible_ms = m.born_ms;
    item.properties_size = m.properties_size;
    item.payload = m.payload;
    return item;
  }

  /// Each visible message once, in order; nothing is parked.
  void on(connection& c, const fetch& f) {
    node.fetches.push_back(f);
    delivered d;
    d.id = f.id;
    d.group = {70};
    d.lease_ms = node.lease_ms;
    for (; fetched < node.visible.size() && d.items.size() < f.messages_max; ++fetched)
      d.items.push_back(item_of(fetched));
    encode(c.out, d);
  }

  void on(connection& c, const subscribe& s) {
    node.subscriptions.push_back(s);
    if (auto no = refusal_for(frame_kind::subscribe))
      return encode(c.out, refused{s.id, no->code, no->detail});
    c.subscription = s.id;
    c.subscribed_to = s.topic;
    c.credit = s.credit;
    delivered begun;
    begun.id = s.id;
    begun.group = {70};
    encode(c.out, begun);
    push(c);
  }

  /// What nobody got yet, as far as the credit allows.
  void push(connection& c) {
    delivered d;
    d.id = c.subscription;
    d.group = {70};
    d.lease_ms = node.lease_ms;
    for (; c.subscription != correlation{} && fetched < node.visible.size() && c.credit > 0;
         ++fetched, --c.credit, ++c.unsettled)
      d.items.push_back(item_of(fetched));
    node.pushed_unsettled_max = std::max(node.pushed_unsettled_max, c.unsettled);
    if (!d.items.empty())
      encode(c.out, d);
  }

  void on(connection& c, const unsubscribe& u) {
    node.unsubscribed.push_back(u);
    if (c.subscription == u.subscription)
      c.subscription = {};
    encode(c.out, done{u.id});
  }

  /// One queue of all that is visible.
  void on(connection& c, const find_offsets& x) {
    const auto end = queue_offset{node.visible.size()};
    const auto offset = x.point.from == start_from::latest   ? end
                        : x.point.from == start_from::offset ? queue_offset{x.point.value}
                                                             : queue_offset{};
    encode(c.out, offsets{x.id, {{{0}, offset, {}, end}}});
  }

  void on(connection& c, const read_queues& x) {
    node.queue_reads.push_back(x);
    delivered d;
    d.id = x.id;
    auto at = x.places.at(0).offset.value;
    for (; at < node.visible.size() && d.items.size() < x.messages_max; ++at) {
      d.items.push_back(item_of(at));
      d.items.back().lease = 0;
    }
    if (!d.items.empty())
      d.next = {{{0}, {at}}};
    encode(c.out, d);
  }

  void on(connection& c, const acknowledge& a) {
    std::uint32_t accepted = 0;
    for (const auto& item : a.items) {
      node.acknowledged.push_back(item);
      accepted += item.to == queue_offset{}
                      ? 1
                      : static_cast<std::uint32_t>(item.to.value - item.offset.value);
    }
    encode(c.out, native::acknowledged{a.id, ec::ok, {}, accepted, 0});
    if (a.subscription == correlation{} || a.subscription != c.subscription)
      return;
    c.credit += a.credit;
    c.unsettled -= std::min(c.unsettled, a.credit);
    push(c);
  }

  void on(connection& c, const query_transaction& q) {
    auto at = node.transactions.find(q.transaction);
    if (at == node.transactions.end())
      return encode(c.out, refused{q.id, ec::unknown_transaction, "never opened"});
    native::transactions page;
    page.id = q.id;
    page.items.resize(1);
    page.items[0].life.id = q.transaction;
    page.items[0].life.state = at->second.recorded == outcome::committed
                                   ? transaction_state::committed
                                   : transaction_state::pending;
    encode(c.out, page);
  }

  /// Two topics a page.
  void on(connection& c, const topic_list& l) {
    topics page;
    page.id = l.id;
    for (const auto& [name, id] : topic_ids) {
      if (name <= l.after)
        continue;
      if (page.items.size() == 2) {
        page.more = true;
        break;
      }
      page.items.emplace_back();
      page.items.back().info.name = name;
      page.items.back().info.id = id;
    }
    encode(c.out, page);
  }

  void on(connection& c, const topic_delete& d) {
    if (auto no = refusal_for(frame_kind::topic_delete))
      return encode(c.out, refused{d.id, no->code, no->detail});
    if (topic_ids.erase(d.name) == 0)
      return encode(c.out, refused{d.id, ec::unknown_topic, "'" + d.name + "'"});
    encode(c.out, done{d.id});
  }

  void on(connection& c, const reopen& r) {
    encode(c.out, reopened{r.id, r.transaction, {take_position(), 78}});
  }
};

fake_node::fake_node(settings how) : impl_{std::make_unique<impl>(*this, how)} {}

fake_node::~fake_node() {
  impl_->io.stop();
  impl_->thread.join();
}

std::string fake_node::server() const {
  return "127.0.0.1:" + std::to_string(impl_->acceptor.local_endpoint().port());
}

void fake_node::misbehave(frame_kind kind, misbehaviour how, int count) {
  std::lock_guard lock{impl_->mutex};
  impl_->faults[kind].push_back({how, count});
}

void fake_node::refuse(frame_kind kind, ec code, std::string detail, int count) {
  std::lock_guard lock{impl_->mutex};
  impl_->refusals[kind] = {code, std::move(detail), count};
}

void fake_node::disconnect_all() {
  asio::post(impl_->io, [this] {
    for (const auto& c : std::set{impl_->connections})
      impl_->close(c);
  });
}

void fake_node::push_check(const transaction_id& id, std::uint16_t attempt,
                           std::uint16_t attempts_max) {
  asio::post(impl_->io, [=, this] {
    check c;
    {
      std::lock_guard lock{impl_->mutex};
      const auto& half = transactions.at(id);
      c.items = {{id,
                  half.item.group,
                  half.item.topic,
                  {0},
                  attempt,
                  attempts_max,
                  static_cast<std::uint16_t>(half.messages),
                  1'000,
                  half.item.born_ms,
                  0,
                  half.item.properties_size,
                  half.item.payload}};
      for (const auto& [name, topic] : impl_->topic_ids)
        c.topics.push_back({topic, name});
    }
    for (const auto& connection : impl_->connections) {
      encode(connection->out, c);
      impl_->write(connection);
    }
  });
}

bool fake_node::eventually(std::function<bool()> condition) {
  std::unique_lock lock{impl_->mutex};
  return impl_->changed.wait_for(lock, std::chrono::seconds{5}, condition);
}

} // namespace handfast::native::test
