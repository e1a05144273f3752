#pragma once

/// Shared by the tests of the client library.

#include "actors/client/client.hpp"
#include "tests/support/fake_node.hpp"

#include <gtest/gtest.h>

#include <atomic>

namespace handfast::client::test {

using native::frame_kind;
using native::test::fake_node;
using native::test::misbehaviour;
using namespace std::chrono_literals;

/// Quick to notice trouble, patient enough for a busy machine.
inline connection_options quick(const std::string& server) {
  connection_options options;
  options.servers = {server};
  options.name = "test";
  options.attempt_timeout = 150ms;
  options.total_timeout = 5s;
  options.connect_patience = 5s;
  options.reconnect_first = 5ms;
  options.reconnect_max = 20ms;
  options.random = [n = std::make_shared<std::atomic<std::uint64_t>>(1)] { return mix64((*n)++); };
  return options;
}

class ClientTest : public testing::Test {
protected:
  fake_node node;
  client connection{quick(node.server())};
};

template <class Answer>
std::string told(const Answer& a) {
  return a.is_done() ? "done" : (a.is_refused() ? "refused " : "unknown ") + to_string(a.why());
}

#define EXPECT_DONE(answer) EXPECT_TRUE((answer).is_done()) << told(answer)
#define ASSERT_DONE(answer) ASSERT_TRUE((answer).is_done()) << told(answer)

} // namespace handfast::client::test
