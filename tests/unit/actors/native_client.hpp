#pragma once

/// A client of the native door in one thread: frames go in as bytes, and the frames that came back
/// are read. The actors behind the connection are probes.

#include "actors/connections/native_connection.hpp"
#include "messages/properties.hpp"
#include "storage/crc32c.hpp"
#include "tests/support/actor_fixture.hpp"

#include <map>
#include <optional>

namespace handfast::test {

/// Keeps what was written; the test plays the socket.
class fake_transport final : public transport {
public:
  void write(shared_bytes bytes) override {
    ++writes;
    written.emplace_back(bytes.text());
  }
  void read_more() override { ++reads_asked; }
  [[nodiscard]] std::size_t unsent() const override { return unsent_bytes; }
  void close() override { closed = true; }
  [[nodiscard]] std::string peer_name() const override { return "127.0.0.1:40000"; }

  std::vector<std::string> written;
  std::size_t writes = 0;
  std::size_t reads_asked = 0;
  std::size_t unsent_bytes = 0;
  bool closed = false;
};

/// Bodies that can be read without a disk.
class fake_records final : public record_source {
public:
  std::optional<log_record> try_read(position at, std::uint32_t) override {
    const auto found = cached.find(at.value);
    return found == cached.end() ? std::nullopt : std::optional{found->second};
  }
  std::map<std::uint64_t, log_record> cached;
};

inline log_record message_record_at(std::uint64_t at, std::string body,
                                    record_type type = record_type::message) {
  message_record m;
  m.topic = topic_id{16};
  m.payload = shared_bytes::copy_of(std::string_view{body});
  log_record record;
  record.type = type;
  record.at = position{at};
  record.length = 100;
  record.content = m;
  return record;
}

/// The fixture of all tests of the native connection.
class native_client : public actor_fixture {
public:
  static constexpr topic_id orders{16};
  static constexpr group_id billing{7};

  native_client() {
    environment.records = &records;
    registry->on<resolve_topic>([this](const resolve_topic& x) { answer_topic(x.id, x.name); });
    registry->on<resolve_group>([this](const resolve_group& x) {
      send(connection, group_resolved{x.id, {}, billing, x.name});
    });
    registry->on<name_ids>([this](const name_ids& x) {
      ids_named named;
      named.id = x.id;
      for (const auto id : x.topics)
        named.topics.emplace_back(id, id == orders ? "orders" : "");
      for (const auto id : x.groups)
        named.groups.emplace_back(id, "billing");
      send(connection, named);
    });
    supervisor->on<find_producer_group>([this](const find_producer_group& x) {
      send(connection,
           producer_group_found{x.group, producers->as<producer_group_actor>(), incarnation{1}});
    });
    supervisor->on<find_consumer_group>([this](const find_consumer_group& x) {
      send(connection,
           consumer_group_found{x.group, consumers->as<consumer_group_actor>(), incarnation{1}});
    });
    supervisor->on<find_queue>([this](const find_queue& x) {
      send(connection, queue_found{x.queue, queue_probe->as<queue_actor>(), incarnation{1}});
    });
    auto made = std::make_shared<native_door>();
    made->node = "test-node";
    made->node_version = "0.1";
    made->store_id = 77;
    door = made;
  }

  void connect() {
    connection = spawn(native_connection, &environment, wire, door);
    tell_peers();
  }

  void tell_peers() {
    auto all = std::make_shared<shard_peers>();
    all->supervisor = {supervisor->as<node_supervisor_actor>(), incarnation{1}};
    all->commit_log = {log->as<commit_log_actor>(), log_life};
    all->log_reader = {reader->as<log_reader_actor>(), reader_life};
    all->half_store = {half_store->as<half_store_actor>(), half_life};
    all->op_store = {op_store->as<op_store_actor>(), incarnation{1}};
    all->delay_scheduler = {delays->as<delay_scheduler_actor>(), delays_life};
    all->topic_registry = {registry->as<topic_registry_actor>(), registry_life};
    send(connection, peers_changed{all});
    run();
  }

