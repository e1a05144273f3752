#include "actors/client/session.hpp"
#include "messages/assert.hpp"

#include <algorithm>

namespace handfast::client {

namespace {

/// One frame of a batch, so that the node can begin with the first while the next is under way.
constexpr std::size_t frame_payload_max = 1024 * 1024;
constexpr std::size_t frame_items_max = 4096;
/// One write.
constexpr std::size_t write_bytes_max = 4 * 1024 * 1024;

constexpr auto retry_first = std::chrono::milliseconds{20};
constexpr auto retry_max = std::chrono::milliseconds{1'000};

/// Refusals that the library waits out by itself. A full disk or too many pending transactions are
/// for the application to know.
bool is_worth_repeating(ec code) {
  return is_retriable(code) && code != ec::disk_full && code != ec::too_many_pending;
}

} // namespace

void session::submit(request what) {
  ec refusal = ec::ok;
  bool wake = false;
  {
    std::lock_guard lock{inbox_mutex_};
    if (stopped_)
      refusal = ec::stopping;
    else if (accepted_.load(std::memory_order_relaxed) >= options_.requests_max)
      refusal = ec::busy;
    else {
      accepted_.fetch_add(1, std::memory_order_relaxed);
      what.accepted_at = clock::now();
      what.give_up_at = what.accepted_at + options_.total_timeout + what.extra_time;
      inbox_.push_back(std::move(what));
      wake = !std::exchange(wake_pending_, true);
    }
  }
  if (refusal == ec::stopping)
    what.done({{refusal, "the client was closed"}, {}});
  else if (refusal == ec::busy)
    what.done(
        {{refusal, std::to_string(options_.requests_max) + " requests wait for answers"}, {}});
  else if (wake)
    post([this] { drain_inbox(); });
}

void session::drain_inbox() {
  std::vector<request> arrived;
  {
    std::lock_guard lock{inbox_mutex_};
    arrived.swap(inbox_);
    wake_pending_ = false;
  }
  for (auto& r : arrived)
    accept(std::move(r));
  pump();
  arm_tick();
}

void session::accept(request&& what) {
  auto id = next_id_++;
  auto [at, fresh] = requests_.emplace(id, std::move(what));
  HANDFAST_ASSERT(fresh);
  at->second.state = request_state::waiting_for_name;
  if (welcomed_)
    place(id, at->second);
}

/// Puts a request where it has to wait next. Only while connected.
void session::place(std::uint64_t id, request& r) {
  HANDFAST_ASSERT(welcomed_);
  r.state = request_state::waiting_for_name;
  if (!r.topic.empty()) {
    auto& topic = topics_[r.topic];
    if (topic.id == topic_id{}) {
      topic.waiting.push_back(id);
      if (!std::exchange(topic.asking, true))
        ask_topic(r.topic, r.create_topic);
      return;
    }
    r.resolved_topic = topic.id;
  }
  if (!r.group.empty()) {
    auto& group = groups_[r.group];
    if (!group.joined) {
      group.waiting.push_back(id);
      if (!group.joining)
        join_group(r.group, group);
      return;
    }
    r.item.group = r.decision.group = group.id;
  }
  r.state = request_state::ready;
  (r.kind == request_kind::decide ? ready_decisions_ : ready_).push_back(id);
}

void session::place_all(std::vector<std::uint64_t>& ids) {
  for (auto id : std::exchange(ids, {}))
    if (auto at = requests_.find(id); at != requests_.end())
      if (at->second.state == request_state::waiting_for_name)
        place(id, at->second);
}

/// Writes what may be written: decisions first, within the node's credit, all that is ready in one
/// go.
void session::pump() {
  if (!welcomed_ || link_.is_writing())
    return;
  while (in_flight_ < terms_.credit && link_.writer().size() + batch_bytes_ < write_bytes_max)
    if (!take_ready(ready_decisions_) && !take_ready(ready_))
      break;
  flush_batches();
  link_.flush();
}

/// Writes the first of `queue`; false if there is none or the credit in bytes does not allow it.
bool session::take_ready(std::deque<std::uint64_t>& queue) {
  if (queue.empty())
    return false;
  auto id = queue.front();
  auto at = requests_.find(id);
  if (at == requests_.end() || at->second.state != request_state::ready) {
    queue.pop_front(); // ended while it waited
    return true;
  }
  auto& r = at->second;
  if (in_flight_ > 0 && in_flight_bytes_ + r.payload_bytes() > terms_.credit_bytes)
    return false;
  queue.pop_front();
  write_request(id, r);
  return true;
}

void session::write_request(std::uint64_t id, request& r) {
  if (r.kind <= request_kind::half && terms_.body_max > 0 && r.item.body_size() > terms_.body_max)
    return complete(id,
                    {{ec::body_too_large, std::to_string(r.item.body_size()) + " bytes, limit " +
                                              std::to_string(terms_.body_max)},
                     {}});
  r.state = request_state::in_flight;
  r.sent_at = clock::now();
  ++r.attempts;
  ++in_flight_;
  in_flight_bytes_ += r.payload_bytes();
  if (batch_bytes_ + r.payload_bytes() > frame_payload_max ||
      sends_.items.size() + halves_.items.size() + decides_.items.size() >= frame_items_max)
    flush_batches();
  switch (r.kind) {
  case request_kind::plain:
  case request_kind::half:
    r.item.id = {id};
    r.item.topic = r.resolved_topic;
    batch_bytes_ += r.payload_bytes();
    (r.kind == request_kind::half ? halves_.items : sends_.items).push_back(r.item);
    break;
  case request_kind::decide:
    r.decision.id = {id};
    decides_.items.push_back(r.decision);
    break;
  case request_kind::other:
    r.encode(link_.writer(), {{id}, r.resolved_topic});
    break;
  }
}

void session::flush_batches() {
  auto write = [this](auto& batch) {
    if (batch.items.empty())
      return;
    encode(link_.writer(), batch);
    batch.items.clear();
  };
  write(receipts_);
  write(decides_);
  write(halves_);
  write(sends_);
  batch_bytes_ = 0;
}

// -- ends --------------------------------------------------------------------

void session::answer(std::uint64_t id, reply what) {
  auto at = requests_.find(id);
  if (at == requests_.end())
    return; // a second answer, or one that came after the time-out
  auto& r = at->second;
  no_longer_in_flight(r);
  if (what.why.code != ec::ok) {
    if (try_again(id, r, what.why))
      return;
    if (r.maybe_done && is_retriable(what.why.code))
      what.why = {ec::outcome_unknown,
                  "an earlier attempt got no answer, the last one " + to_string(what.why)};
  }
  complete(id, std::move(what));
}

/// Whether the request goes on in spite of `why`.
bool session::try_again(std::uint64_t id, request& r, const error& why) {
  if (why.code == ec::unknown_topic && !r.topic.empty() && !r.topic_refreshed) {
    r.topic_refreshed = true; // deleted and perhaps made again since the id was learnt
    topics_[r.topic].id = {};
    place(id, r);
    return true;
  }
  if (!r.resend || !is_worth_repeating(why.code))
    return false;
  backoff pause{std::min(retry_max, retry_first * (1 << std::min(r.attempts, 6u))), retry_max};
  auto at = clock::now() + pause.next(random());
  if (at >= r.give_up_at)
    return false;
  if (verdict_of(why.code) == verdict::unknown)
    mark_maybe_done(r);
  r.state = request_state::delayed;
  r.retry_at = at;
  return true;
}

void session::mark_maybe_done(request& r) {
  if (std::exchange(r.maybe_done, true))
    return;
  if (r.kind == request_kind::half)
    ++repeated_halves_;
}

void session::no_longer_in_flight(request& r) {
  if (r.state != request_state::in_flight)
    return;
  HANDFAST_ASSERT(in_flight_ > 0 && in_flight_bytes_ >= r.payload_bytes());
  --in_flight_;
  in_flight_bytes_ -= r.payload_bytes();
  r.state = request_state::ready;
}

void session::complete(std::uint64_t id, reply what) {
  auto at = requests_.find(id);
  HANDFAST_ASSERT(at != requests_.end());
  no_longer_in_flight(at->second);
  if (at->second.kind == request_kind::half && at->second.maybe_done)
    --repeated_halves_;
  auto done = std::move(at->second.done);
  requests_.erase(at);
  accepted_.fetch_sub(1, std::memory_order_relaxed);
  done(std::move(what));
}

void session::check_time(std::uint64_t id, request& r, clock::time_point now) {
  auto never_sent = !r.maybe_done && r.state != request_state::in_flight;
  if (now >= r.give_up_at) {
    if (!never_sent)
      return complete(id, {{ec::timed_out, "no answer within the total time-out"}, {}});
    if (!welcomed_)
      return complete(id, {{ec::unreachable, last_problem_.detail}, {}});
    return complete(id, {{ec::busy, std::to_string(in_flight_) + " requests in flight"}, {}});
  }
  if (!welcomed_) {
    if (never_sent && failed_in_a_row_ >= options_.servers.size() &&
        now - r.accepted_at >= options_.connect_patience)
      complete(id, {{ec::unreachable, last_problem_.detail}, {}});
    return;
  }
  if (r.state == request_state::delayed && now >= r.retry_at)
    return place(id, r);
  if (r.state != request_state::in_flight ||
      now < r.sent_at + options_.attempt_timeout + r.extra_time)
    return;
  if (last_received_ < r.sent_at)
    return connection_lost({ec::disconnected, "the node has gone silent"});
  if (r.resend) {
    mark_maybe_done(r);
    no_longer_in_flight(r);
    place(id, r);
  }
}

void session::fail_all(const error& why) {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, r] : requests_)
    ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  for (auto id : ids) {
    auto at = requests_.find(id);
    if (at == requests_.end())
      continue;
    auto maybe = at->second.maybe_done || at->second.state == request_state::in_flight;
    complete(id, {maybe ? error{ec::disconnected, why.detail} : why, {}});
  }
}

} // namespace handfast::client
