// COMMIT LOG, the way in: admission, repeats, offsets, the forming batch.
#include "actors/commit_log.hpp"
#include "actors/type_ids.hpp"
#include "messages/assert.hpp"
#include "messages/place_or_due.hpp"

#include <caf/actor_cast.hpp>
#include <caf/send.hpp>

#include <algorithm>

namespace handfast {

/// Enough to write although the loop has more to read: the disk works while the next batch forms.
/// More than what is synced inline, so that small batches still wait for each other.
constexpr std::size_t early_records = 96;

/// Cookies by reason, for one answer each.
struct commit_log_state::refusals {
  std::vector<append_refused> all;

  void add(std::uint64_t cookie, error why) {
    for (auto& r : all)
      if (r.why.code == why.code) {
        r.cookies.push_back(cookie);
        return;
      }
    all.push_back({{cookie}, std::move(why)});
  }
};

ec commit_log_state::refusal_of_new() const {
  if (failed_)
    return ec::io_error;
  if (stage_ != stage::open)
    return ec::stopping;
  if (disk_.full)
    return ec::disk_full;
  return builder_->tail().value - durable_.value >= log_admission_bytes_max ? ec::busy : ec::ok;
}

/// Of decisions, checks, progress, metadata: only when nothing else is possible.
ec commit_log_state::refusal_of_rest() const {
  if (failed_)
    return ec::io_error;
  if (stage_ == stage::last_checkpoint || stage_ == stage::over)
    return ec::stopping;
  if (!disk_.full)
    return ec::ok;
  const auto waiting = builder_->tail().value - durable_.value;
  return log_->prepared_ahead() < waiting + log_reserve_bytes ? ec::disk_full : ec::ok;
}

std::string commit_log_state::detail_of(ec refusal) const {
  return refusal == ec::disk_full ? disk_.detail : std::string{};
}

wall_ms commit_log_state::stamp_time() {
  return tail_.newest_ms = std::max(tail_.newest_ms, env_->time->wall());
}

void commit_log_state::on_append_messages(append_messages& x) {
  const auto asker = self_->current_sender();
  const auto refusal = refusal_of_new();
  const auto now = stamp_time();
  std::vector<message_stored> at_once;
  messages_in_ += x.requests.size();
  for (auto& request : x.requests)
    accept_message(request, asker, refusal, now, at_once);
  if (!at_once.empty() && asker)
    self_->send(caf::actor_cast<connection_actor>(asker),
                messages_stored{std::move(at_once), detail_of(refusal)});
  appended();
}

void commit_log_state::accept_message(store_request& r, const caf::strong_actor_ptr& asker,
                                      ec refusal, wall_ms now,
                                      std::vector<message_stored>& at_once) {
  auto& m = r.message;
  const queue_key queue{m.topic, m.queue};
  if (m.producer.value != 0 && m.sequence.value != 0) {
    const auto known = tail_.windows.find(m.producer, m.sequence);
    if (known.seen == send_seen::yes) {
      ++repeats_;
      auto* waiters = waiters_for(known.first.at);
      auto& results = waiters ? waiters->results_for(asker) : at_once;
      results.push_back({r.id, ec::ok, known.first.at, known.first.queue,
                         offset_in(known.first.offset), due_in(known.first.offset)});
      return;
    }
    if (known.seen == send_seen::forgotten)
      refusal = ec::outcome_unknown;
  }
  const bool delayed = m.delay_ms != 0;
  if (refusal == ec::ok && delayed && delays_full_)
    refusal = ec::too_many_delayed;
  if (refusal != ec::ok) {
    ++refused_;
    at_once.push_back({r.id, refusal, {}, queue, {}});
    return;
  }
  const auto producer = m.producer;
  const auto sequence = m.sequence;
  // From the clock itself: `now` never goes back, not even when that is set back.
  const wall_ms due = delayed ? env_->time->wall() + m.delay_ms : 0;
  m.offset = delayed ? place_or_due({}, due) : tail_.heads.take(queue);
  const auto place = m.offset;
  log_record record{record_type::message, {}, 0, 0, now, std::move(m), 0};
  const auto at = builder_->add(std::move(record));
  if (!at) {
    if (!delayed)
      tail_.heads.put_back(queue);
    ++refused_;
    at_once.push_back({r.id, at.error().code, {}, queue, {}});
    return;
  }
  tail_.windows.add(producer, sequence, {*at, place, queue}, now);
  if (asker)
    forming_.results_for(asker).push_back({r.id, ec::ok, *at, queue, offset_in(place), due});
}

void commit_log_state::on_append_records(append_records& x) {
  if (!subscribers_.is_current(x.who)) {
    refuse_all(x, ec::recovering);
    return;
  }
  const auto now = stamp_time();
  refusals refused;
  std::vector<repeated_append> at_once;
  for (auto& record : x.records)
    accept_record(record, x, now, refused, at_once);
  const auto& actor = *subscribers_.find(x.who);
  for (auto& r : refused.all) {
    refused_ += r.cookies.size();
    self_->send(actor, std::move(r));
  }
  if (!at_once.empty())
    self_->send(caf::actor_cast<half_store_actor>(actor), append_repeated{std::move(at_once)});
  appended();
}

void commit_log_state::refuse_all(const append_records& x, ec why) {
  append_refused answer;
  for (const auto& r : x.records)
    answer.cookies.push_back(r.cookie);
  answer.why.code = why;
  refused_ += answer.cookies.size();
  if (const auto& sender = self_->current_sender())
    self_->send(caf::actor_cast<fold_actor>(sender), std::move(answer));
}

void commit_log_state::accept_record(log_record& r, const append_records& from, wall_ms now,
                                     refusals& refused, std::vector<repeated_append>& at_once) {
  const auto cookie = r.cookie;
  const bool half = r.type == record_type::half;
  auto why = half ? refusal_of_new() : refusal_of_rest();
  if (from.unless_repeated != ec::ok)
    why = from.unless_repeated;
  producer_id producer;
  sequence_no sequence;
  queue_key queue;
  if (half) {
    const auto& m = std::get<message_record>(r.content);
    producer = m.producer;
    sequence = m.sequence;
    queue = {m.topic, m.queue};
    const auto known = producer.value != 0 && sequence.value != 0
                           ? tail_.windows.find(producer, sequence)
                           : producer_windows::found{};
    if (known.seen == send_seen::yes) {
      ++repeats_;
      const repeated_append item{cookie, known.first.at, known.first.queue, known.first.offset};
      if (auto* waiters = waiters_for(known.first.at))
        waiters->repeats.push_back({from.who, item});
      else
        at_once.push_back(item);
      return;
    }
    if (known.seen == send_seen::forgotten)
      why = ec::outcome_unknown;
    if (why == ec::ok && m.delay_ms != 0 && delays_full_)
      why = ec::too_many_delayed;
  }
  if (why != ec::ok) {
    refused.add(cookie, {why, detail_of(why)});
    return;
  }
  r.time_ms = now;
  if (half) {
    const auto offset = tail_.heads.take(queue_heads::half_view);
    std::get<message_record>(r.content).offset = offset;
    if (const auto at = builder_->add(std::move(r))) {
      tail_.windows.add(producer, sequence, {*at, offset, queue}, now);
    } else {
      tail_.heads.put_back(queue_heads::half_view);
      refused.add(cookie, at.error());
    }
  } else if (const auto at = append(r); !at) {
    refused.add(cookie, at.error());
  }
}

/// Stamps offsets and adds to the forming batch: all but MESSAGE and HALF.
result<position> commit_log_state::append(log_record& r) {
  const auto size = storage::record_codec::size_of(r);
  if (!size)
    return tl::unexpected{size.error()};
  if (const auto at = builder_->next_position(size->stored); !at)
    return at;
  take_offsets(r);
  // Offsets have a fixed width, so the size is still right and nothing can be refused from here on.
  auto at = builder_->add(std::move(r));
  HANDFAST_ASSERT(at);
  return at;
}

void commit_log_state::take_offsets(log_record& r) {
  if (r.type == record_type::decide) {
    auto& d = std::get<decide_record>(r.content);
    d.op_offset = tail_.heads.take(queue_heads::op_view);
    for (auto& e : d.entries)
      if (e.is_delayed())
        e.due_ms += env_->time->wall();
      else
        e.offset = tail_.heads.take({e.topic, e.queue});
  } else if (r.type == record_type::dead_letter) {
    auto& m = std::get<dead_letter_record>(r.content).message;
    m.offset = tail_.heads.take({m.topic, m.queue});
  } else if (r.type == record_type::release) {
    for (auto& e : std::get<release_record>(r.content).entries)
      e.offset = tail_.heads.take({e.topic, e.queue});
  }
}

/// Who waits for the batch that holds `at`; null if that is durable.
batch_waiters* commit_log_state::waiters_for(position at) {
  if (at < durable_)
    return nullptr;
  return flight_ && at < flight_->to ? &flight_->waiters : &forming_;
}

void commit_log_state::append_own(record_type type, record_content content) {
  log_record record{type, {}, 0, 0, stamp_time(), std::move(content), 0};
  HANDFAST_ASSERT(append(record));
}

/// After each append: has the batch written when the loop is idle, or now if it is large.
void commit_log_state::appended() {
  if (flight_ || failed_ || builder_->empty())
    return;
  if (builder_->full() || builder_->records() >= early_records) {
    submit();
  } else if (!asked_idle_) {
    asked_idle_ = true;
    env_->idle->at_next_idle([weak = caf::actor_cast<caf::weak_actor_ptr>(self_)] {
      if (const auto strong = weak.lock())
        caf::anon_send(caf::actor_cast<commit_log_actor>(strong), flush{});
    });
  }
}

void commit_log_state::on_flush() {
  asked_idle_ = false;
  if (!flight_ && !failed_ && !builder_->empty())
    submit();
}

void commit_log_state::submit() {
  auto batch = builder_->take();
  flight_.emplace();
  flight_->number = ++batches_;
  flight_->to = batch.to();
  flight_->records = batch.records();
  flight_->waiters = std::exchange(forming_, {});
  const auto records = flight_->records->records.size();
  env_->writer->submit(std::move(batch), records,
                       [weak = caf::actor_cast<caf::weak_actor_ptr>(self_),
                        number = flight_->number](error why, std::chrono::microseconds took) {
                         if (const auto strong = weak.lock())
                           caf::anon_send(caf::actor_cast<commit_log_actor>(strong),
                                          batch_synced{number, std::move(why),
                                                       static_cast<std::uint64_t>(took.count())});
                       });
}

} // namespace handfast
