#pragma once

/// Values of options: checks whose texts say what was given and what is wanted, and their meaning.

#include "messages/delivery.hpp"
#include "messages/error.hpp"
#include "messages/ids.hpp"

#include <CLI/App.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace handfast::cli {

/// A whole number in [min, max].
CLI::Validator whole_number(std::uint64_t min, std::uint64_t max);
/// One of `allowed`; suggests the nearest.
CLI::Validator one_of(std::vector<std::string> allowed);
/// `HOST:PORT` that a client can connect to.
CLI::Validator server_address();
/// Seconds, also with a fraction (`0.5`), or a duration with a unit (`500ms`, `2m`).
CLI::Validator seconds();
/// A duration with a unit (`500ms`, `2m`), as `duration_from_text` reads it.
CLI::Validator duration();
/// A date in UTC, such as `2027-05-01T08:30:00Z`, that `parse_delay` reads.
CLI::Validator date();
/// The printed form of a transaction id.
CLI::Validator transaction();
/// Not all zeros either, which means "no transaction" to the node.
CLI::Validator open_transaction();

/// What `seconds` accepts; the error's detail says what is wrong.
result<std::chrono::milliseconds> parse_seconds(const std::string& text);
/// Where reading begins: `earliest`, `latest`, `offset:N`, a date in UTC such as
/// `2026-11-30T08:30:00Z`, or how long ago, such as `30m`.
CLI::Validator start();
/// `NAME=VALUE`, where the value may be empty.
CLI::Validator property();
/// Tags with `||` between; a condition over properties.
CLI::Validator tag_filter();
CLI::Validator sql_filter();

/// What `start` accepts, seen from `now`; the error's detail says what is wrong.
result<start_point> parse_start(const std::string& text, wall_ms now);
/// The same by this machine's clock, of a text that `start` accepted.
start_point start_of(const std::string& text);

/// What `transaction` accepted.
transaction_id id_of(const std::string& text);

} // namespace handfast::cli
