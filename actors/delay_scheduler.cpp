#include "actors/delay_scheduler.hpp"

#include "actors/type_ids.hpp"
#include "config/settings.hpp"
#include "messages/assert.hpp"
#include "messages/limits.hpp"

#include <caf/actor_cast.hpp>

#include <algorithm>
#include <utility>

namespace handfast {

namespace {

/// Entries looked at in one step of a listing: well under a millisecond.
constexpr std::size_t list_step = 8'192;
/// Entries looked at, and cancelled at most, by one record of a dropping.
constexpr std::size_t drop_step = 2'048;

index_entry entry_of(const delayed_entry& e) {
  return {e.at, e.topic, e.queue, {}, e.length, e.tag_hash, e.due};
}

} // namespace

void delay_scheduler_state::begin(const shard_environment* env, fold_start<delay_fold> from) {
  env_ = env;
  appends_.emplace(from.life);
  member_.emplace(self_, appender{appender_role::delay_scheduler, 0, from.life},
                  std::string{delay_fold::slice_prefix}, std::move(from));
}

// -- peers and coming back -------------------------------------------------------------

void delay_scheduler_state::on_peers(const peers_changed& x) {
  peers_ = x.peers;
  member_->connect(*peers_);
  begin_service();
}

/// What was due while nobody was there is released from now on.
void delay_scheduler_state::begin_service() {
  if (served_ || !peers_ || !member_->serving())
    return;
  served_ = true;
  tell_room();
  set_timer();
}

ec delay_scheduler_state::not_now() const {
  if (stopping_)
    return ec::stopping;
  return served_ ? ec::ok : ec::recovering;
}

void delay_scheduler_state::on_replayed(const log_replayed& x) {
  member_->on_replayed(x, [this](const log_record& r, bool replayed) { apply(r, replayed); });
  begin_service();
}

void delay_scheduler_state::on_durable(const records_durable& x) {
  member_->on_durable(x, [this](const log_record& r, bool replayed) { apply(r, replayed); });
  begin_service();
  tell_room();
  set_timer();
  drop_some();
  answer_stop_if_done();
}

// -- applying ----------------------------------------------------------------------------

void delay_scheduler_state::apply(const log_record& record, bool replayed) {
  const auto before = member_->fold.waiting.size();
  member_->fold.apply(record);
  if (replayed)
    return;
  const auto after = member_->fold.waiting.size();
  taken_in_ += after > before ? after - before : 0;
  if (record.type != record_type::release)
    return;
  count(std::get<release_record>(record.content));
  const auto ours = appends_->take(record.cookie);
  if (ours && ours->what == purpose::release)
    --releases_under_way_;
  else if (ours && ours->what == purpose::drop)
    drop_under_way_ = false;
}

void delay_scheduler_state::count(const release_record& record) {
  released_ += record.entries.size();
  cancelled_ += record.cancelled.size();
  for (const auto at : record.cancelled)
    answer_cancel(at, ec::ok);
}

/// COMMIT LOG refuses what would make the table larger than it may get.
void delay_scheduler_state::tell_room() {
  const bool full = member_->fold.waiting.size() >= env_->settings->delay.max;
  if (!served_ || full == told_full_)
    return;
  told_full_ = full;
  self_->send(peers_->commit_log.actor, delay_room{full});
}

// -- releasing ---------------------------------------------------------------------------

void delay_scheduler_state::on_tick(const tick& x) {
  if (x.timer == list_more) {
    list_some();
    return;
  }
  if (x.timer == drop_more) {
    drop_some();
    return;
  }
  if (x.timer != timer_)
    return;
  timer_at_.reset();
  release_some();
  set_timer();
}

/// One RELEASE: set_timer sees to the rest.
void delay_scheduler_state::release_some() {
  if (not_now() != ec::ok || releases_under_way_ >= releases_under_way_max)
    return;
  std::vector<delayed_entry> due;
  member_->fold.waiting.take_due(env_->time->wall(), release_batch, due);
  if (due.empty())
    return;
  release_record record;
  append_under_way what;
  what.messages.reserve(due.size());
  record.entries.reserve(due.size());
  for (const auto& e : due) {
    what.messages.push_back(e.at);
    if (member_->fold.rules.admits({e.topic, e.queue}) == ec::ok) {
      record.entries.push_back(entry_of(e));
      record.entries.back().due_ms = 0;
    } else {
      record.cancelled.push_back(e.at);
    }
  }
  ++releases_under_way_;
  append(std::move(record), std::move(what));
}

void delay_scheduler_state::append(release_record content, append_under_way what) {
  append_records out{member_->who(), {}};
  auto& record = out.records.emplace_back();
  record.type = record_type::release;
  record.cookie = appends_->add(std::move(what));
  record.content = std::move(content);
  self_->send(peers_->commit_log.actor, std::move(out));
}

/// The next look: when something is due, at once if it is already. While enough is on its way to
/// the log, what becomes durable wakes this.
void delay_scheduler_state::set_timer() {
  if (not_now() != ec::ok || releases_under_way_ >= releases_under_way_max)
    return;
  const auto next = member_->fold.waiting.next_due();
  if (!next)
    return;
  const auto wall = env_->time->wall();
  const auto wait = *next > wall ? *next - wall : 0;
  wake_in(std::chrono::milliseconds{
      std::min<std::uint64_t>(wait, static_cast<std::uint64_t>(look_every.count()))});
}

void delay_scheduler_state::wake_in(std::chrono::milliseconds in) {
  const auto at = env_->time->now() + in;
  if (timer_at_ && *timer_at_ <= at)
    return;
  timer_at_ = at;
  const tick wake{timer_ = std::max<std::uint32_t>(timer_ + 1, first_wake)};
  if (in.count() == 0)
    self_->send(self_, wake);
  else
    self_->delayed_send(self_, in, wake);
}

void delay_scheduler_state::on_refused(const append_refused& x) {
  for (const auto cookie : x.cookies) {
    const auto refused = appends_->take(cookie);
    if (!refused)
      continue;
    for (const auto at : refused->messages)
      member_->fold.waiting.put_back(at);
    switch (refused->what) {
    case purpose::release:
      --releases_under_way_;
      break;
    case purpose::cancel:
      answer_cancel(refused->messages.front(), x.why.code);
      break;
    case purpose::drop:
      drop_under_way_ = false;
      end_dropping(x.why.code);
      break;
    }
  }
  if (not_now() == ec::ok)
    wake_in(retry_after);
  answer_stop_if_done();
}

// -- cancelling --------------------------------------------------------------------------

void delay_scheduler_state::on_cancel(const cancel_delayed& x) {
  const asker from{self_->current_sender(), x.id};
  const auto refuse_with = [&](ec code) {
    self_->send(caf::actor_cast<connection_actor>(from.who), delayed_cancelled{x.id, code});
  };
  if (const auto code = not_now(); code != ec::ok)
    return refuse_with(code);
  if (const auto found = cancelling_.find(x.at); found != cancelling_.end()) {
    found.value().push_back(from);
    return;
  }
  const auto* entry = member_->fold.waiting.find(x.at);
  if (!entry || entry->due <= env_->time->wall() || !member_->fold.waiting.take(x.at))
    return refuse_with(ec::unknown_message);
  cancelling_[x.at].push_back(from);
  append({{}, {x.at}}, {{x.at}, purpose::cancel});
}

void delay_scheduler_state::answer_cancel(position at, ec code) {
  const auto found = cancelling_.find(at);
  if (found == cancelling_.end())
    return;
  for (const auto& to : found->second)
    self_->send(caf::actor_cast<connection_actor>(to.who), delayed_cancelled{to.id, code});
  cancelling_.erase(found);
}

// -- dropping ----------------------------------------------------------------------------

void delay_scheduler_state::on_drop(const drop_delayed& x) {
  const asker from{self_->current_sender(), x.id};
  if (const auto code = not_now(); code != ec::ok) {
    self_->send(caf::actor_cast<connection_actor>(from.who), delayed_cancelled{x.id, code});
    return;
  }
  droppings_.push_back({from, x.topic, {}});
  if (droppings_.size() == 1)
    drop_some();
}

/// One step: what becomes durable, or the next round of the loop, brings the one after it.
void delay_scheduler_state::drop_some() {
  if (droppings_.empty() || drop_under_way_ || not_now() != ec::ok)
    return;
  auto& now = droppings_.front();
  auto& waiting = member_->fold.waiting;
  if (waiting.messages_of(now.topic) == 0)
    return end_dropping(ec::ok);
  std::vector<delayed_entry> page;
  const bool more = waiting.page(now.after, drop_step, page);
  release_record record;
  for (const auto& e : page)
    if (e.topic == now.topic && waiting.take(e.at))
      record.cancelled.push_back(e.at);
  if (!more)
    now.after = {}; // once more: what is left is on its way already, or came meanwhile
  if (!record.cancelled.empty()) {
    drop_under_way_ = true;
    auto messages = record.cancelled;
    append(std::move(record), {std::move(messages), purpose::drop});
  } else if (more) {
    self_->delayed_send(self_, std::chrono::milliseconds{1}, tick{drop_more});
  }
}

void delay_scheduler_state::end_dropping(ec code) {
  const auto& from = droppings_.front().from;
  self_->send(caf::actor_cast<connection_actor>(from.who), delayed_cancelled{from.id, code});
  droppings_.pop_front();
  if (!droppings_.empty())
    self_->delayed_send(self_, std::chrono::milliseconds{1}, tick{drop_more});
}

// -- lists -------------------------------------------------------------------------------

void delay_scheduler_state::on_list(const list_delayed& x) {
  const asker from{self_->current_sender(), x.id};
  if (const auto code = not_now(); code != ec::ok) {
    self_->send(caf::actor_cast<connection_actor>(from.who), delayed_listed{x.id, code, {}, false});
    return;
  }
  listings_.push_back({from, x, {x.after_due_ms, x.after_at}, {}});
  listings_.back().what.max =
      std::clamp<std::uint32_t>(x.max, 1, static_cast<std::uint32_t>(limits::page_items_max));
  if (listings_.size() == 1)
    list_some();
}

/// In steps, since the messages of one topic may be few among millions.
void delay_scheduler_state::list_some() {
  if (listings_.empty())
    return;
  auto& now = listings_.front();
  const std::size_t wanted = std::size_t{now.what.max} + 1;
  const auto& waiting = member_->fold.waiting;
  const bool any_topic = now.what.topic == topic_id{};
  bool more = any_topic || waiting.messages_of(now.what.topic) > 0;
  std::vector<delayed_entry> page;
  for (std::size_t seen = 0; more && seen < list_step && now.found.size() < wanted;) {
    page.clear();
    more = waiting.page(now.after, any_topic ? wanted - now.found.size() : list_step, page);
    seen += page.size();
    for (const auto& e : page)
      if (now.found.size() < wanted && (any_topic || e.topic == now.what.topic))
        now.found.push_back(e);
  }
  if (!more || now.found.size() >= wanted) {
    send_listing(now, now.found.size() >= wanted);
    listings_.pop_front();
  }
  if (!listings_.empty())
    self_->delayed_send(self_, std::chrono::milliseconds{1}, tick{list_more});
}

void delay_scheduler_state::send_listing(listing& from, bool more) {
  delayed_listed answer{from.from.id, ec::ok, {}, more};
  from.found.resize(std::min<std::size_t>(from.found.size(), from.what.max));
  answer.page.reserve(from.found.size());
  for (const auto& e : from.found)
    answer.page.push_back({entry_of(e), e.transaction == position{} ? transaction_id{}
                                                                    : env_->ids.at(e.transaction)});
  self_->send(caf::actor_cast<connection_actor>(from.from.who), std::move(answer));
}

void delay_scheduler_state::on_topic_usage(const ask_topic_usage& x) {
  topic_usage answer;
  answer.topic = x.topic;
  answer.delayed = member_->fold.waiting.messages_of(x.topic);
  answer.of = appender_role::delay_scheduler;
  self_->send(caf::actor_cast<topic_registry_actor>(self_->current_sender()), answer);
}

// -- checkpoints, the end, status -----------------------------------------------------------

void delay_scheduler_state::on_stop() {
  stopper_ = self_->current_sender();
  stopping_ = true;
  while (!droppings_.empty() && !drop_under_way_)
    end_dropping(ec::stopping);
  answer_stop_if_done();
}

void delay_scheduler_state::answer_stop_if_done() {
  if (!stopping_ || !stopper_ || !appends_->empty())
    return;
  self_->send(caf::actor_cast<node_supervisor_actor>(stopper_), stopped{name, {}});
  stopper_ = nullptr;
}

status_report delay_scheduler_state::status() const {
  const auto& waiting = member_->fold.waiting;
  const auto wall = env_->time->wall();
  const auto next = waiting.next_due();
  status_report report;
  report.actor = name;
  const auto add = [&](const char* sample_name, auto value, std::string labels = {}) {
    report.samples.push_back({sample_name, std::move(labels), static_cast<double>(value)});
  };
  for (const auto& [topic, count] : waiting.by_topic())
    add("rocketmq_timing_messages", count,
        "topic=\"" + member_->fold.rules.topic_name(topic) + "\"");
  add("handfast_delayed_messages", waiting.size());
  add("handfast_delayed_bytes", waiting.bytes());
  add("handfast_delayed_max", env_->settings->delay.max);
  add("handfast_delay_next_due_seconds", next ? static_cast<double>(*next) / 1e3 : 0.0);
  add("rocketmq_timer_dequeue_latency", next && *next < wall ? wall - *next : 0); // milliseconds
  add("handfast_delay_releases_under_way", releases_under_way_);
  add("rocketmq_timer_enqueue_total", taken_in_);
  add("rocketmq_timer_dequeue_total", released_);
  add("handfast_delay_cancelled_total", cancelled_);
  add("handfast_delay_scheduler_serving", served_ ? 1 : 0);
  report.quarantined = member_->quarantined();
  return report;
}

delay_scheduler_actor::behavior_type delay_scheduler(delay_scheduler_state::self_pointer self,
                                                     const shard_environment* env,
                                                     fold_start<delay_fold> from) {
  auto& s = self->state;
  s.begin(env, std::move(from));
  // The busiest first: CAF compares a message with one after the other.
  return {
      [&s](const records_durable& x) { s.on_durable(x); },
      [&s](const tick& x) { s.on_tick(x); },
      [&s](const peers_changed& x) { s.on_peers(x); },
      [&s](const stop&) { s.on_stop(); },
      [&s](const status_request&) { return s.status(); },
      [&s](const appender_registered& x) { s.on_registered(x); },
      [&s](const slices_loaded& x) { s.on_slices(x); },
      [&s](const log_replayed& x) { s.on_replayed(x); },
      [&s](const append_refused& x) { s.on_refused(x); },
      [&s](const take_slices& x) { return s.slices(x); },
      [&s](const list_delayed& x) { s.on_list(x); },
      [&s](const cancel_delayed& x) { s.on_cancel(x); },
      [&s](const drop_delayed& x) { s.on_drop(x); },
      [&s](const ask_topic_usage& x) { s.on_topic_usage(x); },
  };
}

} // namespace handfast
