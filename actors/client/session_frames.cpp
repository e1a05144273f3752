#include "actors/client/session.hpp"

#include <algorithm>

namespace handfast::client {

namespace {

std::string detail_for(const std::vector<native::refusal_detail>& details, correlation id) {
  auto at = std::find_if(details.begin(), details.end(),
                         [&](const native::refusal_detail& d) { return d.id == id; });
  return at == details.end() ? std::string{} : at->text;
}

} // namespace

void session::on_frame(const native::frame& f) {
  using kind = native::frame_kind;
  if (!welcomed_ && f.header.kind != kind::welcome && f.header.kind != kind::closing)
    return protocol_error({ec::bad_frame, "the node did not begin with a welcome"});
  switch (f.header.kind) {
  case kind::welcome:
    return on_welcome(f);
  case kind::sent:
    return on_sent(f);
  case kind::half_stored:
    return on_half_stored(f);
  case kind::decided:
    return on_decided(f);
  case kind::check:
    return on_check(f);
  case kind::delivered:
    return on_delivered(f);
  case kind::closing: {
    native::closing closing;
    if (auto decoded = decode(f, closing); !decoded)
      return protocol_error(decoded.error());
    return protocol_error({closing.code, closing.detail});
  }
  default:
    return on_single_answer(f);
  }
}

/// Ends the connection. What no new connection makes right ends all requests, too.
void session::protocol_error(const error& why) {
  if (!is_retriable(why.code) && verdict_of(why.code) == verdict::refused)
    fail_all(why);
  connection_lost({ec::disconnected, to_string(why)});
}

void session::on_sent(const native::frame& f) {
  if (auto decoded = decode(f, sent_); !decoded)
    return protocol_error(decoded.error());
  for (const auto& item : sent_.items) {
    if (item.code == ec::ok)
      answer(item.id.value, {{}, item});
    else
      answer(item.id.value, {{item.code, detail_for(sent_.details, item.id)}, {}});
  }
}

void session::on_half_stored(const native::frame& f) {
  if (auto decoded = decode(f, half_stored_); !decoded)
    return protocol_error(decoded.error());
  for (const auto& item : half_stored_.items) {
    if (item.code == ec::ok)
      answer(item.id.value, {{}, item});
    else
      answer(item.id.value, {{item.code, detail_for(half_stored_.details, item.id)}, {}});
  }
}

void session::on_decided(const native::frame& f) {
  if (auto decoded = decode(f, decided_); !decoded)
    return protocol_error(decoded.error());
  for (const auto& item : decided_.items) {
    if (item.code == ec::ok)
      answer(item.id.value, {{}, item});
    else
      answer(item.id.value, {{item.code, detail_for(decided_.details, item.id)}, {}});
  }
}

void session::on_check(const native::frame& f) {
  native::check checks;
  if (auto decoded = decode(f, checks); !decoded)
    return protocol_error(decoded.error());
  for (const auto& item : checks.items) {
    auto name = std::find_if(checks.topics.begin(), checks.topics.end(),
                             [&](const native::topic_name& t) { return t.topic == item.topic; });
    if (answer_check(item, name == checks.topics.end() ? std::string{} : name->name))
      receipts_.items.push_back({item.transaction, item.group});
  }
}

/// *In progress* while the local transaction runs here. So too while halves are being repeated
/// after a lost connection: the transaction asked about may be one whose id never reached this
/// side. False when nobody here can answer: without a receipt the node asks another member, and
/// the attempt does not count.
bool session::answer_check(const native::check_item& item, const std::string& topic) {
  auto group = std::find_if(groups_.begin(), groups_.end(), [&](const auto& entry) {
    return entry.second.joined && entry.second.id == item.group;
  });
  auto runs = group != groups_.end() && group->second.running.contains(item.transaction);
  if (!runs && repeated_halves_ == 0) {
    if (group == groups_.end() || !group->second.member || !group->second.member->can_answer(topic))
      return false;
    group->second.member->on_check(item, topic);
    return true;
  }
  native::decide_item reply;
  reply.transaction = item.transaction;
  reply.group = item.group;
  reply.by = origin::check;
  reply.attempt = item.attempt;
  reply.in_progress = true;
  decides_.items.push_back(reply);
  return true;
}

// -- deliveries ----------------------------------------------------------------

/// An answer, or the next part of a subscription, which begins with the answer to its request.
void session::on_delivered(const native::frame& f) {
  native::delivered d;
  if (auto decoded = decode(f, d); !decoded)
    return protocol_error(decoded.error());
  const auto id = d.id;
  if (const auto at = streams_.find(id.value); at != streams_.end()) {
    if (d.code != ec::ok)
      end_stream(id, {d.code, d.detail});
    else
      at->second->on_delivered(std::move(d));
    return;
  }
  if (d.code != ec::ok)
    return answer(id.value, {{d.code, d.detail}, {}});
  if (const auto at = requests_.find(id.value); at != requests_.end() && at->second.stream)
    streams_[id.value] = at->second.stream;
  answer(id.value, {{}, std::move(d)});
}

bool session::end_stream(correlation id, const error& why) {
  const auto at = streams_.find(id.value);
  if (at == streams_.end())
    return false;
  const auto stream = std::move(at->second);
  streams_.erase(at);
  stream->on_end(why);
  return true;
}

void session::end_streams(const error& why) {
  for (const auto& [id, stream] : std::exchange(streams_, {}))
    stream->on_end(why);
}

void session::drop_stream(correlation id) {
  post([this, id] { streams_.erase(id.value); });
}

/// Answers that carry the correlation in their own struct. Anything else that has none is ignored:
/// it may be of a newer version.
void session::on_single_answer(const native::frame& f) {
  using kind = native::frame_kind;
  correlation id;
  error why;
  auto read = [&](auto into) {
    if (auto decoded = decode(f, into); !decoded)
      return protocol_error(decoded.error());
    id = into.id;
    if constexpr (requires {
                    into.code;
                    into.detail;
                  })
      why = {into.code, into.detail};
  };
  switch (f.header.kind) {
  case kind::refused:
    read(native::refused{});
    break;
  case kind::done:
    read(native::done{});
    break;
  case kind::topic_resolved:
    read(native::topic_resolved{});
    break;
  case kind::group_joined:
    read(native::group_joined{});
    break;
  case kind::transactions:
    read(native::transactions{});
    break;
  case kind::reopened:
    read(native::reopened{});
    break;
  case kind::offsets:
    read(native::offsets{});
    break;
  case kind::group_description:
    read(native::group_description{});
    break;
  case kind::acknowledged:
    read(native::acknowledged{});
    break;
  case kind::topics:
    read(native::topics{});
    break;
  case kind::groups:
    read(native::groups{});
    break;
  case kind::status_report:
    read(native::status_report{});
    break;
  case kind::quarantine_page:
    read(native::quarantine_page{});
    break;
  case kind::delayed_page:
    read(native::delayed_page{});
    break;
  default:
    return;
  }
  if (id == correlation{})
    return;
  if (why.code == ec::ok)
    answer(id.value, {{}, f});
  else if (!end_stream(id, why))
    answer(id.value, {why, {}});
}

} // namespace handfast::client
