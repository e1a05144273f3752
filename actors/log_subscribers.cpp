#include "actors/log_subscribers.hpp"

#include "messages/assert.hpp"

#include <caf/actor_cast.hpp>
#include <caf/typed_actor.hpp>

#include <algorithm>

namespace handfast {

namespace {

constexpr std::uint32_t bits(std::initializer_list<record_type> types) {
  std::uint32_t mask = 0;
  for (const auto t : types)
    mask |= batch_summary::bit(t);
  return mask;
}

constexpr std::uint32_t interest_of(appender_role role) {
  using enum record_type;
  switch (role) {
  case appender_role::op_store:
    return bits({decide, reopen});
  case appender_role::half_store:
    return bits({half, decide, checked, reopen, move, meta});
  case appender_role::topic_registry:
    return bits({meta});
  case appender_role::delay_scheduler:
    return bits({meta}); // and what `delays` tells of
  case appender_role::consumer_group:
    return bits({progress, dead_letter});
  case appender_role::node:
    return 0;
  }
  return 0;
}

bool concerns_delays(const log_record& record) {
  switch (record.type) {
  case record_type::message:
    return std::get<message_record>(record.content).delay_ms != 0;
  case record_type::decide:
    return std::ranges::any_of(std::get<decide_record>(record.content).entries,
                               &index_entry::is_delayed);
  default:
    return record.type == record_type::release;
  }
}

} // namespace

void batch_summary::note(const log_record& record) {
  types |= bit(record.type);
  delays = delays || concerns_delays(record);
  const auto add = [this](group_id group) {
    if (std::find(groups.begin(), groups.end(), group) == groups.end())
      groups.push_back(group);
  };
  if (record.type == record_type::progress)
    for (const auto& g : std::get<progress_record>(record.content).groups)
      add(g.group);
  else if (record.type == record_type::dead_letter)
    add(std::get<dead_letter_record>(record.content).group);
}

std::size_t log_subscribers::slot_of(appender_role role) {
  switch (role) {
  case appender_role::op_store:
    return 0;
  case appender_role::half_store:
    return 1;
  case appender_role::topic_registry:
    return 2;
  default:
    HANDFAST_ASSERT(role == appender_role::delay_scheduler);
    return 3;
  }
}

void log_subscribers::put(const appender& who, fold_actor actor, position fence) {
  member m{who, std::move(actor), fence, false};
  if (who.role != appender_role::consumer_group) {
    singles_[slot_of(who.role)] = std::move(m);
    return;
  }
  groups_[who.instance] = std::move(m);
  if (std::find(new_groups_.begin(), new_groups_.end(), who.instance) == new_groups_.end())
    new_groups_.push_back(who.instance);
}

void log_subscribers::forget(group_id group) {
  groups_.erase(group.value);
  std::erase(new_groups_, group.value);
}

const log_subscribers::member* log_subscribers::lookup(appender_role role,
                                                       std::uint32_t instance) const {
  if (role == appender_role::consumer_group) {
    const auto it = groups_.find(instance);
    return it == groups_.end() ? nullptr : &it->second;
  }
  if (role == appender_role::node)
    return nullptr;
  const auto& slot = singles_[slot_of(role)];
  return slot ? &*slot : nullptr;
}

bool log_subscribers::is_current(const appender& who) const {
  return find(who) != nullptr;
}

const fold_actor* log_subscribers::find(const appender& who) const {
  const auto* m = lookup(who.role, who.instance);
  return m && m->who == who ? &m->actor : nullptr;
}

const fold_actor* log_subscribers::find(incarnation life) const {
  for (const auto& slot : singles_)
    if (slot && slot->who.life == life)
      return &slot->actor;
  for (const auto& [id, m] : groups_)
    if (m.who.life == life)
      return &m.actor;
  return nullptr;
}

void log_subscribers::offer(member& m, bool interested, position to) {
  if (interested || !m.caught_up)
    found_.push_back(m.actor);
  m.caught_up = m.caught_up || to >= m.fence;
}

const std::vector<fold_actor>& log_subscribers::concerned(const batch_summary& batch, position to) {
  found_.clear();
  for (auto& slot : singles_)
    if (slot)
      offer(*slot,
            (batch.types & interest_of(slot->who.role)) != 0 ||
                (batch.delays && slot->who.role == appender_role::delay_scheduler),
            to);
  for (const auto id : new_groups_)
    offer(groups_.find(id).value(), true, to);
  for (const auto group : batch.groups) {
    const auto it = groups_.find(group.value);
    if (it != groups_.end() &&
        std::find(new_groups_.begin(), new_groups_.end(), group.value) == new_groups_.end())
      offer(it.value(), true, to);
  }
  std::erase_if(new_groups_, [&](std::uint32_t id) { return groups_.find(id)->second.caught_up; });
  return found_;
}

std::vector<consumer_group_actor> log_subscribers::groups() const {
  std::vector<consumer_group_actor> all;
  all.reserve(groups_.size());
  for (const auto& [id, m] : groups_)
    all.push_back(caf::actor_cast<consumer_group_actor>(m.actor));
  return all;
}

} // namespace handfast
