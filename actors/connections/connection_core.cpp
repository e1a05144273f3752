#include "actors/connections/connection_core.hpp"

#include "actors/connections/core_send.hpp"
#include "config/settings.hpp"
#include "messages/limits.hpp"

#include <spdlog/spdlog.h>

namespace handfast {

namespace {

bool counts_as_send(request_kind kind) {
  return kind == request_kind::send || kind == request_kind::half;
}

bool counts_as_decision(request_kind kind) {
  return kind == request_kind::decide || kind == request_kind::acknowledge;
}

} // namespace

void connection_core::refuse(correlation client, ec code, std::string_view detail) {
  if (client != correlation{})
    put(native::refused{client, code, std::string{detail}});
}

void connection_core::flush() {
  if (out_.empty() || gone_)
    return;
  wire->write(out_.take());
}

void connection_core::close(ec code, std::string_view detail) {
  if (closing_)
    return;
  if (code != ec::ok && code != ec::stopping)
    complain("closed: " + std::string{name_of(code)} + ": " + std::string{detail});
  put(native::closing{code, std::string{detail}});
  flush();
  closing_ = true;
  wire->close();
}

void connection_core::complain(std::string_view what) const {
  const auto left_out = door->complaints->admit(env->time->now());
  if (!left_out)
    return;
  if (*left_out > 0)
    spdlog::warn("connections: {} lines were left out", *left_out);
  spdlog::warn("connection of {} {}", wire->peer_name(), what);
}

bool connection_core::allowed(correlation client, action what, std::string_view resource) {
  const auto verdict = door->rights.authorize(who, what, resource);
  if (!verdict)
    refuse(client, verdict.error().code, verdict.error().detail);
  return verdict.has_value();
}

void connection_core::began(const outstanding_request& what) {
  if (counts_as_send(what.kind)) {
    ++sends;
    send_bytes += what.bytes;
  } else if (counts_as_decision(what.kind)) {
    ++decisions;
  }
}

void connection_core::ended(const outstanding_request& what) {
  if (counts_as_send(what.kind)) {
    HANDFAST_ASSERT(sends > 0 && send_bytes >= what.bytes);
    --sends;
    send_bytes -= what.bytes;
  } else if (counts_as_decision(what.kind)) {
    HANDFAST_ASSERT(decisions > 0);
    --decisions;
  }
}

/// A client within its credit never meets the bound on sends, so that its decisions, which come
/// behind them in the stream, are always read.
void connection_core::read_on() {
  if (reading_ || closing_ || !peers)
    return;
  const auto bound = credit == 0 ? limits::connection_credit : credit;
  if (sends >= 2 * bound || decisions >= 4 * bound ||
      send_bytes >= limits::connection_bytes_in_flight || output_blocked())
    return;
  reading_ = true;
  wire->read_more();
}

void connection_core::learn(const topic_info& topic) {
  if (topics_.size() >= topics_max)
    topics_.clear(); // the client resolves again what it still uses
  topics_.insert_or_assign(
      topic.id, known_topic{topic.name, topic.queues, topic.read_only, topic.options.buffered});
}

const known_topic* connection_core::topic(topic_id id) const {
  const auto found = topics_.find(id);
  return found == topics_.end() ? nullptr : &found->second;
}

std::string connection_core::topic_name(topic_id id) const {
  if (const auto* known = topic(id))
    return known->name;
  const auto found = names_.find(id);
  return found == names_.end() ? std::string{} : found->second;
}

void connection_core::learn_name(topic_id id, const std::string& name) {
  if (names_.size() >= topics_max)
    names_.clear();
  names_.insert_or_assign(id, name);
}

} // namespace handfast
