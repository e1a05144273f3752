#include "bench/load/load_connection.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

namespace handfast::bench {

namespace {

constexpr std::size_t read_bytes = 64 * 1024;
constexpr std::size_t pieces_max = 64;

tl::unexpected<error> lost(const char* what) {
  return fail(ec::disconnected, std::string{what} + ": " + std::strerror(errno));
}

} // namespace

load_connection::load_connection(run_state& run, int fd, producer_id producer)
    : run_{run}, fd_{fd}, producer_{producer}, slots_(run.options.window) {}

load_connection::~load_connection() {
  ::close(fd_);
}

// -- bytes -------------------------------------------------------------------

result<std::size_t> load_connection::read_some(bool block) {
  auto& buffer = run_.read_buffer;
  if (!buffer || buffer.use_count() > 1)
    buffer = std::make_shared_for_overwrite<std::byte[]>(read_bytes);
  auto got = ::recv(fd_, buffer.get(), read_bytes, block ? 0 : MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return 0;
  if (got <= 0)
    return got == 0 ? fail(ec::disconnected, "closed by the node") : lost("recv");
  splitter_.feed(
      {std::shared_ptr<const std::byte>{buffer, buffer.get()}, static_cast<std::size_t>(got)});
  return static_cast<std::size_t>(got);
}

result<void> load_connection::flush() {
  if (writer_.empty())
    return {};
  if (wants_to_write()) { // the rest of the last write goes first
    writer_.for_each_piece(
        [&](auto piece) { left_.insert(left_.end(), piece.begin(), piece.end()); });
    writer_.clear();
    return {};
  }
  std::array<iovec, pieces_max> pieces;
  std::size_t count = 0;
  std::size_t offered = 0;
  writer_.for_each_piece([&](std::span<const std::byte> piece) {
    if (count == pieces_max)
      return;
    pieces[count++] = {const_cast<std::byte*>(piece.data()), piece.size()};
    offered += piece.size();
  });
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = count;
  auto wrote = ::sendmsg(fd_, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (wrote < 0 && errno != EAGAIN && errno != EINTR)
    return lost("send");
  auto taken = static_cast<std::size_t>(std::max<ssize_t>(wrote, 0));
  if (taken < writer_.size()) {
    left_.clear();
    left_from_ = 0;
    auto skip = taken;
    writer_.for_each_piece([&](std::span<const std::byte> piece) {
      auto here = std::min(skip, piece.size());
      skip -= here;
      left_.insert(left_.end(), piece.begin() + static_cast<std::ptrdiff_t>(here), piece.end());
    });
  }
  writer_.clear();
  return {};
}

result<void> load_connection::on_writable() {
  if (!wants_to_write())
    return {};
  auto wrote = ::send(fd_, left_.data() + left_from_, left_.size() - left_from_,
                      MSG_NOSIGNAL | MSG_DONTWAIT);
  if (wrote < 0 && errno != EAGAIN && errno != EINTR)
    return lost("send");
  left_from_ += static_cast<std::size_t>(std::max<ssize_t>(wrote, 0));
  if (!wants_to_write()) {
    left_.clear();
    left_from_ = 0;
  }
  return {};
}

// -- handshake ---------------------------------------------------------------

result<native::frame> load_connection::next_frame() {
  for (;;) {
    auto next = splitter_.next();
    if (!next)
      return tl::unexpected{next.error()};
    if (*next)
      return **next;
    pollfd one{fd_, POLLIN, 0};
    if (::poll(&one, 1, 5'000) == 0)
      return fail(ec::timed_out, "no answer from the node within 5 s");
    if (auto got = read_some(true); !got)
      return tl::unexpected{got.error()};
  }
}

/// Writes what was encoded and waits for one `Answer`.
template <class Answer>
result<Answer> load_connection::ask() {
  if (auto flushed = flush(); !flushed)
    return tl::unexpected{flushed.error()};
  auto f = next_frame();
  if (!f)
    return tl::unexpected{f.error()};
  if (f->header.kind == native::frame_kind::closing) {
    native::closing closing;
    if (auto decoded = decode(*f, closing); !decoded)
      return tl::unexpected{decoded.error()};
    return fail(closing.code, closing.detail);
  }
  if (f->header.kind == native::frame_kind::refused) {
    native::refused refused;
    if (auto decoded = decode(*f, refused); !decoded)
      return tl::unexpected{decoded.error()};
    return fail(refused.code, refused.detail);
  }
  Answer answer;
  if (auto decoded = decode(*f, answer); !decoded)
    return tl::unexpected{decoded.error()};
  if constexpr (requires { answer.code; })
    if (answer.code != ec::ok)
      return fail(answer.code, answer.detail);
  return answer;
}

result<void> load_connection::introduce() {
  native::hello hello;
  hello.library = "handfast-bench";
  hello.client = "bench";
  hello.producer = producer_;
  hello.credit = static_cast<std::uint32_t>(run_.options.window);
  encode(writer_, hello);
  auto terms = ask<native::welcome>();
  if (!terms)
    return tl::unexpected{terms.error()};
  if (terms->credit < run_.options.window)
    return fail(ec::busy, "the node grants " + std::to_string(terms->credit) +
                              " requests in flight, the window is " +
                              std::to_string(run_.options.window));
  encode(writer_, native::resolve_topic{{1}, run_.options.topic, true});
  auto topic = ask<native::topic_resolved>();
  if (!topic)
    return tl::unexpected{topic.error()};
  topic_ = topic->topic;
  if (run_.options.plain)
    return {};
  encode(writer_, native::join_producer_group{{2}, run_.options.group, {}, producer_.value});
  auto group = ask<native::group_joined>();
  if (!group)
    return tl::unexpected{group.error()};
  group_ = group->group;
  return {};
}

// -- load --------------------------------------------------------------------

result<void> load_connection::begin() {
  for (std::size_t i = 0; i < slots_.size(); ++i)
    begin_slot(i);
  return begin_refused();
}

void load_connection::begin_slot(std::size_t index) {
  if (run_.stopping)
    return;
  slots_[index].begun = run_.now;
  ++run_.under_way;
  auto& item = starts_.emplace_back();
  item.id = {index + 1}; // 0 would mean "wants no answer"
  item.sequence = {++sequence_};
  item.topic = topic_;
  item.group = group_;
  item.payload = run_.body;
}

result<void> load_connection::begin_refused() {
  for (auto index : std::exchange(refused_, {}))
    begin_slot(index);
  if (!decides_.items.empty()) {
    encode(writer_, decides_);
    decides_.items.clear();
  }
  if (!starts_.empty()) {
    if (run_.options.plain) {
      native::send batch{std::move(starts_)};
      encode(writer_, batch);
      starts_ = std::move(batch.items);
    } else {
      native::send_half batch{std::move(starts_)};
      encode(writer_, batch);
      starts_ = std::move(batch.items);
    }
    starts_.clear();
  }
  return flush();
}

result<void> load_connection::on_readable() {
  if (auto got = read_some(false); !got)
    return tl::unexpected{got.error()};
  for (;;) {
    auto next = splitter_.next();
    if (!next)
      return tl::unexpected{next.error()};
    if (!*next)
      break;
    if (auto taken = take(**next); !taken)
      return taken;
  }
  // Slots that were refused in this round wait for the next call of `begin_refused`.
  auto waiting = std::exchange(refused_, {});
  auto flushed = begin_refused();
  refused_ = std::move(waiting);
  return flushed;
}

result<void> load_connection::take(const native::frame& f) {
  auto take_all = [&](auto& batch, auto take_one) -> result<void> {
    if (auto decoded = decode(f, batch); !decoded)
      return decoded;
    for (const auto& item : batch.items) {
      auto index = item.id.value - 1;
      if (index >= slots_.size())
        return fail(ec::bad_frame, "answer to a request that was never sent");
      if (item.code != ec::ok)
        refused_slot(index, item.code);
      else
        (this->*take_one)(index, item);
    }
    return {};
  };
  switch (f.header.kind) {
  case native::frame_kind::half_stored:
    return take_all(half_stored_, &load_connection::take_half);
  case native::frame_kind::decided:
    return take_all(decided_, &load_connection::take_decided);
  case native::frame_kind::sent:
    return take_all(sent_, &load_connection::take_sent);
  case native::frame_kind::check:
    return {}; // of an older run; the node asks again, somebody else
  case native::frame_kind::closing: {
    native::closing closing;
    if (auto decoded = decode(f, closing); !decoded)
      return decoded;
    return fail(closing.code, closing.detail);
  }
  default:
    return fail(ec::bad_frame, "unexpected " + std::string{name_of(f.header.kind)});
  }
}

void load_connection::take_half(std::size_t index, const native::half_stored_item& item) {
  auto& s = slots_[index];
  if (run_.measures())
    run_.half.record(run_.now - s.begun);
  s.decided_at = run_.now;
  auto& decision = decides_.items.emplace_back();
  decision.id = {index + 1};
  decision.transaction = item.transaction;
  decision.group = group_;
  decision.wanted = outcome::committed;
  decision.messages = 1;
}

void load_connection::take_decided(std::size_t index, const native::decided_item&) {
  const auto& s = slots_[index];
  if (run_.measures()) {
    run_.decide.record(run_.now - s.decided_at);
    run_.whole.record(run_.now - s.begun);
    ++run_.committed;
  }
  finished(index);
}

void load_connection::take_sent(std::size_t index, const native::sent_item&) {
  if (run_.measures()) {
    run_.whole.record(run_.now - slots_[index].begun);
    ++run_.committed;
  }
  finished(index);
}

void load_connection::finished(std::size_t index) {
  --run_.under_way;
  begin_slot(index);
}

void load_connection::refused_slot(std::size_t index, ec code) {
  ++run_.errors[code];
  --run_.under_way;
  refused_.push_back(index);
}

} // namespace handfast::bench
