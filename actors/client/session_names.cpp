#include "actors/client/session.hpp"
#include "messages/assert.hpp"

namespace handfast::client {

namespace {

constexpr auto join_again_after = std::chrono::milliseconds{500};

/// The connection went away under the question: it is asked again after the next handshake.
bool is_lost(const error& why) {
  return why.code == ec::disconnected;
}

} // namespace

// -- topics ------------------------------------------------------------------

void session::ask_topic(const std::string& name, bool create) {
  request ask;
  ask.resend = false;
  ask.encode = [name, create](native::frame_writer& to, const addressing& with) {
    encode(to, native::resolve_topic{with.id, name, create});
  };
  ask.done = [this, name, create](const reply& answer) {
    if (answer.why.code != ec::ok)
      return topic_failed(name, answer.why, create);
    native::topic_resolved resolved;
    if (auto decoded = decode(std::get<native::frame>(answer.body), resolved); !decoded)
      return topic_failed(name, decoded.error(), create);
    if (resolved.code != ec::ok)
      return topic_failed(name, {resolved.code, resolved.detail}, create);
    topic_known(name, resolved);
  };
  ask.accepted_at = clock::now();
  ask.give_up_at = ask.accepted_at + options_.total_timeout;
  accepted_.fetch_add(1, std::memory_order_relaxed);
  accept(std::move(ask));
}

void session::topic_known(const std::string& name, const native::topic_resolved& answer) {
  auto& topic = topics_[name];
  topic.id = answer.topic;
  topic.asking = false;
  place_all(topic.waiting);
}

/// A question that only looks may have come before one of a message that may make the topic.
void session::topic_failed(const std::string& name, const error& why, bool create) {
  if (is_lost(why))
    return;
  auto& topic = topics_[name];
  topic.asking = false;
  std::vector<std::uint64_t> may_create;
  if (why.code == ec::unknown_topic && !create)
    std::erase_if(topic.waiting, [&](std::uint64_t id) {
      const auto at = requests_.find(id);
      if (at == requests_.end() || !at->second.create_topic)
        return false;
      may_create.push_back(id);
      return true;
    });
  fail_waiting(topic.waiting, why);
  if (may_create.empty())
    return;
  auto& waiting = topics_[name].waiting;
  waiting.insert(waiting.begin(), may_create.begin(), may_create.end());
  if (!std::exchange(topics_[name].asking, true))
    ask_topic(name, true);
}

/// Those that wait for a name which can't be had: some are worth repeating later, the others end.
void session::fail_waiting(std::vector<std::uint64_t>& ids, const error& why) {
  for (auto id : std::exchange(ids, {})) {
    auto at = requests_.find(id);
    if (at == requests_.end() || at->second.state != request_state::waiting_for_name)
      continue;
    at->second.topic_refreshed = true; // the id was not stale, there is none
    if (!try_again(id, at->second, why))
      complete(id, {why, {}});
  }
}

// -- groups ------------------------------------------------------------------

void session::set_member(std::string group, std::shared_ptr<group_member> member) {
  auto token = random();
  post([this, group = std::move(group), member = std::move(member), token] {
    auto& entry = groups_[group];
    entry.member = member;
    if (entry.token == 0)
      entry.token = token;
    if (welcomed_)
      join_group(group, entry);
  });
}

void session::remove_member(std::string group, const group_member* member) {
  post([this, group = std::move(group), member] {
    auto at = groups_.find(group);
    if (at == groups_.end() || at->second.member.get() != member)
      return;
    at->second.member.reset();
    if (!at->second.joined || !welcomed_)
      return;
    encode(link_.writer(), native::leave_producer_group{{0}, at->second.id});
    at->second.joined = false;
    pump();
  });
}

void session::declare_again(std::string group) {
  post([this, group = std::move(group)] {
    auto& entry = groups_[group];
    if (welcomed_ && entry.member)
      join_group(group, entry);
  });
}

void session::when_member(std::string group, std::function<void(error)> done) {
  post([this, group = std::move(group), done = std::move(done)] {
    auto& entry = groups_[group];
    if (entry.joined)
      return done({});
    entry.when_joined.push_back({clock::now(), done});
    if (welcomed_ && !entry.joining)
      join_group(group, entry);
  });
}

void session::join_group(const std::string& name, group_entry& entry) {
  if (entry.token == 0)
    entry.token = random();
  entry.joining = true;
  request ask;
  ask.resend = false;
  auto topics = entry.member ? entry.member->topics() : std::vector<std::string>{};
  ask.encode = [name, topics, token = entry.token](native::frame_writer& to,
                                                   const addressing& with) {
    encode(to, native::join_producer_group{with.id, name, topics, token});
  };
  ask.done = [this, name](const reply& answer) { group_known(name, answer); };
  ask.accepted_at = clock::now();
  ask.give_up_at = ask.accepted_at + options_.total_timeout;
  accepted_.fetch_add(1, std::memory_order_relaxed);
  accept(std::move(ask));
  arm_tick();
  pump();
}

void session::group_known(const std::string& name, const reply& answer) {
  if (is_lost(answer.why))
    return;
  auto& entry = groups_[name];
  entry.joining = false;
  native::group_joined joined;
  auto why = answer.why;
  if (why.code == ec::ok) {
    if (auto decoded = decode(std::get<native::frame>(answer.body), joined); !decoded)
      why = decoded.error();
    else if (joined.code != ec::ok)
      why = {joined.code, joined.detail};
  }
  if (why.code == ec::ok) {
    entry.id = joined.group;
    entry.joined = true;
    announce_running(entry);
    place_all(entry.waiting);
  } else {
    fail_waiting(entry.waiting, why);
    if (entry.member && is_retriable(why.code))
      join_later(name);
  }
  for (auto& waiter : std::exchange(entry.when_joined, {}))
    waiter.done(why);
}

/// Those who have waited for their membership since then, or longer.
void session::fail_members(const error& why, clock::time_point waiting_since) {
  for (auto& [name, entry] : groups_) {
    std::vector<group_entry::waiter> over;
    std::erase_if(entry.when_joined, [&](group_entry::waiter& waiter) {
      auto is_over = waiter.since <= waiting_since;
      if (is_over)
        over.push_back(std::move(waiter));
      return is_over;
    });
    for (auto& waiter : over)
      waiter.done(why);
  }
}

/// A member that nobody's request waits for must get back into its group, too.
void session::join_later(const std::string& name) {
  auto timer = std::make_shared<asio::steady_timer>(io_, join_again_after);
  timer->async_wait([this, name, timer](const asio::error_code& error) {
    auto& entry = groups_[name];
    if (!error && welcomed_ && entry.member && !entry.joined && !entry.joining)
      join_group(name, entry);
  });
}

/// So that the node asks nobody about transactions that are still under way here.
void session::announce_running(group_entry& entry) {
  if (entry.running.empty())
    return;
  native::running here;
  for (const auto& id : entry.running)
    here.items.push_back({id, entry.id});
  encode(link_.writer(), here);
}

void session::set_running(const std::string& group, const transaction_id& id) {
  HANDFAST_ASSERT(std::this_thread::get_id() == thread_.get_id());
  groups_[group].running.insert(id);
}

void session::clear_running(std::string group, transaction_id id) {
  post([this, group = std::move(group), id] { groups_[group].running.erase(id); });
}

} // namespace handfast::client
