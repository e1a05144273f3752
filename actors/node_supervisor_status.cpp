/// What `handfast status` and /metrics show: asked of every member, so gauges are computed from
/// state at that moment.

#include "actors/node_supervisor.hpp"

#include <caf/actor_cast.hpp>

#include <set>

namespace handfast {

namespace {

constexpr std::chrono::milliseconds status_patience{500};
/// Asked at the same time: ten thousand queues neither stall the loop nor hold ten thousand timers.
constexpr std::size_t asked_at_once = 128;

} // namespace

struct node_supervisor_state::gathering {
  node_status result;
  std::deque<std::pair<member_key, caf::actor_addr>> todo;
  std::size_t asked = 0;
  std::function<void(node_status)> deliver;
};

void node_supervisor_state::on_ask_status(const ask_node_status& x) {
  auto into = std::make_shared<gathering>();
  into->result.id = x.id;
  into->deliver = [this, asker = self_->current_sender()](node_status result) {
    if (asker)
      self_->send(caf::actor_cast<connection_actor>(asker), std::move(result));
  };
  gather(into);
}

caf::typed_response_promise<node_status> node_supervisor_state::on_status_request() {
  auto promise = self_->make_response_promise<node_status>();
  auto into = std::make_shared<gathering>();
  into->deliver = [promise](node_status result) mutable { promise.deliver(std::move(result)); };
  gather(into);
  return promise;
}

void node_supervisor_state::gather(std::shared_ptr<gathering> into) {
  into->result.actors.push_back(own_status());
  for (auto role = member_role::log_reader; role <= member_role::queue;
       role = static_cast<member_role>(static_cast<int>(role) + 1))
    into->result.restarts.emplace_back(name_of(role),
                                       restarts_.contains(role) ? restarts_.at(role) : 0);
  for (const auto& [key, one] : members_) {
    if (!is_tree_member(key.role))
      continue;
    if (one.actor)
      into->todo.emplace_back(key, caf::actor_cast<caf::actor_addr>(one.actor));
    else if (!one.quarantined.empty())
      into->result.not_answering.push_back(text_of(key));
  }
  ask_next(into);
}

void node_supervisor_state::ask_next(const std::shared_ptr<gathering>& into) {
  while (into->asked < asked_at_once && !into->todo.empty()) {
    const auto [key, address] = into->todo.front();
    into->todo.pop_front();
    const auto actor = caf::actor_cast<caf::strong_actor_ptr>(address);
    if (!actor) {
      into->result.not_answering.push_back(text_of(key));
      continue;
    }
    ++into->asked;
    self_->request(caf::actor_cast<tree_member_actor>(actor), status_patience, status_request{})
        .then(
            [this, into](status_report& report) {
              --into->asked;
              into->result.actors.push_back(std::move(report));
              ask_next(into);
            },
            [this, into, key = key](const caf::error&) {
              --into->asked;
              into->result.not_answering.push_back(text_of(key));
              ask_next(into);
            });
  }
  if (into->asked == 0 && into->deliver)
    std::exchange(into->deliver, nullptr)(std::move(into->result));
}

status_report node_supervisor_state::own_status() const {
  status_report report{"node_supervisor", {}, {}};
  std::map<member_role, std::size_t> living;
  for (const auto& [key, one] : members_) {
    living[key.role] += one.actor ? 1 : 0;
    if (!one.quarantined.empty())
      report.quarantined.push_back({{}, text_of(key), one.quarantined, {}});
  }
  report.samples.push_back({"handfast_connections", {}, static_cast<double>(connections_.size())});
  report.samples.push_back({"handfast_topics", {}, static_cast<double>(topics_.size())});
  report.samples.push_back(
      {"handfast_actors_quarantined", {}, static_cast<double>(report.quarantined.size())});
  for (const auto& [role, count] : living)
    report.samples.push_back({"handfast_actors", "role=\"" + std::string{name_of(role)} + "\"",
                              static_cast<double>(count)});
  for (const auto& [role, count] : restarts_)
    report.samples.push_back({"handfast_restarts_total",
                              "role=\"" + std::string{name_of(role)} + "\"",
                              static_cast<double>(count)});
  return report;
}

} // namespace handfast
