#pragma once

/// How `tx list` and `tx show` tell the life of a transaction.

#include "messages/native/transactions.hpp"
#include "runtime/cli/table.hpp"

#include <iosfwd>
#include <string>
#include <vector>

namespace handfast::cli {

/// One thing that happened to a transaction.
struct life_event {
  wall_ms at = 0; ///< 0 = unknown, or still to come
  std::string what;
  look as = look::plain;
};

/// Everything in the order it happened: stored, asked (whom, with which answer), decided by whom,
/// opened again; then what comes next, without a time.
std::vector<life_event> events_of(const native::transaction_info& transaction);

/// `rolled back`: the state as people say it.
std::string state_text(transaction_state state);
/// `by the producer`, `by an answer to a check`, `by an operator`, `by the give-up rule`.
std::string decider_text(origin by);

/// The whole of `tx show`.
/// @param width columns of the terminal, 0 = no limit
void print_life(std::ostream& to, const native::transaction_info& transaction, bool colours,
                std::size_t width = 0);
/// The table of `tx list`; a narrow terminal gets it without the last column.
void print_lives(std::ostream& to, const std::vector<native::transaction_info>& transactions,
                 bool colours, std::size_t width = 0);

} // namespace handfast::cli
