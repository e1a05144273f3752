#include "actors/client/transaction_producer.hpp"

#include "actors/client/calls.hpp"
#include "actors/client/transaction_run.hpp"
#include "messages/names.hpp"

namespace handfast::client {

struct transaction_producer::impl {
  std::shared_ptr<session> via;
  std::string group;
  std::shared_ptr<check_desk> desk;
  worker_pool execute_threads;
  error bad_group; ///< code ok if the name is valid

  impl(std::shared_ptr<session> s, transaction_options options,
       std::shared_ptr<transaction_listener> listener)
      : via{std::move(s)}, group{options.group}, desk{std::make_shared<check_desk>(
                                                     via, group, std::move(options.topics),
                                                     std::move(listener), options.check_threads)},
        execute_threads{std::max<std::size_t>(options.execute_threads, 1)} {
    if (auto valid = valid_name(name_kind::group, group); !valid)
      bad_group = valid.error();
    else
      via->set_member(group, desk);
  }

  answer<decision> decide(const transaction_id& id, outcome wanted, std::uint16_t messages) {
    if (bad_group.code != ec::ok)
      return bad_group;
    auto got = wait_for(*via, deciding_request(group, id, wanted, origin::producer, messages));
    via->clear_running(group, id);
    return decision_of(got);
  }
};

transaction_producer::transaction_producer(const client& from, transaction_options options,
                                           std::shared_ptr<transaction_listener> listener)
    : impl_{std::make_shared<impl>(from.link(), std::move(options), std::move(listener))} {}

transaction_producer::~transaction_producer() {
  impl_->via->remove_member(impl_->group, impl_->desk.get());
  impl_->execute_threads.stop();
  impl_->desk->stop();
}

void transaction_producer::set_listener(std::string topic,
                                        std::shared_ptr<transaction_listener> listener) {
  impl_->desk->set_listener(std::move(topic), std::move(listener));
  impl_->via->declare_again(impl_->group);
}

transaction_result transaction_producer::send_in_transaction(message what, std::any argument) {
  std::vector<message> one;
  one.push_back(std::move(what));
  return send_all_in_transaction(std::move(one), std::move(argument));
}

transaction_result transaction_producer::send_all_in_transaction(std::vector<message> what,
                                                                 std::any argument) {
  return send_all_in_transaction_async(std::move(what), std::move(argument)).get();
}

std::future<transaction_result>
transaction_producer::send_all_in_transaction_async(std::vector<message> what, std::any argument) {
  if (impl_->bad_group.code != ec::ok) {
    std::promise<transaction_result> refusal;
    transaction_result result;
    result.stored = impl_->bad_group;
    refusal.set_value(std::move(result));
    return refusal.get_future();
  }
  run_environment environment{impl_->via, impl_->group, impl_->desk, &impl_->execute_threads};
  return std::make_shared<transaction_run>(std::move(environment), std::move(what),
                                           std::move(argument))
      ->start();
}

answer<transaction> transaction_producer::begin(message first, bool running) {
  if (impl_->bad_group.code != ec::ok)
    return impl_->bad_group;
  auto r = half_request(*impl_->via, impl_->group, first, {}, running);
  if (!r)
    return r.error();
  auto promise = std::make_shared<std::promise<reply>>();
  auto future = promise->get_future();
  // Marked on the I/O thread, so that no check that follows the answer finds it missing.
  r->done = [promise, via = impl_->via.get(), group = impl_->group, running](reply got) {
    if (running && got.why.code == ec::ok)
      via->set_running(group, std::get<native::half_stored_item>(got.body).transaction);
    promise->set_value(std::move(got));
  };
  impl_->via->submit(std::move(*r));
  auto got = future.get();
  if (got.why.code != ec::ok)
    return got.why;
  return transaction{std::get<native::half_stored_item>(got.body).transaction, 1};
}

answer<nothing> transaction_producer::join(transaction& to, message another) {
  if (impl_->bad_group.code != ec::ok)
    return impl_->bad_group;
  auto r = half_request(*impl_->via, impl_->group, another, to.id, false);
  if (!r)
    return r.error();
  auto got = wait_for(*impl_->via, std::move(*r));
  if (got.why.code != ec::ok)
    return got.why;
  if (to.messages > 0) // 0 = the caller does not know how many there are
    ++to.messages;
  return nothing{};
}

answer<decision> transaction_producer::commit(const transaction& what) {
  return impl_->decide(what.id, outcome::committed, what.messages);
}

answer<decision> transaction_producer::rollback(const transaction& what) {
  return impl_->decide(what.id, outcome::rolled_back, 0);
}

void transaction_producer::release(const transaction_id& id) {
  impl_->via->clear_running(impl_->group, id);
}

answer<transaction_life> transaction_producer::status(const transaction_id& id) {
  auto r = single_request([id](const addressing& with) {
    return native::query_transaction{with.id, id};
  });
  auto got = call<native::transactions>(*impl_->via, std::move(r),
                                        [](native::transactions page) { return page.items; });
  if (!got)
    return got.why();
  if (got->empty())
    return error{ec::unknown_transaction, to_string(id)};
  return got->front().life;
}

answer<nothing> transaction_producer::wait_until_member() {
  if (impl_->bad_group.code != ec::ok)
    return impl_->bad_group;
  auto promise = std::make_shared<std::promise<error>>();
  auto future = promise->get_future();
  impl_->via->when_member(impl_->group,
                          [promise](error why) { promise->set_value(std::move(why)); });
  if (future.wait_for(impl_->via->options().total_timeout) != std::future_status::ready)
    return error{ec::unreachable, "no connection within the total time-out"};
  auto why = future.get();
  if (why.code != ec::ok)
    return why;
  return nothing{};
}

} // namespace handfast::client
