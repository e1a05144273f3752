#pragma once

/// Shared by the tests of the native protocol: from structs to bytes and back.

#include "messages/native/codec.hpp"
#include "messages/native/frame_splitter.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace handfast::native::test {

/// Everything in `writer`, as one string of bytes.
inline std::string bytes_of(const frame_writer& writer) {
  std::string bytes;
  writer.for_each_piece([&](std::span<const std::byte> piece) {
    bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  });
  return bytes;
}

template <class Message>
std::string encoded(const Message& message) {
  frame_writer writer;
  encode(writer, message);
  return bytes_of(writer);
}

/// All complete frames of `bytes` when they arrive in chunks of `chunk` bytes.
inline std::vector<frame> split(const std::string& bytes, std::size_t chunk,
                                frame_limits limits = {}) {
  frame_splitter splitter{limits};
  std::vector<frame> frames;
  for (std::size_t at = 0; at < bytes.size(); at += chunk) {
    splitter.feed(shared_bytes::copy_of(std::string_view{bytes}.substr(at, chunk)));
    for (;;) {
      auto next = splitter.next();
      EXPECT_TRUE(next) << (next ? "" : to_string(next.error()));
      if (!next || !*next)
        break;
      frames.push_back(**next);
    }
  }
  return frames;
}

/// What a receiver makes of `message`.
template <class Message>
Message round_trip(const Message& message) {
  auto bytes = encoded(message);
  auto frames = split(bytes, bytes.size());
  Message back;
  EXPECT_EQ(frames.size(), 1u);
  if (frames.size() == 1) {
    auto decoded = decode(frames[0], back);
    EXPECT_TRUE(decoded) << (decoded ? "" : to_string(decoded.error()));
  }
  return back;
}

inline transaction_id some_transaction(std::uint64_t n) {
  return {position{4096 + n * 8}, static_cast<std::uint32_t>(mix64(n))};
}

/// A half with every field set, its payload `properties` then `body`.
inline send_item some_item(std::uint64_t n, std::string_view properties, std::string_view body) {
  send_item item;
  item.id = {n};
  item.sequence = {n + 1};
  item.born_ms = 1'700'000'000'000 + n;
  item.transaction = some_transaction(n);
  item.delay_ms = 5'000;
  item.topic = {17};
  item.group = {18};
  item.timeout_ms = 6'000;
  item.order_hash = 77;
  item.sys_flag = 4;
  item.queue = {3};
  item.flags = 1;
  item.properties_size = static_cast<std::uint32_t>(properties.size());
  item.payload = shared_bytes::copy_of(std::string{properties} + std::string{body});
  return item;
}

} // namespace handfast::native::test
