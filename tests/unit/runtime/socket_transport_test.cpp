#include "actors/type_ids.hpp"
#include "runtime/acceptor.hpp"
#include "runtime/socket_transport.hpp"

#include <asio/read.hpp>
#include <asio/write.hpp>

#include <condition_variable>
#include <gmock/gmock.h>
#include <optional>
#include <sys/resource.h>
#include <unistd.h>

#include "loop_fixture.hpp"

namespace handfast::runtime {
namespace {

using tcp = asio::ip::tcp;

/// What the connections of a test heard, filled on the loop's thread.
class journal {
public:
  void add(std::string what) {
    const std::lock_guard lock{mutex_};
    events_.push_back(std::move(what));
    changed_.notify_all();
  }
  /// Waits for an event and returns it; events before it are skipped.
  std::string await(std::string_view prefix) {
    std::unique_lock lock{mutex_};
    for (;;) {
      for (; next_ < events_.size(); ++next_)
        if (events_[next_].starts_with(prefix))
          return events_[next_++];
      changed_.wait(lock);
    }
  }
  std::size_t count(std::string_view prefix) {
    const std::lock_guard lock{mutex_};
    return static_cast<std::size_t>(std::count_if(
        events_.begin(), events_.end(), [&](const auto& x) { return x.starts_with(prefix); }));
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> events_;
  std::size_t next_ = 0;
};

class SocketTransport : public loop_fixture {
protected:
  ~SocketTransport() override {
    if (acceptor_)
      on_loop([this] { acceptor_->close(); });
    finish();
  }

  using script = std::function<caf::behavior(probe*, std::shared_ptr<transport>)>;

  /// Listens with connections that behave like `behaviour`.
  void listen(script behaviour, std::size_t connections_max = 100) {
    auto make = [this, behaviour](std::shared_ptr<transport> wire) {
      auto made = spawn([=](probe* self) { return behaviour(self, wire); });
      return caf::actor_cast<connection_actor>(made);
    };
    auto opened = acceptor::open(sockets_, {{"127.0.0.1", 0}, "listen.native", connections_max},
                                 std::move(make));
    ASSERT_TRUE(opened) << to_string(opened.error());
    acceptor_ = std::move(*opened);
    loop_.start();
    supervisor_ = spawn([this](probe*) -> caf::behavior {
      return {[this](const adopt_connection&) { heard_.add("adopted"); }};
    });
    on_loop([this] { acceptor_->start(caf::actor_cast<node_supervisor_actor>(supervisor_)); });
  }

  /// Answers with what it got.
  script echo() {
    return [this](probe* self, std::shared_ptr<transport> wire) -> caf::behavior {
      wire->read_more();
      return {[wire](const bytes_arrived& x) {
                wire->write(x.bytes);
                wire->read_more();
              },
              [this, self](const transport_closed& x) {
                heard_.add("closed:" + std::string{name_of(x.why.code)});
                self->quit();
              }};
    };
  }

  tcp::socket connect() {
    tcp::socket socket{client_};
    socket.connect({asio::ip::make_address("127.0.0.1"), acceptor_->where().port});
    return socket;
  }

  static std::string read_exactly(tcp::socket& socket, std::size_t size) {
    std::string text(size, '\0');
    asio::read(socket, asio::buffer(text));
    return text;
  }

  static std::string pattern(std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i)
      text[i] = static_cast<char>(mix64(i));
    return text;
  }

