#include "tests/sim/sim_client.hpp"

#include "messages/assert.hpp"

#include <utility>

namespace handfast::sim {

using std::chrono::milliseconds;

void sim_client::start() {
  knock();
}

void sim_client::knock() {
  if (link_)
    return;
  link_ = door_.connect(*this, name_);
  if (!link_) {
    time_.after(time_.random.between(milliseconds{20}, milliseconds{300}), [this] { knock(); });
    return;
  }
  ++session_;
  splitter_ = native::frame_splitter{};
  native::hello first;
  first.client = name_;
  first.producer = producer();
  send(first);
}

void sim_client::drop() {
  if (!link_)
    return;
  link_->close_by_client();
  lost();
}

void sim_client::on_closed() {
  lost();
}

void sim_client::lost() {
  link_.reset();
  unanswered_.clear();
  if (std::exchange(welcomed_, false))
    on_lost();
  time_.after(time_.random.between(milliseconds{1}, milliseconds{200}), [this] { knock(); });
}

void sim_client::flush() {
  std::string all;
  all.reserve(writer_.size());
  writer_.for_each_piece([&all](std::span<const std::byte> piece) {
    all.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  });
  writer_.clear();
  if (link_)
    link_->send(shared_bytes::copy_of(all));
}

void sim_client::on_bytes(shared_bytes bytes, std::uint64_t since) {
  if (!splitter_.inside_frame())
    frame_since_ = since;
  splitter_.feed(std::move(bytes));
  const auto session = session_;
  while (link_ && session == session_) {
    auto next = splitter_.next();
    HANDFAST_ASSERT(next.has_value()); // the node never writes garbage
    if (!*next)
      return;
    const auto& frame = **next;
    if (!welcomed_ && frame.header.kind == native::frame_kind::welcome) {
      welcomed_ = true;
      on_welcome();
    } else {
      on_frame(frame);
    }
    frame_since_ = since;
  }
}

void sim_client::later(milliseconds delay, std::function<void()> what) {
  time_.after(delay, [this, session = session_, what = std::move(what)] {
    if (welcomed_ && session == session_)
      what();
  });
}

std::uint64_t sim_client::oldest_unanswered_ms() const {
  std::uint64_t oldest = 0;
  for (const auto& [id, asked] : unanswered_)
    oldest = std::max(oldest, time_.now_ms() - asked);
  return oldest;
}

std::string sim_client::waiting_for() const {
  return name_ + ": " + (welcomed_ ? "connected" : "not connected") + ", " +
         std::to_string(unanswered_.size()) + " unanswered";
}

} // namespace handfast::sim
