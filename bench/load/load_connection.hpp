#pragma once

/// One connection of the load generator. Internal.

#include "bench/load/histogram.hpp"
#include "bench/load/load.hpp"
#include "messages/native/codec.hpp"
#include "messages/native/frame_splitter.hpp"

#include <memory>
#include <vector>

namespace handfast::bench {

using nanoseconds = std::uint64_t;

/// What all connections of a run share.
struct run_state {
  load_options options;
  shared_bytes body;
  std::shared_ptr<std::byte[]> read_buffer; ///< one for all: answers are never kept
  nanoseconds now = 0;                      ///< taken once per wake-up
  nanoseconds measure_from = 0;
  nanoseconds measure_to = 0;
  bool stopping = false; ///< begin nothing new
  std::uint64_t committed = 0;
  std::uint64_t under_way = 0;
  histogram whole;
  histogram half;
  histogram decide;
  std::map<ec, std::uint64_t> errors;

  [[nodiscard]] bool measures() const { return now >= measure_from && now < measure_to; }
};

/// Keeps `window` transactions under way; each is a slot, whose number plus one is the correlation.
/// What one read brought leaves as at most one frame per kind, in one write.
class load_connection {
public:
  load_connection(run_state& run, int fd, producer_id producer);
  ~load_connection();
  load_connection(const load_connection&) = delete;
  load_connection& operator=(const load_connection&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  bool armed = false; ///< wakes up when it may write
  [[nodiscard]] bool wants_to_write() const { return left_from_ < left_.size(); }

  /// Handshake, topic and group; blocking.
  result<void> introduce();
  /// Begins `window` transactions.
  result<void> begin();
  /// One read and all that follows from it.
  result<void> on_readable();
  result<void> on_writable();
  /// Begins the transactions whose last attempt was refused.
  result<void> begin_refused();

private:
  struct slot {
    nanoseconds begun = 0;
    nanoseconds decided_at = 0; ///< when the commit was sent
  };

  template <class Answer>
  result<Answer> ask();
  result<native::frame> next_frame();
  void begin_slot(std::size_t index);
  result<void> take(const native::frame& f);
  void take_half(std::size_t index, const native::half_stored_item& item);
  void take_decided(std::size_t index, const native::decided_item& item);
  void take_sent(std::size_t index, const native::sent_item& item);
  void finished(std::size_t index);
  void refused_slot(std::size_t index, ec code);
  result<void> flush();
  result<std::size_t> read_some(bool block);

  run_state& run_;
  int fd_;
  producer_id producer_;
  native::frame_splitter splitter_;
  native::frame_writer writer_;
  std::vector<std::byte> left_; ///< what the socket did not take
  std::size_t left_from_ = 0;
  topic_id topic_;
  group_id group_;
  std::uint64_t sequence_ = 0;
  std::vector<slot> slots_;
  std::vector<std::size_t> refused_;
  std::vector<native::send_item> starts_;
  native::decide decides_;
  native::half_stored half_stored_;
  native::decided decided_;
  native::sent sent_;
};

} // namespace handfast::bench
