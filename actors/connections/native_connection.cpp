#include "actors/connections/native_connection.hpp"

#include "actors/connections/core_send.hpp"
#include "config/settings.hpp"
#include "messages/limits.hpp"

#include <algorithm>
#include <utility>

namespace handfast {

using native::frame_kind;

void native_connection_state::begin(const shard_environment* env, std::shared_ptr<transport> wire,
                                    std::shared_ptr<const native_door> door) {
  core.env = env;
  core.wire = std::move(wire);
  core.door = std::move(door);
  begun.join(core.door->begun);
  // Before the handshake nobody needs more than this.
  splitter.set_limits({limits::frame_meta_bytes_max, 64 * limits::kib});
  core.self->delayed_send(core.self, hello_within, tick{hello_timer});
}

// -- peers --------------------------------------------------------------------------

void native_connection_state::on_peers(const std::shared_ptr<const shard_peers>& peers) {
  const auto before = std::exchange(core.peers, peers);
  if (before) {
    if (before->commit_log.life != peers->commit_log.life)
      fail_all(peer_role::commit_log);
    if (before->half_store.life != peers->half_store.life)
      fail_all(peer_role::half_store);
    if (before->op_store.life != peers->op_store.life)
      fail_all(peer_role::op_store);
    if (before->delay_scheduler.life != peers->delay_scheduler.life)
      fail_all(peer_role::delay_scheduler);
    if (before->topic_registry.life != peers->topic_registry.life)
      fail_all(peer_role::topic_registry);
    if (before->log_reader.life != peers->log_reader.life)
      fail_all(peer_role::log_reader);
    if (before->supervisor.life != peers->supervisor.life)
      fail_all(peer_role::supervisor);
  }
  finish();
}

void native_connection_state::fail_all(peer_role role) {
  const auto lost =
      core.outstanding.select([&](const outstanding_request& r) { return r.role == role; });
  for (const auto id : lost) {
    const auto request = core.outstanding.take(id);
    if (!request) // a job that had several requests was failed with the first
      continue;
    core.ended(*request);
    fail(*request);
  }
}

/// What a dead actor left unanswered. Reads can be asked again; of a change nobody knows whether it
/// happened.
void native_connection_state::fail(const outstanding_request& request) {
  constexpr std::string_view why = "the actor that had the request was restarted";
  switch (request.kind) {
  case request_kind::send:
  case request_kind::half:
  case request_kind::decide:
  case request_kind::topic_create:
  case request_kind::topic_delete:
  case request_kind::group_change:
  case request_kind::acknowledge:
  case request_kind::delayed_cancel:
    core.refuse(request.client, ec::outcome_unknown, why);
    return;
  case request_kind::reopen:
    transactions.drop_job(request.extra);
    core.refuse(request.client, ec::outcome_unknown, why);
    return;
  case request_kind::join_group:
  case request_kind::join_topic:
    session.drop_job(request.extra);
    return;
  case request_kind::query:
  case request_kind::list:
  case request_kind::list_group:
  case request_kind::list_topic:
  case request_kind::names:
  case request_kind::check_names:
  case request_kind::check_bodies:
    transactions.drop_job(request.extra);
    return;
  case request_kind::fetch_group:
  case request_kind::fetch:
  case request_kind::subscribe_group:
  case request_kind::bodies:
    consume.drop_job(request.extra);
    return;
  case request_kind::delayed_list:
  case request_kind::delayed_topic:
  case request_kind::delayed_names:
    delays.drop_job(request.extra);
    return;
  case request_kind::queue_entries:
  case request_kind::offset_of_start:
  case request_kind::browse_view:
  case request_kind::browse_bodies:
    browse.drop_job(request.extra);
    return;
  case request_kind::group_look:
  case request_kind::group_describe:
  case request_kind::group_reset:
  case request_kind::group_topics:
    groups.drop_job(request.extra);
    return;
  case request_kind::topic_show:
  case request_kind::extent:
  case request_kind::forced_list:
  case request_kind::forced_decide:
  case request_kind::forced_drop:
  case request_kind::group_list:
  case request_kind::group_status:
  case request_kind::group_names:
    admin.drop_job(request.extra);
    if (request.kind == request_kind::topic_show)
      core.refuse(request.client, ec::recovering, why);
    return;
  case request_kind::resolve_topic:
  case request_kind::topic_list:
  case request_kind::status:
  case request_kind::quarantine:
    core.refuse(request.client, ec::recovering, why);
    return;
  }
}

// -- bytes --------------------------------------------------------------------------

void native_connection_state::on_bytes(const shared_bytes& bytes) {
  core.read_came();
  if (core.closing())
    return;
  splitter.feed(bytes);
  while (!core.closing()) {
    auto next = splitter.next();
    if (!next) {
      core.close(next.error().code, next.error().detail);
      break;
    }
    if (!*next)
      break;
    ++frames;
    on_frame(**next);
  }
  watch_frame();
  // What came before garbage in the same read was asked for honestly.
  produce.hand_over();
  transactions.hand_over();
  finish();
}

/// Frames that come slower than any client sends hold memory and never end.
void native_connection_state::watch_frame() {
  const auto before = begun.mine();
  if (begun.set(splitter.bytes_held()) > limits::begun_frames_bytes_max && begun.mine() > before)
    core.close(ec::busy, "the frames that clients have begun hold too much memory");
  if (frame_timed || core.closing() || !splitter.inside_frame())
    return;
  frame_timed = true;
  frames_before = frames;
  core.self->delayed_send(core.self, frame_within, tick{frame_timer});
}

void native_connection_state::on_frame(const native::frame& frame) {
  if (greeted)
    dispatch(frame);
  else if (frame.header.kind == frame_kind::hello)
    on_hello(frame);
  else
    core.close(ec::bad_frame, "the first frame must be a hello");
}

void native_connection_state::on_hello(const native::frame& frame) {
  native::hello hello;
  if (auto read = native::decode(frame, hello); !read) {
    core.close(read.error().code, read.error().detail);
    return;
  }
  if (hello.version != native::protocol_version) {
    core.close(ec::unsupported_version, "this node speaks version " +
                                            std::to_string(native::protocol_version) + ", not " +
                                            std::to_string(hello.version));
    return;
  }
  core.who = {hello.client.empty() ? core.wire->peer_name() : hello.client, hello.mechanism,
              hello.credentials};
  if (auto verdict = core.door->rights.authorize(core.who, action::connect, {}); !verdict) {
    core.close(verdict.error().code, verdict.error().detail);
    return;
  }
  const auto& bounds = core.env->settings->limits;
  core.producer = hello.producer;
  // Chosen at random by the client, so that those that send one message each do not all use queue
  // 0.
  produce.start_at(static_cast<std::uint32_t>(hello.producer.value >> 32));
  core.credit = hello.credit == 0 ? bounds.credit : std::min(hello.credit, bounds.credit);
  greeted = true;
  splitter.set_limits({limits::frame_meta_bytes_max, static_cast<std::size_t>(bounds.frame)});
  native::welcome welcome;
  welcome.node = core.door->node;
  welcome.node_version = core.door->node_version;
  welcome.store_id = core.door->store_id;
  welcome.credit = core.credit;
  welcome.credit_bytes = limits::connection_bytes_in_flight;
  welcome.frame_max = static_cast<std::uint32_t>(bounds.frame);
  welcome.body_max = static_cast<std::uint32_t>(bounds.body);
  core.put(welcome);
}

template <class Frame, class Part>
void native_connection_state::give(const native::frame& frame, Part& part) {
  Frame read;
  if (auto done = native::decode(frame, read); done)
    part.on(read);
  else
    core.close(done.error().code, done.error().detail);
}

void native_connection_state::dispatch(const native::frame& frame) {
  switch (frame.header.kind) {
  case frame_kind::send:
    produce.take_send(frame);
    break;
  case frame_kind::send_half:
    produce.take_half(frame);
    break;
  case frame_kind::decide:
    return give<native::decide>(frame, transactions);
  case frame_kind::check_received:
    return give<native::check_received>(frame, transactions);
  case frame_kind::fetch:
    return give<native::fetch>(frame, consume);
  case frame_kind::acknowledge:
    return give<native::acknowledge>(frame, consume);
  case frame_kind::resolve_topic:
    return give<native::resolve_topic>(frame, session);
  case frame_kind::join_producer_group:
    return give<native::join_producer_group>(frame, session);
  case frame_kind::leave_producer_group:
    return give<native::leave_producer_group>(frame, session);
  case frame_kind::running:
    return give<native::running>(frame, transactions);
  case frame_kind::query_transaction:
    return give<native::query_transaction>(frame, transactions);
  case frame_kind::list_transactions:
    return give<native::list_transactions>(frame, transactions);
  case frame_kind::reopen:
    return give<native::reopen>(frame, transactions);
  case frame_kind::subscribe:
    return give<native::subscribe>(frame, consume);
  case frame_kind::credit:
    return give<native::credit>(frame, consume);
  case frame_kind::unsubscribe:
    return give<native::unsubscribe>(frame, consume);
  case frame_kind::read_view:
    return give<native::read_view>(frame, browse);
  case frame_kind::read_queues:
    return give<native::read_queues>(frame, browse);
  case frame_kind::find_offsets:
    return give<native::find_offsets>(frame, browse);
  case frame_kind::group_show:
    return give<native::group_show>(frame, groups);
  case frame_kind::group_set:
    return give<native::group_set>(frame, groups);
  case frame_kind::group_delete:
    return give<native::group_delete>(frame, groups);
  case frame_kind::reset_progress:
    return give<native::reset_progress>(frame, groups);
  case frame_kind::topic_create:
    return give<native::topic_create>(frame, admin);
  case frame_kind::topic_list:
    return give<native::topic_list>(frame, admin);
  case frame_kind::topic_show:
    return give<native::topic_show>(frame, admin);
  case frame_kind::topic_delete:
    return give<native::topic_delete>(frame, admin);
  case frame_kind::group_list:
    return give<native::group_list>(frame, admin);
  case frame_kind::status:
    return give<native::status>(frame, admin);
  case frame_kind::quarantine_list:
    return give<native::quarantine_list>(frame, admin);
  case frame_kind::list_delayed:
    return give<native::list_delayed>(frame, delays);
  case frame_kind::cancel_delayed:
    return give<native::cancel_delayed>(frame, delays);
  case frame_kind::goodbye:
    leave();
    core.flush();
    core.close(ec::ok, "goodbye");
    return;
  default:
    core.close(ec::bad_frame, "frame kind " +
                                  std::to_string(static_cast<unsigned>(frame.header.kind)) +
                                  " is not one that a client sends after its hello");
    return;
  }
  if (produce.problem().code != ec::ok)
    core.close(produce.problem().code, produce.problem().detail);
}

void native_connection_state::finish() {
  if (core.gone())
    return;
  core.flush();
  core.read_on();
}

// -- the end ------------------------------------------------------------------------

/// The actors behind learn that nobody is here any more.
void native_connection_state::leave() {
  transactions.give_back_checks();
  session.leave_all();
  consume.leave_all();
  if (core.producer != producer_id{} && core.peers)
    core.send(core.peers->half_store.actor, producer_running{core.producer, false, {}});
  core.producer = {};
}

void native_connection_state::on_closed() {
  if (!core.closing() && splitter.inside_frame())
    core.complain("ended in the middle of a frame");
  core.transport_gone();
  leave();
  core.self->quit();
}

void native_connection_state::on_tick(const tick& x) {
  if (x.timer == browse_timer) {
    browse.on_timer();
    return finish();
  }
  if (x.timer == hello_timer && !greeted)
    core.close(ec::timed_out, "no hello within 10 s");
  if (x.timer != frame_timer)
    return;
  frame_timed = false;
  if (core.reading() && frames == frames_before && splitter.inside_frame())
    core.close(ec::timed_out, "no whole frame within 30 s");
  watch_frame();
}

void native_connection_state::on_stop() {
  const auto who = caf::actor_cast<node_supervisor_actor>(core.self->current_sender());
  // A consumer that waits for messages loses nothing by a stop.
  const auto open =
      core.outstanding
          .select([](const outstanding_request& r) { return r.kind != request_kind::fetch; })
          .size();
  core.close(ec::stopping, "the node is shutting down");
  leave();
  if (who)
    core.send(who,
              stopped{"connection", open == 0 ? std::string{}
                                              : std::to_string(open) +
                                                    (open == 1 ? " request of " : " requests of ") +
                                                    core.who.name});
}

status_report native_connection_state::status() const {
  status_report report;
  report.actor = "connection";
  report.samples = {
      {"handfast_connection_sends_in_flight", {}, static_cast<double>(core.sends)},
      {"handfast_connection_decisions_in_flight", {}, static_cast<double>(core.decisions)},
      {"handfast_connection_requests", {}, static_cast<double>(core.outstanding.size())},
      {"handfast_connection_producer_groups", {}, static_cast<double>(session.groups())},
      {"handfast_connection_subscriptions", {}, static_cast<double>(consume.subscriptions())},
      {"handfast_connection_checks_waiting",
       {},
       static_cast<double>(transactions.checks_waiting())},
  };
  return report;
}

// -- answers that several parts ask for -------------------------------------------------

void native_connection_state::on_topic(const topic_resolved& x) {
  with_request(x, [&](const outstanding_request& request) {
    if (x.why.code == ec::ok && request.kind == request_kind::topic_delete)
      core.forget(x.topic.id);
    else if (x.why.code == ec::ok)
      core.learn(x.topic);
    switch (request.kind) {
    case request_kind::resolve_topic:
    case request_kind::join_topic:
      session.on_topic(request, x);
      break;
    case request_kind::list_topic:
      transactions.on_topic(request, x);
      break;
    case request_kind::delayed_topic:
      delays.on_topic(request, x);
      break;
    default:
      admin.on_topic(request, x);
      break;
    }
  });
}

void native_connection_state::on_group(const group_resolved& x) {
  with_request(x, [&](const outstanding_request& request) {
    if (request.kind == request_kind::join_group)
      session.on_group(request, x);
    else if (request.kind == request_kind::list_group)
      transactions.on_group(request, x);
    else if (request.kind == request_kind::group_look || request.kind == request_kind::group_change)
      groups.on_group(request, x);
    else
      consume.on_group(request, x);
  });
}

void native_connection_state::on_names(const ids_named& x) {
  with_request(x, [&](const outstanding_request& request) {
    if (request.kind == request_kind::group_names)
      admin.on_names(request, x);
    else if (request.kind == request_kind::delayed_names)
      delays.on_names(request, x);
    else if (request.kind == request_kind::group_topics)
      groups.on_names(request, x);
    else
      transactions.on_names(request, x);
  });
}

void native_connection_state::on_entries(const entries_fetched& x) {
  with_request(x, [&](const outstanding_request& request) {
    if (request.kind == request_kind::extent)
      admin.on_entries(request, x);
    else
      browse.on_entries(request, x);
  });
}

void native_connection_state::on_bodies(records_read& x) {
  with_request(x, [&](const outstanding_request& request) {
    if (request.kind == request_kind::check_bodies)
      transactions.on_bodies(request, x);
    else if (request.kind == request_kind::browse_bodies)
      browse.on_bodies(request, x);
    else
      consume.on_bodies(request, x);
  });
}

void native_connection_state::on_listed(const transactions_listed& x) {
  with_request(x, [&](const outstanding_request& request) {
    if (request.kind == request_kind::forced_list)
      admin.on_listed(request, x);
    else
      transactions.on_listed(request, x);
  });
}

/// One message holds decisions of several kinds of requests.
void native_connection_state::on_decided(const decided& x) {
  const auto forced = std::any_of(x.results.begin(), x.results.end(), [&](const auto& r) {
    const auto* request = core.outstanding.find(r.id);
    return request && request->kind == request_kind::forced_decide;
  });
  if (forced)
    for (const auto& r : x.results)
      if (const auto* found = core.outstanding.find(r.id);
          found && found->kind == request_kind::forced_decide) {
        const auto request = *core.outstanding.take(r.id);
        admin.on_decided(request, r);
      }
  transactions.on_decided(x);
  finish();
}

/// A restarted group has no leases and no parked fetches: what it was asked ends here.
void native_connection_state::on_consumer_group(const consumer_group_found& x) {
  consume.on_consumer_group(x);
  groups.on_consumer_group(x);
  finish();
}

connection_actor::behavior_type native_connection(native_connection_state::pointer self,
                                                  const shard_environment* env,
                                                  std::shared_ptr<transport> wire,
                                                  std::shared_ptr<const native_door> door) {
  auto& s = self->state;
  s.begin(env, std::move(wire), std::move(door));
  // The busiest first: CAF compares a message with one after the other.
  return {
      [&s](const bytes_arrived& x) { s.on_bytes(x.bytes); },
      [&s](const halves_stored& x) {
        s.produce.on_stored(x);
        s.finish();
      },
      [&s](const decided& x) { s.on_decided(x); },
      [&s](const messages_stored& x) {
        s.produce.on_stored(x);
        s.finish();
      },
      [&s](const peers_changed& x) { s.on_peers(x.peers); },
      [&s](const stop&) { s.on_stop(); },
      [&s](const status_request&) { return s.status(); },
      [&s](const bytes_written&) {
        s.consume.resume();
        s.finish();
      },
      [&s](const transport_closed&) { s.on_closed(); },
      [&s](const ask_producers& x) {
        s.transactions.on_ask(x);
        s.finish();
      },
      [&s](const transaction_found& x) {
        s.with_request(x, [&](const auto& r) { s.transactions.on_found(r, x); });
      },
      [&s](const transactions_listed& x) { s.on_listed(x); },
      [&s](const transaction_reopened& x) {
        s.with_request(x, [&](const auto& r) { s.transactions.on_reopened(r, x); });
      },
      [&s](const topic_resolved& x) { s.on_topic(x); },
      [&s](const topics_listed& x) {
        s.with_request(x, [&](const auto& r) { s.admin.on_topics(r, x); });
      },
      [&s](const group_resolved& x) { s.on_group(x); },
      [&s](const groups_listed& x) {
        s.with_request(x, [&](const auto& r) { s.admin.on_groups(r, x); });
      },
      [&s](const ids_named& x) { s.on_names(x); },
      [&s](const delayed_listed& x) {
        s.with_request(x, [&](const auto& r) { s.delays.on_listed(r, x); });
      },
      [&s](const delayed_cancelled& x) {
        s.with_request(x, [&](const auto& r) {
          r.kind == request_kind::forced_drop ? s.admin.on_dropped(r, x)
                                              : s.delays.on_cancelled(r, x);
        });
      },
      [&s](deliver& x) { s.with_request(x, [&](const auto& r) { s.consume.on_deliver(r, x); }); },
      [&s](const acknowledged& x) {
        s.with_request(x, [&](const auto& r) { s.consume.on_acknowledged(r, x); });
      },
      [&s](const entries_fetched& x) { s.on_entries(x); },
      [&s](records_read& x) { s.on_bodies(x); },
      [&s](const view_read& x) {
        s.with_request(x, [&](const auto& r) { s.browse.on_view(r, x); });
      },
      [&s](const producer_group_found& x) {
        s.session.on_producer_group(x);
        s.finish();
      },
      [&s](const consumer_group_found& x) { s.on_consumer_group(x); },
      [&s](const queue_found& x) {
        s.browse.on_queue(x);
        s.admin.on_queue(x);
        s.finish();
      },
      [&s](const queue_grew& x) {
        s.browse.on_grew(x);
        s.finish();
      },
      [&s](const offset_found& x) {
        s.with_request(x, [&](const auto& r) { s.browse.on_offset(r, x); });
      },
      [&s](const progress_reset& x) {
        s.with_request(x, [&](const auto& r) { s.groups.on_reset(r, x); });
      },
      [&s](const group_described& x) {
        s.with_request(x, [&](const auto& r) { s.groups.on_described(r, x); });
      },
      [&s](const node_status& x) {
        s.with_request(x, [&](const auto& r) { s.admin.on_status(r, x); });
      },
      [&s](const tick& x) { s.on_tick(x); },
  };
}

} // namespace handfast
