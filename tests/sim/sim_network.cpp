#include "tests/sim/sim_network.hpp"

#include "messages/assert.hpp"

#include <algorithm>
#include <utility>

namespace handfast::sim {

using std::chrono::microseconds;

namespace {

class wire_end final : public transport {
public:
  explicit wire_end(std::shared_ptr<sim_link> link) : link_{std::move(link)} {}
  wire_end(const wire_end&) = delete;
  wire_end& operator=(const wire_end&) = delete;
  ~wire_end() override { link_->node_died(); }
  void write(shared_bytes bytes) override { link_->write(std::move(bytes)); }
  void read_more() override { link_->read_more(); }
  [[nodiscard]] std::size_t unsent() const override { return link_->unsent(); }
  void close() override { link_->close(); }
  [[nodiscard]] std::string peer_name() const override { return link_->name(); }

private:
  std::shared_ptr<sim_link> link_;
};

} // namespace

std::shared_ptr<transport> sim_link::wire() {
  return std::make_shared<wire_end>(shared_from_this());
}

sim_timeline::duration sim_link::delay() {
  auto& random = time_.random;
  // Mostly a local network, now and then a stall.
  return random.chance(20) ? microseconds{random.between(1'000, 200'000)}
                           : microseconds{random.between(10, 2'000)};
}

// -- client to node ------------------------------------------------------------

void sim_link::send(shared_bytes bytes) {
  if (client_ == nullptr || bytes.empty())
    return;
  if (time_.random.chance(100)) {
    const auto first = time_.random.below(bytes.size());
    if (first != 0)
      put_on_wire_to_node(shared_bytes::copy_of(bytes.span().first(first)));
    bytes = shared_bytes::copy_of(bytes.span().subspan(first));
  }
  put_on_wire_to_node(std::move(bytes));
}

void sim_link::put_on_wire_to_node(shared_bytes bytes) {
  to_node_.push_back(std::move(bytes));
  node_arrival_ = std::max(node_arrival_, time_.now() + delay());
  time_.after(node_arrival_ - time_.now(), [self = shared_from_this()] { self->arrive_at_node(); });
}

void sim_link::arrive_at_node() {
  if (to_node_.empty() || node_over_)
    return;
  node_inbox_.push_back(std::move(to_node_.front()));
  to_node_.pop_front();
  pump_to_node();
}

void sim_link::pump_to_node() {
  if (node_over_ || node_closes_)
    return;
  if (!node_inbox_.empty()) {
    if (!node_reads_)
      return;
    node_reads_ = false;
    auto bytes = std::move(node_inbox_.front());
    node_inbox_.pop_front();
    node_.bytes_arrived(std::move(bytes));
  } else if (client_closed_ && node_reads_) {
    tell_node_closed({});
  }
}

void sim_link::close_by_client() {
  if (client_ == nullptr)
    return;
  client_ = nullptr;
  to_client_.clear();
  node_arrival_ = std::max(node_arrival_, time_.now() + delay());
  time_.after(node_arrival_ - time_.now(), [self = shared_from_this()] {
    self->client_closed_ = true;
    self->pump_to_node();
  });
}

// -- node to client ------------------------------------------------------------

void sim_link::write(shared_bytes bytes) {
  if (node_over_ || node_closes_)
    return;
  unsent_ += bytes.size();
  const bool first = written_.empty();
  written_.push_back({std::move(bytes), time_.journal.size()});
  if (first)
    time_.after(microseconds{time_.random.below(50)},
                [self = shared_from_this()] { self->kernel_takes(); });
}

void sim_link::kernel_takes() {
  if (node_over_ || written_.empty())
    return;
  for (auto& p : std::exchange(written_, {})) {
    written_total_ += p.bytes.size();
    if (client_ == nullptr)
      continue;
    to_client_.push_back(std::move(p));
    client_arrival_ = std::max(client_arrival_, time_.now() + delay());
    time_.after(client_arrival_ - time_.now(),
                [self = shared_from_this()] { self->arrive_at_client(); });
  }
  unsent_ = 0;
  node_.bytes_written(written_total_);
}

void sim_link::arrive_at_client() {
  if (client_ == nullptr || to_client_.empty())
    return;
  auto p = std::move(to_client_.front());
  to_client_.pop_front();
  client_->on_bytes(std::move(p.bytes), p.since);
}

void sim_link::read_more() {
  HANDFAST_ASSERT(!node_reads_); // as with a socket
  node_reads_ = true;
  // Never from inside the caller: a socket answers later too.
  time_.after({}, [self = shared_from_this()] { self->pump_to_node(); });
}

void sim_link::close() {
  if (node_over_ || node_closes_)
    return;
  kernel_takes();
  node_closes_ = true;
  close_client_later();
  time_.after({}, [self = shared_from_this()] { self->tell_node_closed({}); });
}

void sim_link::close_client_later() {
  client_arrival_ = std::max(client_arrival_, time_.now() + delay());
  time_.after(client_arrival_ - time_.now(), [self = shared_from_this()] {
    if (auto* client = std::exchange(self->client_, nullptr))
      client->on_closed();
  });
}

void sim_link::tell_node_closed(error why) {
  if (std::exchange(node_over_, true))
    return;
  node_inbox_.clear();
  written_.clear();
  unsent_ = 0;
  auto node = std::exchange(node_, {});
  node.closed(std::move(why));
}

// -- faults --------------------------------------------------------------------

void sim_link::cut() {
  if (node_over_ && client_ == nullptr)
    return;
  // Any first part of what was on the way arrives; the tail is torn at any byte.
  const auto tear = [this](shared_bytes bytes) {
    return shared_bytes::copy_of(bytes.span().first(time_.random.below(bytes.size() + 1)));
  };
  for (std::uint64_t whole = time_.random.below(to_client_.size() + 1);
       client_ && !to_client_.empty();) {
    auto p = std::move(to_client_.front());
    to_client_.pop_front();
    const bool is_last = whole-- == 0;
    client_->on_bytes(is_last ? tear(std::move(p.bytes)) : std::move(p.bytes), p.since);
    if (is_last)
      to_client_.clear();
  }
  if (!to_node_.empty() && !node_over_) {
    node_inbox_.push_back(tear(std::move(to_node_.front())));
    to_node_.clear();
  }
  client_closed_ = true;
  if (auto* client = std::exchange(client_, nullptr))
    client->on_closed();
  time_.after(delay(), [self = shared_from_this()] {
    self->tell_node_closed({ec::disconnected, "connection reset by peer"});
  });
}

void sim_link::node_died() {
  node_over_ = true;
  node_ = {};
  to_node_.clear();
  node_inbox_.clear();
  written_.clear();
  if (client_ != nullptr)
    close_client_later();
}

} // namespace handfast::sim
