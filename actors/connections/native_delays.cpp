#include "actors/connections/core_send.hpp"
#include "actors/connections/native_parts.hpp"

#include <algorithm>
#include <utility>

namespace handfast {

void delay_part::on(native::list_delayed& x) {
  if (!core_.allowed(x.id, action::look, x.topic))
    return;
  if (lists_.size() >= lists_max)
    return core_.refuse(x.id, ec::busy);
  const auto job = core_.next_job();
  auto& work = lists_[job];
  work.what = std::move(x);
  if (work.what.topic.empty())
    return list_now(job, {});
  core_.ask(core_.peers->topic_registry.actor, resolve_topic{{}, work.what.topic, false},
            {{}, request_kind::delayed_topic, peer_role::topic_registry, 0, job});
}

void delay_part::on_topic(const outstanding_request& request, const topic_resolved& x) {
  if (lists_.count(request.extra) == 0)
    return;
  if (x.why.code != ec::ok)
    return fail(request.extra, x.why.code, x.why.detail);
  list_now(request.extra, x.topic.id);
}

void delay_part::list_now(std::uint32_t job, topic_id topic) {
  const auto& what = lists_.at(job).what;
  const auto max = std::clamp<std::uint32_t>(what.items_max, 1, limits::page_items_max);
  core_.ask(core_.peers->delay_scheduler.actor,
            list_delayed{{}, topic, what.after_due_ms, what.after_at, max},
            {{}, request_kind::delayed_list, peer_role::delay_scheduler, 0, job});
}

void delay_part::on_listed(const outstanding_request& request, const delayed_listed& x) {
  const auto found = lists_.find(request.extra);
  if (found == lists_.end())
    return;
  if (x.code != ec::ok)
    return fail(request.extra, x.code);
  auto& work = found->second;
  work.answer = {work.what.id, x.more, {}};
  name_ids names;
  for (const auto& m : x.page) {
    const auto& e = m.entry;
    work.answer.items.push_back({e.at, m.transaction, e.due_ms, e.length, e.queue, {}});
    work.topics.push_back(e.topic);
    if (std::find(names.topics.begin(), names.topics.end(), e.topic) == names.topics.end())
      names.topics.push_back(e.topic);
  }
  core_.ask(core_.peers->topic_registry.actor, std::move(names),
            {{}, request_kind::delayed_names, peer_role::topic_registry, 0, request.extra});
}

void delay_part::on_names(const outstanding_request& request, const ids_named& x) {
  const auto found = lists_.find(request.extra);
  if (found == lists_.end())
    return;
  auto& work = found->second;
  for (std::size_t n = 0; n < work.topics.size(); ++n)
    for (const auto& [id, name] : x.topics)
      if (id == work.topics[n])
        work.answer.items[n].topic = name;
  core_.put(work.answer);
  lists_.erase(found);
}

void delay_part::fail(std::uint32_t job, ec code, std::string_view detail) {
  const auto found = lists_.find(job);
  if (found == lists_.end())
    return;
  core_.refuse(found->second.what.id, code, detail);
  lists_.erase(found);
}

void delay_part::drop_job(std::uint32_t job) {
  fail(job, ec::recovering, "the actor that had the request was restarted");
}

// -- cancelling ---------------------------------------------------------------------

void delay_part::on(const native::cancel_delayed& x) {
  if (core_.allowed(x.id, action::operate, {}))
    core_.ask(core_.peers->delay_scheduler.actor, cancel_delayed{{}, x.at},
              {x.id, request_kind::delayed_cancel, peer_role::delay_scheduler, 0, 0});
}

void delay_part::on_cancelled(const outstanding_request& request, const delayed_cancelled& x) {
  if (x.code == ec::ok)
    core_.put(native::done{request.client});
  else
    core_.refuse(request.client, x.code);
}

} // namespace handfast
