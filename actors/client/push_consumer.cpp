#include "actors/client/push_consumer.hpp"

#include "actors/client/calls.hpp"
#include "messages/names.hpp"
#include "messages/order_key.hpp"

#include <algorithm>

namespace handfast::client {

namespace {

constexpr auto pause_first = std::chrono::milliseconds{20};
constexpr auto pause_max = std::chrono::milliseconds{2'000};
/// A thread takes several messages at once while there are many, and says after this what became
/// of them.
constexpr auto report_every = std::chrono::milliseconds{5};
constexpr std::size_t take_max = 64;
constexpr std::size_t acknowledge_max = 4'096;

} // namespace

push_consumer::source::source(std::weak_ptr<push_consumer> whose, std::string name)
    : owner{std::move(whose)}, topic{std::move(name)}, pause{pause_first, pause_max} {}

void push_consumer::source::on_delivered(native::delivered&& what) {
  if (const auto whose = owner.lock())
    whose->take(shared_from_this(), std::move(what));
}

void push_consumer::source::on_end(const error& why) {
  if (const auto whose = owner.lock())
    whose->lost(*this, why);
}

push_consumer::push_consumer(std::shared_ptr<session> via, consumer_options options,
                             consumer::handler on_message)
    : via_{std::move(via)}, options_{std::move(options)}, on_message_{std::move(on_message)} {}

void push_consumer::start() {
  for (const auto& topic : options_.topics)
    sources_.push_back(std::make_shared<source>(weak_from_this(), topic));
  threads_.emplace_back([this] { keep(); });
  for (std::size_t n = 0; n < std::max<std::size_t>(options_.threads, 1); ++n)
    threads_.emplace_back([this] { work(); });
}

error push_consumer::last_error() const {
  std::lock_guard lock{mutex_};
  return problem_;
}

void push_consumer::note(const error& why) {
  problem_ = why;
}

void push_consumer::submit(requests& all) {
  for (auto& r : all)
    via_->submit(std::move(r));
  all.clear();
}

// -- subscriptions --------------------------------------------------------------

/// Subscribes whatever is not subscribed.
void push_consumer::keep() {
  std::unique_lock lock{mutex_};
  while (!stopping_) {
    auto next = clock::time_point::max();
    requests now;
    for (const auto& s : sources_) {
      if (s->stream != 0 || s->asking)
        continue;
      if (s->retry_at > clock::now()) {
        next = std::min(next, s->retry_at);
        continue;
      }
      s->asking = true;
      now.push_back(subscribe_request(s));
    }
    if (!now.empty()) {
      lock.unlock();
      submit(now);
      lock.lock();
    } else if (next == clock::time_point::max()) {
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock, next);
    }
  }
}

request push_consumer::subscribe_request(const std::shared_ptr<source>& to) {
  native::subscribe asked;
  asked.group_name = options_.group;
  asked.credit = std::max(options_.credit, 1U);
  asked.start = to->was_missing ? start_point{} : options_.start.value_or(start_point{});
  asked.terms = {options_.mode == consume_mode::ordered ? delivery_mode::ordered
                                                        : delivery_mode::concurrent,
                 options_.filter.kind, options_.filter.expression};
  auto r = topic_request(std::move(asked), to->topic);
  r.resend = false;
  r.stream = to;
  r.done = [self = shared_from_this(), to](const reply& got) { self->subscribed(*to, got); };
  return r;
}

void push_consumer::subscribed(source& to, const reply& got) {
  std::lock_guard lock{mutex_};
  to.asking = false;
  if (const auto* begun = std::get_if<native::delivered>(&got.body);
      begun && got.why.code == ec::ok) {
    to.stream = begun->id.value;
    to.group = begun->group;
    to.pause.reset();
    note({});
  } else {
    note(got.why);
    to.was_missing = to.was_missing || got.why.code == ec::unknown_topic;
    to.retry_at = clock::now() + to.pause.next(via_->random());
  }
  changed_.notify_all();
}

/// What came by it and is not begun is not ours any more.
void push_consumer::lost(source& from, const error& why) {
  std::lock_guard lock{mutex_};
  from.stream = 0;
  from.credit = 0;
  from.retry_at = clock::now() + from.pause.next(via_->random());
  auto is_lost = [&](const task& t) { return t.from.get() == &from; };
  for (const auto& t : ready_)
    if (is_lost(t) && options_.mode == consume_mode::ordered)
      lanes_.erase(lane_of(t.message));
  std::erase_if(ready_, is_lost);
  for (auto& [where, waiting] : lanes_)
    std::erase_if(waiting, is_lost);
  note(why);
  changed_.notify_all();
}

// -- handling ---------------------------------------------------------------------

push_consumer::lane push_consumer::lane_of(const received_message& message) const {
  const auto& key = message.content.order_key;
  return {message.delivery.queue, !key.empty(), key.empty() ? 0 : order_hash(key)};
}

void push_consumer::take(const std::shared_ptr<source>& from, native::delivered&& what) {
  auto messages = messages_of(what, from->topic, clock::now());
  {
    std::lock_guard lock{mutex_};
    for (auto& m : messages) { // also while it stops: `stop` gives them back
      task t{from, std::move(m), what.id.value};
      if (options_.mode != consume_mode::ordered) {
        ready_.push_back(std::move(t));
        continue;
      }
      const auto [at, is_free] = lanes_.try_emplace(lane_of(t.message));
      (is_free ? ready_ : at->second).push_back(std::move(t));
    }
  }
  work_.notify_all();
}

void push_consumer::work() {
  std::vector<task> mine;
  std::unique_lock lock{mutex_};
  for (;;) {
    work_.wait(lock, [this] { return stopping_ || !ready_.empty(); });
    if (stopping_)
      return;
    const auto share = ready_.size() / (2 * std::max<std::size_t>(options_.threads, 1));
    for (auto n = std::clamp<std::size_t>(share, 1, take_max); n > 0; --n) {
      mine.push_back(std::move(ready_.front()));
      ready_.pop_front();
    }
    lock.unlock();
    run(mine);
    mine.clear();
    lock.lock();
  }
}

void push_consumer::run(std::vector<task>& mine) {
  std::vector<result> results;
  auto reported = clock::now();
  for (auto& t : mine) {
    const auto now = clock::now();
    if (now - reported >= report_every) {
      report(results);
      reported = now;
    }
    const auto& at = t.message.delivery;
    const bool begin = !stopping_ && now < at.until;
    const auto verdict = begin ? handle(t.message) : consumed::returned;
    results.push_back({t.from,
                       {at, verdict},
                       t.stream,
                       options_.mode == consume_mode::ordered ? lane_of(t.message) : lane{}});
  }
  report(results);
}

consumed push_consumer::handle(const received_message& message) {
  try {
    return on_message_(message);
  } catch (...) { // the application's own: it comes again
    return consumed::failed;
  }
}

void push_consumer::report(std::vector<result>& results) {
  if (results.empty())
    return;
  requests now;
  bool more = false;
  {
    std::lock_guard lock{mutex_};
    for (auto& r : results) {
      r.from->said.push_back(r.what);
      r.from->credit += r.stream == r.from->stream ? 1 : 0;
      if (options_.mode != consume_mode::ordered)
        continue;
      const auto at = lanes_.find(r.where);
      if (at == lanes_.end())
        continue;
      if (at->second.empty()) {
        lanes_.erase(at);
        continue;
      }
      ready_.push_back(std::move(at->second.front()));
      at->second.pop_front();
      more = true;
    }
    for (const auto& s : sources_)
      add_acknowledgement(s, now);
  }
  if (more)
    work_.notify_all();
  results.clear();
  submit(now);
}

// -- acknowledging ----------------------------------------------------------------

void push_consumer::add_acknowledgement(const std::shared_ptr<source>& of, requests& into) {
  if (of->sending || of->said.empty())
    return;
  std::vector<settled> part;
  if (of->said.size() <= acknowledge_max) {
    part.swap(of->said);
  } else {
    const auto end = of->said.begin() + acknowledge_max;
    part.assign(of->said.begin(), end);
    of->said.erase(of->said.begin(), end);
  }
  of->sending = true;
  native::acknowledge frame;
  frame.group = of->group;
  frame.items = items_of(part, clock::now());
  frame.subscription = {of->stream};
  frame.credit = std::exchange(of->credit, 0);
  request r;
  // A repeat must not give the credit a second time.
  r.encode = [frame, repeated = false](native::frame_writer& to, const addressing& with) mutable {
    frame.id = with.id;
    if (std::exchange(repeated, true))
      frame.credit = 0;
    native::encode(to, frame);
  };
  r.topic = of->topic; // a new connection has to learn of it
  r.done = [self = shared_from_this(), of](const reply& got) { self->acknowledged(of, got); };
  into.push_back(std::move(r));
}

void push_consumer::acknowledged(const std::shared_ptr<source>& of, const reply& got) {
  requests now;
  {
    std::lock_guard lock{mutex_};
    of->sending = false;
    if (got.why.code != ec::ok)
      note(got.why);
    if (got.why.code == ec::stopping)
      of->said.clear();
    add_acknowledgement(of, now);
    changed_.notify_all();
  }
  submit(now);
}

// -- the end ------------------------------------------------------------------------

bool push_consumer::all_said() const {
  return std::all_of(sources_.begin(), sources_.end(),
                     [](const auto& s) { return !s->sending && s->said.empty(); });
}

void push_consumer::stop() {
  {
    std::lock_guard lock{mutex_};
    if (stopping_.exchange(true))
      return;
  }
  work_.notify_all();
  changed_.notify_all();
  for (auto& t : threads_)
    t.join();
  unsubscribe_all(); // nothing comes behind the answer
  give_back_all();
}

void push_consumer::give_back_all() {
  std::vector<result> left;
  {
    std::lock_guard lock{mutex_};
    auto give_back = [&](std::deque<task>& tasks) {
      for (const auto& t : tasks)
        left.push_back({t.from, {t.message.delivery, consumed::returned}, t.stream, {}});
      tasks.clear();
    };
    give_back(ready_);
    for (auto& [where, waiting] : lanes_)
      give_back(waiting);
    lanes_.clear();
  }
  report(left);
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return all_said(); }); // each request ends by itself
}

void push_consumer::unsubscribe_all() {
  for (const auto& s : sources_) {
    std::uint64_t stream = 0;
    {
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [&] { return !s->asking; });
      stream = s->stream;
    }
    if (stream == 0)
      continue;
    auto r = single_request([stream](const addressing& with) {
      return native::unsubscribe{with.id, {stream}};
    });
    r.resend = false;
    wait_for(*via_, std::move(r));
    via_->drop_stream({stream});
  }
}

} // namespace handfast::client
