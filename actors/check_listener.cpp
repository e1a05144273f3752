#include "actors/check_listener.hpp"

#include "actors/type_ids.hpp"

#include <caf/actor_cast.hpp>
#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

namespace handfast {

namespace {

/// User code ends here, whatever it throws.
config::give_up_action chosen(const give_up_choice& choose, const transaction_life& life,
                              config::give_up_action usual) {
  if (!choose)
    return usual;
  try {
    return choose(life);
  } catch (const std::exception& e) {
    spdlog::error("the check listener failed on transaction {}: {}; {} instead", to_string(life.id),
                  e.what(), config::name_of(usual));
  } catch (...) {
    spdlog::error("the check listener failed on transaction {}; {} instead", to_string(life.id),
                  config::name_of(usual));
  }
  return usual;
}

} // namespace

check_listener_actor::behavior_type check_listener(check_listener_actor::pointer self,
                                                   config::give_up_action usual,
                                                   give_up_choice choose) {
  return {
      [self, usual, choose = std::move(choose)](const checks_exhausted& x) {
        self->send(caf::actor_cast<half_store_actor>(self->current_sender()),
                   exhausted_judged{x.life.id, chosen(choose, x.life, usual)});
      },
  };
}

} // namespace handfast