  /// A connection whose handshake is done.
  void open(std::uint32_t credit = 0) {
    connect();
    native::hello hello;
    hello.client = "tester";
    hello.producer = producer_id{99};
    hello.credit = credit;
    give(hello);
    (void)taken<native::welcome>();
  }

  void resolve_orders() {
    give(native::resolve_topic{correlation{1}, "orders", true});
    (void)taken<native::topic_resolved>();
  }

  void join_billing() {
    give(native::join_producer_group{correlation{2}, "billing", {"orders"}, 5});
    (void)taken<native::group_joined>();
  }

  /// A connection that knows topic `orders` and is a producer of group `billing`.
  void open_and_join() {
    open();
    resolve_orders();
    join_billing();
  }

  template <class... Frames>
  static std::string bytes_of(const Frames&... sent) {
    native::frame_writer to;
    (native::encode(to, sent), ...);
    std::string bytes;
    to.for_each_piece([&](std::span<const std::byte> piece) {
      bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    });
    return bytes;
  }

  template <class... Frames>
  void give(const Frames&... sent) {
    give_bytes(bytes_of(sent...));
  }

  void give_bytes(std::string_view bytes) {
    send(connection, bytes_arrived{shared_bytes::copy_of(bytes)});
    run();
  }

  /// Every frame of this type that came since the last call for it.
  template <class Frame>
  std::vector<Frame> taken() {
    read_output();
    std::vector<Frame> found;
    std::vector<native::frame> others;
    for (auto& f : frames) {
      if (f.header.kind != Frame::kind) {
        others.push_back(f);
        continue;
      }
      Frame read;
      EXPECT_TRUE(native::decode(f, read).has_value());
      found.push_back(std::move(read));
    }
    frames = std::move(others);
    return found;
  }

  /// The one frame of this type.
  template <class Frame>
  Frame only() {
    auto all = taken<Frame>();
    EXPECT_EQ(all.size(), 1U) << name_of(Frame::kind);
    return all.empty() ? Frame{} : std::move(all.back());
  }

  native::send_item message(std::uint64_t id, std::string_view body = "hello",
                            std::string_view properties = {}) {
    native::send_item item;
    item.id = correlation{id};
    item.topic = orders;
    item.group = billing;
    item.properties_size = static_cast<std::uint32_t>(properties.size());
    item.payload = shared_bytes::copy_of(std::string{properties} + std::string{body});
    return item;
  }

  void answer_topic(correlation id, const std::string& name) {
    topic_resolved answer;
    answer.id = id;
    if (name == "orders")
      answer.topic = {orders, name, 4, false, {}};
    else if (name == half_view_topic_name)
      answer.topic = {half_view_topic, name, 1, true, {}};
    else
      answer.why = {ec::unknown_topic, name};
    send(connection, answer);
  }

  std::shared_ptr<fake_transport> wire = std::make_shared<fake_transport>();
  fake_records records;
  std::shared_ptr<const native_door> door;
  std::shared_ptr<probe> supervisor = make_probe();
  std::shared_ptr<probe> log = make_probe();
  std::shared_ptr<probe> reader = make_probe();
  std::shared_ptr<probe> half_store = make_probe();
  std::shared_ptr<probe> op_store = make_probe();
  std::shared_ptr<probe> delays = make_probe();
  std::shared_ptr<probe> registry = make_probe();
  std::shared_ptr<probe> producers = make_probe();
  std::shared_ptr<probe> consumers = make_probe();
  std::shared_ptr<probe> queue_probe = make_probe();
  incarnation log_life{1};
  incarnation half_life{1};
  incarnation delays_life{1};
  incarnation registry_life{1};
  incarnation reader_life{1};
  connection_actor connection;

private:
  void read_output() {
    for (const auto& bytes : std::exchange(wire->written, {}))
      splitter_feed(bytes);
  }

  void splitter_feed(const std::string& bytes) {
    splitter.feed(shared_bytes::copy_of(std::string_view{bytes}));
    for (;;) {
      auto next = splitter.next();
      ASSERT_TRUE(next.has_value());
      if (!*next)
        return;
      frames.push_back(**next);
    }
  }

  native::frame_splitter splitter;
  std::vector<native::frame> frames;
};

} // namespace handfast::test