  journal heard_;
  asio::io_context client_;
  socket_set sockets_{loop_};
  std::unique_ptr<acceptor> acceptor_;
  caf::actor supervisor_;
};

TEST_F(SocketTransport, CarriesBytesBothWays) {
  listen(echo());
  auto socket = connect();
  asio::write(socket, asio::buffer(std::string{"hello"}));
  EXPECT_EQ(read_exactly(socket, 5), "hello");
}

TEST_F(SocketTransport, TellsTheSupervisorAboutEachConnection) {
  listen(echo());
  auto socket = connect();
  EXPECT_EQ(heard_.await("adopted"), "adopted");
}

TEST_F(SocketTransport, KeepsTheOrderOfManyMegabytesOverPartialWrites) {
  listen(echo());
  auto socket = connect();
  const auto sent = pattern(8 * 1024 * 1024);
  std::thread sender{[&] { asio::write(socket, asio::buffer(sent)); }};
  const auto got = read_exactly(socket, sent.size());
  sender.join();
  EXPECT_TRUE(got == sent);
}

TEST_F(SocketTransport, GivesExactlyOneArrivalForEachReadMore) {
  std::promise<std::shared_ptr<transport>> wire_made;
  listen([&](probe*, std::shared_ptr<transport> wire) -> caf::behavior {
    wire->read_more();
    wire_made.set_value(wire);
    return {[this](const bytes_arrived& x) { heard_.add("bytes:" + std::string{x.bytes.text()}); }};
  });
  auto socket = connect();
  auto wire = wire_made.get_future().get();
  asio::write(socket, asio::buffer(std::string{"one"}));
  EXPECT_EQ(heard_.await("bytes"), "bytes:one");
  asio::write(socket, asio::buffer(std::string{"two"}));
  for (int i = 0; i < 50; ++i)
    on_loop([] {});
  EXPECT_EQ(heard_.count("bytes"), 1u) << "nobody asked for more";
  on_loop([&] { wire->read_more(); });
  EXPECT_EQ(heard_.await("bytes"), "bytes:two");
}

TEST_F(SocketTransport, PushesBackOnASenderWhoseConnectionDoesNotRead) {
  listen([](probe*, std::shared_ptr<transport>) -> caf::behavior { return {[](tick) {}}; });
  auto socket = connect();
  socket.non_blocking(true);
  const auto chunk = pattern(1024 * 1024);
  asio::error_code full;
  for (int i = 0; i < 64 && !full; ++i)
    socket.write_some(asio::buffer(chunk), full);
  EXPECT_EQ(full, asio::error::would_block);
}

TEST_F(SocketTransport, SendsTheWritesOfOneRoundTogetherInOrder) {
  listen([](probe*, std::shared_ptr<transport> wire) -> caf::behavior {
    for (int i = 0; i < 100; ++i)
      wire->write(shared_bytes::copy_of(std::string_view{"0123456789"}));
    return {[](const bytes_written&) {}};
  });
  auto socket = connect();
  EXPECT_EQ(read_exactly(socket, 1'000).substr(0, 20), "01234567890123456789");
}

TEST_F(SocketTransport, TellsOfWhatLeavesOnlyWhenMuchWaited) {
  listen([this](probe*, std::shared_ptr<transport> wire) -> caf::behavior {
    wire->write(shared_bytes::copy_of(std::string_view{"little"}));
    wire->read_more();
    return {[wire](const bytes_arrived&) {
              wire->write(shared_bytes::copy_of(std::string(transport::much_unsent, 'x')));
            },
            [this](const bytes_written& x) { heard_.add("written:" + std::to_string(x.total)); }};
  });
  auto socket = connect();
  read_exactly(socket, 6);
  asio::write(socket, asio::buffer(std::string{"more"}));
  read_exactly(socket, transport::much_unsent);
  EXPECT_GT(std::stoull(heard_.await("written").substr(8)), 6u) << "the first that is told";
}

TEST_F(SocketTransport, CountsAsUnsentWhatThePeerDoesNotTake) {
  constexpr std::size_t much = 16 * 1024 * 1024;
  std::promise<std::shared_ptr<transport>> wire_made;
  listen([&](probe*, std::shared_ptr<transport> wire) -> caf::behavior {
    wire->write(shared_bytes::copy_of(std::string(much, 'x')));
    wire_made.set_value(wire);
    return {[this](const bytes_written& x) { heard_.add("written:" + std::to_string(x.total)); }};
  });
  auto socket = connect();
  auto wire = wire_made.get_future().get();
  const auto taken = std::stoull(heard_.await("written").substr(8));
  EXPECT_LT(taken, much);
  EXPECT_EQ(on_loop([&] { return wire->unsent(); }), much - taken);
  read_exactly(socket, much);
  while (on_loop([&] { return wire->unsent(); }) != 0) {
  }
}

TEST_F(SocketTransport, SendsWhatIsQueuedBeforeItCloses) {
  listen([this](probe*, std::shared_ptr<transport> wire) -> caf::behavior {
    wire->read_more();
    return {[wire](const bytes_arrived&) {
              wire->write(shared_bytes::copy_of(std::string(3'000'000, 'y')));
              wire->close();
            },
            [this](const transport_closed& x) {
              heard_.add("closed:" + std::string{name_of(x.why.code)});
            }};
  });
  auto socket = connect();
  asio::write(socket, asio::buffer(std::string{"first"}));
  asio::write(socket, asio::buffer(std::string{"never read by the other side"}));
  EXPECT_EQ(read_exactly(socket, 3'000'000), std::string(3'000'000, 'y'));
  asio::error_code why;
  char more = 0;
  socket.read_some(asio::buffer(&more, 1), why);
  EXPECT_EQ(why, asio::error::eof);
  socket.close();
  EXPECT_EQ(heard_.await("closed"), "closed:ok");
}

TEST_F(SocketTransport, CutsOffAPeerThatNeverClosesItsSide) {
  listen([this](probe*, std::shared_ptr<transport> wire) -> caf::behavior {
    wire->close();
    return {[this](const transport_closed& x) {
      heard_.add("closed:" + std::string{name_of(x.why.code)});
    }};
  });
  auto socket = connect();
  EXPECT_EQ(heard_.await("closed"), "closed:ok");
}

TEST_F(SocketTransport, SaysThatThePeerClosed) {
  listen(echo());
  connect().close();
  EXPECT_EQ(heard_.await("closed"), "closed:ok");
}

TEST_F(SocketTransport, DeliversTheLastBytesOfAPeerBeforeItsEnd) {
  listen([this](probe*, std::shared_ptr<transport> wire) -> caf::behavior {
    return {[this, wire](const bytes_arrived& x) {
              heard_.add("bytes:" + std::string{x.bytes.text()});
              wire->read_more();
            },
            [wire](tick) { wire->read_more(); },
            [this](const transport_closed&) { heard_.add("closed"); }};
  });
  {
    auto socket = connect();
    asio::write(socket, asio::buffer(std::string{"goodbye"}));
  }
  heard_.await("adopted");
  caf::anon_send(probes_.back(), tick{});
  EXPECT_EQ(heard_.await("bytes"), "bytes:goodbye");
  EXPECT_EQ(heard_.await("closed"), "closed");
}

TEST_F(SocketTransport, SaysWhenThePeerResets) {
  listen(echo());
  auto socket = connect();
  heard_.await("adopted");
  socket.set_option(asio::socket_base::linger{true, 0});
  socket.close();
  EXPECT_EQ(heard_.await("closed"), "closed:disconnected");
}

TEST_F(SocketTransport, ClosesTheSocketOfAConnectionThatFails) {
  listen([](probe*, std::shared_ptr<transport> wire) -> caf::behavior {
    wire->read_more();
    return {[wire](const bytes_arrived&) { throw std::runtime_error{"on purpose"}; }};
  });
  auto socket = connect();
  asio::write(socket, asio::buffer(std::string{"boom"}));
  asio::error_code why;
  char more = 0;
  socket.read_some(asio::buffer(&more, 1), why);
  EXPECT_TRUE(why) << "the connection is over";
}

TEST_F(SocketTransport, AcceptsNoMoreThanTheLimitAndGoesOnWhenOneEnds) {
  listen(echo(), 1);
  auto first = connect();
  asio::write(first, asio::buffer(std::string{"a"}));
  EXPECT_EQ(read_exactly(first, 1), "a");
  auto second = connect(); // waits in the kernel's queue
  asio::write(second, asio::buffer(std::string{"b"}));
  for (int i = 0; i < 50; ++i)
    on_loop([] {});
  EXPECT_EQ(heard_.count("adopted"), 1u);
  first.close();
  EXPECT_EQ(read_exactly(second, 1), "b");
}

TEST_F(SocketTransport, PausesWithoutSpinningWhenDescriptorsRunOut) {
  listen(echo());
  auto first = connect();
  asio::write(first, asio::buffer(std::string{"a"}));
  EXPECT_EQ(read_exactly(first, 1), "a");
  auto second = tcp::socket{client_, tcp::v4()}; // has its descriptor before they run out
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const int next = ::dup(0);
  ::close(next);
  rlimit tight{static_cast<rlim_t>(next), before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &tight);
  second.connect({asio::ip::make_address("127.0.0.1"), acceptor_->where().port});
  asio::write(second, asio::buffer(std::string{"b"}));
  while (on_loop([this] { return acceptor_->pauses(); }) == 0) {
  }
  const auto wake_ups = loop_.wake_ups();
  asio::steady_timer quiet{client_, std::chrono::milliseconds{50}};
  quiet.wait();
  EXPECT_LE(loop_.wake_ups() - wake_ups, 5u);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(read_exactly(second, 1), "b") << "taken at the next look";
}

TEST_F(SocketTransport, NamesTheAddressAndTheRemedyWhenThePortIsTaken) {
  listen(echo());
  auto again = acceptor::open(sockets_, {acceptor_->where(), "listen.native", 1}, nullptr);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().detail, testing::HasSubstr(config::to_string(acceptor_->where())));
  EXPECT_THAT(again.error().detail, testing::HasSubstr("listen.native"));
}

TEST(ReadPool, LaysReadsSideBySideInOneChunk) {
  read_pool pool;
  auto* first = pool.room().data();
  auto a = pool.take(24);
  auto b = (void(pool.room()), pool.take(8));
  EXPECT_EQ(a.data(), first);
  EXPECT_EQ(b.data(), first + 24);
}

TEST(ReadPool, BeginsAgainAtTheFrontWhenNobodyHoldsAWindow) {
  read_pool pool;
  auto* first = pool.room().data();
  (void)pool.take(1'000);
  EXPECT_EQ(pool.room().data(), first);
}

TEST(ReadPool, NeverWritesOverAWindowThatIsHeld) {
  read_pool pool;
  std::vector<shared_bytes> held;
  for (int i = 0; i < 100; ++i) {
    auto room = pool.room();
    ASSERT_GE(room.size(), read_pool::read_bytes_min);
    room.front() = static_cast<std::byte>(i);
    held.push_back(pool.take(room.size()));
  }
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(held[static_cast<std::size_t>(i)].span().front(), static_cast<std::byte>(i));
}

TEST(ReadPool, LetsWindowsOutliveIt) {
  shared_bytes window;
  {
    read_pool pool;
    pool.room().front() = std::byte{42};
    window = pool.take(1);
  }
  EXPECT_EQ(window.span().front(), std::byte{42});
}

} // namespace
} // namespace handfast::runtime
