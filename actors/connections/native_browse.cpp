#include "actors/connections/core_send.hpp"
#include "actors/connections/native_bodies.hpp"
#include "actors/connections/native_connection.hpp"
#include "actors/connections/native_consume_parts.hpp"

#include <algorithm>
#include <utility>

namespace handfast {

namespace {

constexpr std::string_view too_many = "too many reads on one connection";

bool is_view(topic_id topic) {
  return topic == half_view_topic || topic == op_view_topic;
}

} // namespace

// -- what is asked for --------------------------------------------------------------

void browse_part::on(const native::read_view& x) {
  if (!core_.allowed(x.id, action::browse, {}))
    return;
  if (jobs_.size() >= jobs_max || links_.size() >= links_max)
    return core_.refuse(x.id, ec::busy, too_many);
  const auto number = core_.next_job();
  auto& work = jobs_[number];
  work.client = work.answer.id = x.id;
  work.messages_max = std::clamp<std::uint32_t>(x.messages_max, 1, read_messages_max);
  work.bytes_max = delivered_bytes_max;
  const queue_key key{x.topic, x.queue};
  if (!is_view(x.topic)) {
    work.what = purpose::queue;
    work.places.push_back({key, x.offset, place::stage::wanted, false, {}});
    return begin(number, work);
  }
  work.places.push_back({key, {}, place::stage::asked, false, {}});
  core_.ask(core_.peers->log_reader.actor, read_view{{}, x.topic, x.offset, work.messages_max},
            {{}, request_kind::browse_view, peer_role::log_reader, 0, number});
}

void browse_part::on(const native::read_queues& x) {
  const auto* topic = core_.topic(x.topic);
  if (!topic || is_view(x.topic))
    return core_.refuse(x.id, topic ? ec::read_only_topic : ec::unknown_topic,
                        "resolve the topic on this connection first; views have no queues to read");
  if (!core_.allowed(x.id, action::consume, topic->name))
    return;
  if (jobs_.size() >= jobs_max || links_.size() + x.places.size() >= links_max)
    return core_.refuse(x.id, ec::busy, too_many);
  auto wanted = filter_of(x.filter, x.expression);
  if (!wanted)
    return core_.refuse(x.id, wanted.error().code, wanted.error().detail);
  if (x.places.empty() || x.places.size() > topic->queues)
    return core_.refuse(x.id, ec::bad_request, "name each queue that is to be read once");
  job work;
  work.what = purpose::broadcast;
  work.client = work.answer.id = x.id;
  work.messages_max = std::clamp<std::uint32_t>(x.messages_max, 1, limits::page_items_max);
  work.bytes_max =
      x.bytes_max == 0 ? delivered_bytes_max : std::min(x.bytes_max, delivered_bytes_max);
  work.wanted = *std::move(wanted);
  work.until = core_.env->time->now() + std::chrono::milliseconds{std::min(x.wait_ms, wait_ms_max)};
  for (const auto& at : x.places) {
    const queue_key key{x.topic, at.queue};
    if (at.queue.value >= topic->queues || place_of(work, key))
      return core_.refuse(x.id, ec::unknown_queue, "a queue that is not there, or twice the same");
    work.places.push_back({key, at.offset, place::stage::wanted, false, {}});
  }
  const auto number = core_.next_job();
  begin(number, jobs_[number] = std::move(work));
}

void browse_part::on(const native::find_offsets& x) {
  const auto* topic = core_.topic(x.topic);
  if (!topic)
    return core_.refuse(x.id, ec::unknown_topic, "resolve the topic on this connection first");
  if (!core_.allowed(x.id, action::look, topic->name))
    return;
  if (x.one_queue && x.queue.value >= topic->queues)
    return core_.refuse(x.id, ec::unknown_queue);
  if (jobs_.size() >= jobs_max || links_.size() + topic->queues >= links_max)
    return core_.refuse(x.id, ec::busy, too_many);
  const auto number = core_.next_job();
  auto& work = jobs_[number];
  work.what = purpose::offsets;
  work.client = work.found.id = x.id;
  work.point = x.point;
  for (std::uint32_t n = 0; n < topic->queues; ++n)
    if (const queue_no queue{static_cast<std::uint16_t>(n)}; !x.one_queue || x.queue == queue)
      work.places.push_back({{x.topic, queue}, {}, place::stage::wanted, false, {}});
  begin(number, work);
}

// -- asking queues ------------------------------------------------------------------

browse_part::place* browse_part::place_of(job& work, queue_key key) {
  const auto found = std::find_if(work.places.begin(), work.places.end(),
                                  [&](const place& p) { return p.key == key; });
  return found == work.places.end() ? nullptr : &*found;
}

/// Asks all queues that are not known to have nothing.
void browse_part::begin(std::uint32_t number, job& work) {
  for (auto& p : work.places) {
    const auto link = links_.find(p.key);
    const bool known_empty = work.what == purpose::broadcast && link != links_.end() &&
                             link->second.watched && p.next == link->second.end;
    if (known_empty) {
      p.at = place::stage::answered;
      continue;
    }
    p.at = place::stage::wanted;
    ++work.open;
  }
  if (work.open == 0)
    return answered(number, work);
  for (auto& p : work.places)
    if (p.at == place::stage::wanted)
      look_up(number, work, p);
}

void browse_part::look_up(std::uint32_t number, job& work, place& p) {
  const auto [link, added] = links_.try_emplace(p.key);
  if (added)
    core_.send(core_.peers->supervisor.actor, find_queue{p.key});
  else if (link->second.actor)
    ask(number, work, p, link->second);
}

void browse_part::ask(std::uint32_t number, job& work, place& p, const queue_link& link) {
  p.at = place::stage::asked;
  if (work.what == purpose::offsets)
    p.asked = core_.ask(link.actor, find_offset{{}, p.key, work.point},
                        {{}, request_kind::offset_of_start, peer_role::queue, 0, number});
  else
    p.asked = core_.ask(link.actor, fetch_entries{{}, p.key, p.next, work.messages_max},
                        {{}, request_kind::queue_entries, peer_role::queue, 0, number});
}

/// Comes again when the queue was restarted: what the old one did not answer is asked again.
void browse_part::on_queue(const queue_found& x) {
  const auto found = links_.find(x.queue);
  if (found == links_.end())
    return;
  auto& link = found->second;
  const bool restarted = link.life != x.life;
  link.actor = x.actor;
  link.life = x.life;
  link.watched = link.watched && !restarted;
  std::vector<std::uint32_t> numbers;
  for (const auto& [number, work] : jobs_)
    numbers.push_back(number);
  for (const auto number : numbers) {
    auto& work = jobs_.at(number);
    auto* p = place_of(work, x.queue);
    if (!p || work.what == purpose::view)
      continue;
    if (!x.actor) {
      fail_job(number, ec::unknown_queue);
      continue;
    }
    if (p->at == place::stage::asked && restarted && core_.outstanding.take(p->asked))
      p->at = place::stage::wanted;
    if (p->at == place::stage::wanted)
      ask(number, work, *p, link);
    else if (work.parked && restarted)
      park(work);
  }
  if (!x.actor)
    links_.erase(found);
}

void browse_part::on_entries(const outstanding_request& request, const entries_fetched& x) {
  const auto found = jobs_.find(request.extra);
  if (found == jobs_.end())
    return;
  auto& work = found->second;
  auto* p = place_of(work, x.queue);
  if (!p || p->at != place::stage::asked)
    return;
  if (x.code != ec::ok)
    return fail_job(found->first, x.code);
  if (const auto link = links_.find(x.queue); link != links_.end() && x.end > link->second.end) {
    link->second.end = x.end;
    link->second.watched = false;
  }
  take(work, *p, x);
  p->at = place::stage::answered;
  if (--work.open == 0)
    answered(found->first, work);
}

/// As much as fits the answer; the rest is read with the next one.
void browse_part::take(job& work, place& p, const entries_fetched& x) {
  const auto before = p.next;
  p.next = std::clamp(p.next, x.first, std::max(x.first, x.end));
  for (const auto& entry : x.entries) {
    const bool wanted = work.wanted.may_match(entry.tag_hash);
    if (wanted) {
      const bool full =
          work.deliveries.size() >= work.messages_max || work.bytes + entry.length > work.bytes_max;
      if (full && !work.deliveries.empty())
        break;
      work.bytes += entry.length;
      work.deliveries.push_back({x.queue, entry, 0, 1});
    }
    p.next = queue_offset{entry.offset.value + 1};
  }
  p.moved = p.moved || p.next != before;
}

void browse_part::on_offset(const outstanding_request& request, const offset_found& x) {
  const auto found = jobs_.find(request.extra);
  if (found == jobs_.end())
    return;
  auto& work = found->second;
  auto* p = place_of(work, x.queue);
  if (!p || p->at != place::stage::asked)
    return;
  if (x.code != ec::ok)
    return fail_job(found->first, x.code);
  p->at = place::stage::answered;
  work.found.items.push_back({x.queue.queue, x.offset, x.first, x.end});
  if (--work.open != 0)
    return;
  std::sort(work.found.items.begin(), work.found.items.end(),
            [](const auto& a, const auto& b) { return a.queue < b.queue; });
  core_.put(work.found);
  jobs_.erase(found);
}

// -- bodies -------------------------------------------------------------------------

void browse_part::answered(std::uint32_t number, job& work) {
  if (work.deliveries.empty())
    return go_on(number, work);
  read_bodies(number, work);
}

void browse_part::read_bodies(std::uint32_t number, job& work) {
  std::vector<record_source::place> places;
  for (const auto& d : work.deliveries) {
    work.answer.items.push_back(item_of(d));
    places.push_back({d.entry.at, d.entry.length});
  }
  std::vector<bool> there(places.size());
  core_.env->records->try_read_all(places, [&](std::size_t n, const log_record& record) {
    there[n] = put_body(record, core_.env->ids, work.answer.items[n]);
  });
  read_records order;
  for (std::uint32_t n = 0; n < places.size(); ++n)
    if (!there[n]) {
      work.missing.push_back(n);
      order.places.push_back({places[n].at, places[n].length});
    }
  if (!work.missing.empty()) {
    core_.ask(core_.peers->log_reader.actor, std::move(order),
              {{}, request_kind::browse_bodies, peer_role::log_reader, 0, number});
    return;
  }
  filter_out(work, {});
  go_on(number, work);
}

/// What can't be read is left out: nobody holds it, so nobody can hand it back.
void browse_part::on_bodies(const outstanding_request& request, records_read& x) {
  const auto found = jobs_.find(request.extra);
  if (found == jobs_.end())
    return;
  auto& work = found->second;
  HANDFAST_ASSERT(x.records.size() == work.missing.size());
  std::vector<std::uint32_t> gone;
  for (std::size_t n = 0; n < x.records.size(); ++n) {
    const auto which = work.missing[n];
    if (x.records[n].code != ec::ok ||
        !put_body(x.records[n].record, core_.env->ids, work.answer.items[which]))
      gone.push_back(which);
  }
  filter_out(work, std::move(gone));
  go_on(found->first, work);
}

void browse_part::filter_out(job& work, std::vector<std::uint32_t> gone) {
  auto& items = work.answer.items;
  for (std::uint32_t n = 0; n < items.size() && !work.wanted.wants_all(); ++n)
    if (!work.wanted.matches(properties_of(items[n])))
      gone.push_back(n);
  std::sort(gone.begin(), gone.end(), std::greater{});
  gone.erase(std::unique(gone.begin(), gone.end()), gone.end());
  for (const auto n : gone)
    items.erase(items.begin() + n);
  work.deliveries.clear();
  work.missing.clear();
  work.bytes = 0;
}

// -- the end of a round ---------------------------------------------------------------

/// With messages it is answered; else it reads on, or waits until one of its queues grows.
void browse_part::go_on(std::uint32_t number, job& work) {
  const bool over = work.what == purpose::queue || core_.env->time->now() >= work.until;
  if (!work.answer.items.empty() || over)
    return finish(number, work);
  const bool more = std::any_of(work.places.begin(), work.places.end(), [&](const place& p) {
    const auto link = links_.find(p.key);
    return link == links_.end() || p.next < link->second.end;
  });
  if (more)
    return begin(number, work);
  park(work);
  arm();
}

void browse_part::park(job& work) {
  work.parked = true;
  for (const auto& p : work.places) {
    const auto found = links_.find(p.key);
    if (found == links_.end() || found->second.watched || !found->second.actor)
      continue;
    found->second.watched = true;
    core_.send(found->second.actor, watch_queue{p.key, found->second.end});
  }
}

void browse_part::on_grew(const queue_grew& x) {
  const auto found = links_.find(x.queue);
  if (found == links_.end())
    return;
  found->second.watched = false;
  found->second.end = std::max(found->second.end, x.end);
  std::vector<std::uint32_t> waiting;
  for (auto& [number, work] : jobs_)
    if (work.parked && place_of(work, x.queue))
      waiting.push_back(number);
  for (const auto number : waiting) {
    auto& work = jobs_.at(number);
    work.parked = false;
    begin(number, work);
  }
}

/// One timer for the job that ends first.
void browse_part::arm() {
  std::optional<time_point> first;
  for (const auto& [number, work] : jobs_)
    if (work.parked)
      first = std::min(first.value_or(work.until), work.until);
  if (!first || (armed_ && *armed_ <= *first))
    return;
  armed_ = first;
  const auto left = std::max(*first - core_.env->time->now(), time_point::duration::zero());
  core_.self->delayed_send(core_.self, std::chrono::ceil<std::chrono::milliseconds>(left),
                           tick{native_connection_state::browse_timer});
}

void browse_part::on_timer() {
  armed_.reset();
  const auto now = core_.env->time->now();
  std::vector<std::uint32_t> over;
  for (const auto& [number, work] : jobs_)
    if (work.parked && work.until <= now)
      over.push_back(number);
  for (const auto number : over)
    finish(number, jobs_.at(number));
  arm();
}

void browse_part::finish(std::uint32_t number, job& work) {
  if (work.what == purpose::broadcast)
    for (const auto& p : work.places)
      if (p.moved)
        work.answer.next.push_back({p.key.queue, p.next});
  core_.put(work.answer);
  jobs_.erase(number);
}

void browse_part::fail_job(std::uint32_t number, ec code, std::string_view detail) {
  const auto found = jobs_.find(number);
  if (found == jobs_.end())
    return;
  core_.refuse(found->second.client, code, detail);
  jobs_.erase(found);
}

void browse_part::drop_job(std::uint32_t number) {
  fail_job(number, ec::recovering, "the actor that had the request was restarted");
}

// -- views --------------------------------------------------------------------------

void browse_part::on_view(const outstanding_request& request, const view_read& x) {
  const auto found = jobs_.find(request.extra);
  if (found == jobs_.end())
    return;
  auto& work = found->second;
  if (x.code != ec::ok)
    return fail_job(found->first, x.code);
  std::size_t ops = 0;
  std::uint64_t bytes = 0;
  for (const auto& record : x.records) {
    bytes += record.length;
    if (bytes > delivered_bytes_max && !work.answer.items.empty())
      break;
    native::delivered_item item;
    item.at = record.at;
    item.topic = work.places.front().key.topic;
    item.visible_ms = record.time_ms;
    if (const auto* decided = std::get_if<decide_record>(&record.content)) {
      item.offset = decided->op_offset;
      if (ops < x.op_bodies.size())
        item.payload = shared_bytes::copy_of(x.op_bodies[ops++]);
    } else if (const auto* half = std::get_if<message_record>(&record.content)) {
      item.offset = half->offset;
      put_body(record, core_.env->ids, item);
    } else {
      continue;
    }
    work.answer.items.push_back(std::move(item));
  }
  core_.put(work.answer);
  jobs_.erase(found);
}

} // namespace handfast
