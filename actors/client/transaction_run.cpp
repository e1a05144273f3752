#include "actors/client/transaction_run.hpp"

#include "actors/client/calls.hpp"

namespace handfast::client {

result<request> half_request(session& via, const std::string& group, const message& what,
                             const transaction_id& transaction, bool running) {
  auto r = storing_request(via, what, request_kind::half);
  if (!r)
    return r;
  r->group = group;
  r->item.transaction = transaction;
  if (running)
    r->item.flags |= message_flags::local_transaction;
  return r;
}

transaction_run::transaction_run(run_environment environment, std::vector<message> messages,
                                 std::any argument)
    : environment_{std::move(environment)}, messages_{std::move(messages)}, argument_{std::move(
                                                                                argument)} {}

std::future<transaction_result> transaction_run::start() {
  auto future = promise_.get_future();
  auto refuse = [&](error why) {
    result_.stored = why;
    result_.decided = std::move(why);
    finish();
    return std::move(future);
  };
  if (messages_.empty())
    return refuse({ec::bad_request, "no message"});
  if (messages_.size() > limits::transaction_messages_max)
    return refuse({ec::too_many_messages, std::to_string(messages_.size())});
  listener_ = environment_.desk->listener_of(messages_[0].topic);
  if (!listener_)
    return refuse({ec::bad_request, "no listener for topic " + messages_[0].topic});
  auto first = half_request(*environment_.via, environment_.group, messages_[0], {}, true);
  if (!first)
    return refuse(first.error());
  first->done = [self = shared_from_this()](const reply& got) { self->first_stored(got); };
  environment_.via->submit(std::move(*first));
  return future;
}

void transaction_run::first_stored(const reply& got) {
  if (got.why.code != ec::ok) {
    result_.stored = got.why;
    result_.decided = got.why;
    return finish();
  }
  id_ = result_.id_ = std::get<native::half_stored_item>(got.body).transaction;
  environment_.via->set_running(environment_.group, id_);
  stored_ = 1;
  outstanding_ = messages_.size(); // one more than there are others, given up below
  for (std::size_t i = 1; i < messages_.size(); ++i) {
    auto other = half_request(*environment_.via, environment_.group, messages_[i], id_, true);
    if (!other) {
      other_stored({other.error(), {}});
      continue;
    }
    other->done = [self = shared_from_this()](const reply& joined) { self->other_stored(joined); };
    environment_.via->submit(std::move(*other));
  }
  if (--outstanding_ == 0)
    all_stored();
}

void transaction_run::other_stored(const reply& got) {
  if (got.why.code == ec::ok)
    ++stored_;
  else if (problem_.code == ec::ok)
    problem_ = got.why;
  if (--outstanding_ == 0)
    all_stored();
}

void transaction_run::all_stored() {
  if (problem_.code != ec::ok) {
    result_.stored = problem_;
    return decide(local_state::rollback);
  }
  result_.stored = transaction{id_, stored_};
  auto begun = environment_.execute_threads->run([self = shared_from_this()] { self->execute(); });
  if (!begun) { // the producer is being destroyed
    environment_.via->clear_running(environment_.group, id_);
    result_.decided = undecided();
    finish();
  }
}

void transaction_run::execute() {
  auto state = local_state::unknown;
  auto first = messages_[0]; // `join` may move the others
  try {
    state = listener_->execute(first, *this);
  } catch (...) { // the application's own; its state is unknown, so it is asked about later
  }
  if (problem_.code != ec::ok) {
    result_.stored = problem_;
    state = local_state::rollback;
  } else {
    result_.stored = transaction{id_, stored_};
  }
  decide(state);
}

answer<nothing> transaction_run::join(message another) {
  auto other = half_request(*environment_.via, environment_.group, another, id_, true);
  auto got = other ? wait_for(*environment_.via, std::move(*other)) : reply{other.error(), {}};
  if (got.why.code != ec::ok) {
    problem_ = got.why;
    return got.why;
  }
  ++stored_;
  messages_.push_back(std::move(another));
  return nothing{};
}

void transaction_run::decide(local_state state) {
  result_.state = state;
  if (state == local_state::unknown) {
    environment_.via->clear_running(environment_.group, id_);
    result_.decided = undecided();
    return finish();
  }
  // A commit says how many messages it means; a rollback means all that there are.
  auto messages = state == local_state::commit ? stored_ : std::uint16_t{0};
  auto r = deciding_request(environment_.group, id_, outcome_of(state), origin::producer, messages);
  // It counts as running until the node has answered: a check must not overtake the decision.
  r.done = [self = shared_from_this()](const reply& got) {
    self->environment_.via->clear_running(self->environment_.group, self->id_);
    self->result_.decided = decision_of(got);
    self->finish();
  };
  environment_.via->submit(std::move(r));
}

decision transaction_run::undecided() const {
  decision none;
  none.id = id_;
  return none;
}

void transaction_run::finish() {
  promise_.set_value(std::move(result_));
}

} // namespace handfast::client
