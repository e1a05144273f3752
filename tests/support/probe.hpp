#pragma once

/// A stand-in for any actor: takes every message, keeps it in order, and answers requests as told.

#include "actors/type_ids.hpp"

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/message.hpp>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace handfast::test {

class probe : public std::enable_shared_from_this<probe> {
public:
  static std::shared_ptr<probe> spawn(caf::actor_system& system) {
    std::shared_ptr<probe> made{new probe};
    made->actor_ = system.spawn([raw = made.get()](caf::event_based_actor* self) -> caf::behavior {
      raw->self_ = self;
      self->set_default_handler(
          [raw](caf::scheduled_actor* me, caf::message_view& x) -> caf::result<caf::message> {
            return raw->on_message(me->current_sender(), x.move_content_to_message());
          });
      return {[](caf::ok_atom) {}};
    });
    return made;
  }

  [[nodiscard]] const caf::actor& handle() const { return actor_; }
  /// The same actor under the handle type that a test needs.
  template <class Handle>
  [[nodiscard]] Handle as() const {
    return caf::actor_cast<Handle>(actor_);
  }

  /// All messages of type `T` received so far; they are forgotten here.
  template <class T>
  std::vector<T> take() {
    std::vector<T> found;
    std::vector<caf::message> others;
    for (auto& m : received_) {
      if (m.match_elements<T>())
        found.push_back(m.get_as<T>(0));
      else
        others.push_back(std::move(m));
    }
    received_ = std::move(others);
    return found;
  }
  /// The last message of type `T`; all of that type are forgotten. A default value if there is
  /// none.
  template <class T>
  T take_last() {
    auto all = take<T>();
    return all.empty() ? T{} : std::move(all.back());
  }
  template <class T>
  [[nodiscard]] std::size_t count() const {
    std::size_t n = 0;
    for (const auto& m : received_)
      n += m.match_elements<T>() ? 1 : 0;
    return n;
  }
  [[nodiscard]] const std::vector<caf::message>& received() const { return received_; }
  void forget_all() { received_.clear(); }

  /// From now on a message of type `Request` is answered with what `fun(request)` returns (or, if
  /// that is void, not). It is kept too.
  template <class Request, class Fun>
  void on(Fun fun) {
    rules_.push_back([this, fun = std::move(fun)](const caf::message& m, caf::message& answer) {
      if (!m.match_elements<Request>())
        return false;
      if constexpr (std::is_void_v<std::invoke_result_t<Fun, const Request&>>)
        fun(m.get_as<Request>(0));
      else
        answer = caf::make_message(fun(m.get_as<Request>(0)));
      return true;
    });
  }
  /// Inside a rule: who sent the message.
  [[nodiscard]] const caf::strong_actor_ptr& sender() const { return sender_; }
  /// Called for each message as it arrives, before it is kept.
  void watch(std::function<void(const caf::message&)> seen) { seen_ = std::move(seen); }

  /// Sends a request; `then` gets the answer when it comes.
  template <class Answer, class Handle, class Request>
  void request(const Handle& to, Request&& what, std::function<void(Answer&)> then) {
    ensure_started();
    self_->request(caf::actor_cast<caf::actor>(to), caf::infinite, std::forward<Request>(what))
        .then([then = std::move(then)](Answer& x) { then(x); });
  }

private:
  probe() = default;

  void ensure_started() {
    if (!self_)
      self_ = static_cast<caf::event_based_actor*>(caf::actor_cast<caf::abstract_actor*>(actor_));
  }

  caf::result<caf::message> on_message(const caf::strong_actor_ptr& from, caf::message m) {
    sender_ = from;
    if (seen_)
      seen_(m);
    caf::message answer;
    for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule)
      if ((*rule)(m, answer))
        break;
    received_.push_back(std::move(m));
    if (answer.empty())
      return caf::delegated<caf::message>{}; // says nothing: a request stays unanswered
    return answer;
  }

  caf::actor actor_;
  caf::event_based_actor* self_ = nullptr;
  caf::strong_actor_ptr sender_;
  std::vector<caf::message> received_;
  std::vector<std::function<bool(const caf::message&, caf::message&)>> rules_;
  std::function<void(const caf::message&)> seen_;
};

} // namespace handfast::test
