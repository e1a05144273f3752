#pragma once

/// How long a message is to be delayed: RocketMQ's 18 levels, durations and dates. Nothing here
/// reads a clock: the present is handed in.

#include "messages/error.hpp"
#include "messages/log_record.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace handfast {

/// RocketMQ's levels in milliseconds; level 1 is the first.
constexpr std::array<std::uint64_t, 18> delay_levels_ms{
    1'000,   5'000,   10'000,  30'000,  60'000,  120'000,   180'000,   240'000,   300'000,
    360'000, 420'000, 480'000, 540'000, 600'000, 1'200'000, 1'800'000, 3'600'000, 7'200'000};

/// The delay of a level: none for 0 and below, the last one's above the last, as in RocketMQ.
std::uint64_t delay_of_level(std::int64_t level);

/// What a person wrote, as a delay in milliseconds from `now`: a level from 0 (none) to 18; a
/// duration, such as `2s`, `90m`, `3d`; or a date in UTC, such as `2027-05-01T08:30:00Z`, with or
/// without seconds and thousandths. A date in the past is no delay. `ec::bad_request` with the
/// input and the forms, or the limit, otherwise; nothing is longer than `limits::delay_max`.
result<std::uint64_t> parse_delay(std::string_view text, wall_ms now);

/// What the properties of a message ask for, in milliseconds from `now`, 0 if nothing: the level
/// in DELAY, else TIMER_DELAY_SEC, TIMER_DELAY_MS, or the date TIMER_DELIVER_MS (milliseconds
/// since 1970; one in the past is no delay). `ec::bad_request` with the property, its value and
/// what is wanted, also for more than `limits::delay_max`.
result<std::uint64_t> requested_delay(std::string_view properties, wall_ms now);

} // namespace handfast
