#include "messages/error.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>
#include <set>
#include <vector>

using namespace handfast;

namespace {

/// A switch without a default, so that the compiler names a code that is missing here.
constexpr bool is_code(ec code) {
  switch (code) {
  case ec::ok:
  case ec::bad_frame:
  case ec::frame_too_large:
  case ec::unsupported_version:
  case ec::bad_request:
  case ec::bad_name:
  case ec::body_too_large:
  case ec::properties_too_large:
  case ec::unknown_topic:
  case ec::unknown_queue:
  case ec::unknown_group:
  case ec::topic_exists:
  case ec::read_only_topic:
  case ec::topic_in_use:
  case ec::too_many_topics:
  case ec::not_authorized:
  case ec::not_supported:
  case ec::subscription_differs:
  case ec::unknown_message:
  case ec::bad_filter:
  case ec::group_in_use:
  case ec::bad_delay:
  case ec::too_many_queues:
  case ec::unknown_transaction:
  case ec::transaction_expired:
  case ec::wrong_group:
  case ec::conflict_committed:
  case ec::conflict_rolled_back:
  case ec::conflict_given_up:
  case ec::incomplete:
  case ec::transaction_quarantined:
  case ec::not_reopenable:
  case ec::cross_shard:
  case ec::transaction_decided:
  case ec::too_many_messages:
  case ec::too_many_pending:
  case ec::busy:
  case ec::disk_full:
  case ec::recovering:
  case ec::stopping:
  case ec::not_leader:
  case ec::too_many_delayed:
  case ec::outcome_unknown:
  case ec::timed_out:
  case ec::disconnected:
  case ec::unreachable:
  case ec::corrupt:
  case ec::io_error:
  case ec::not_our_directory:
  case ec::directory_in_use:
  case ec::newer_format:
  case ec::not_writable:
  case ec::position_not_found:
  case ec::config_invalid:
  case ec::internal:
  case ec::address_in_use:
    return true;
  }
  return false;
}

std::vector<ec> all_codes() {
  std::vector<ec> codes;
  for (std::uint16_t value = 0; value < 1024; ++value) {
    if (is_code(static_cast<ec>(value)))
      codes.push_back(static_cast<ec>(value));
  }
  return codes;
}

} // namespace

TEST(ErrorTable, HasARowOfItsOwnForEveryCode) {
  std::set<std::string_view> names;
  for (auto code : all_codes()) {
    EXPECT_EQ(ec_from_wire(static_cast<std::uint16_t>(code)), code) << name_of(code);
    EXPECT_TRUE(names.insert(name_of(code)).second) << name_of(code);
    EXPECT_TRUE(advice_of(code).ends_with('.')) << name_of(code);
  }
}

TEST(ErrorTable, ReadsUnknownNumbersAsInternal) {
  for (std::uint16_t value = 0; value < 1024; ++value) {
    if (!is_code(static_cast<ec>(value))) {
      EXPECT_EQ(ec_from_wire(value), ec::internal) << value;
    }
  }
}

TEST(ErrorTable, CallsOnlyOkDone) {
  for (auto code : all_codes())
    EXPECT_EQ(verdict_of(code) == verdict::done, code == ec::ok) << name_of(code);
}

TEST(ErrorTable, CallsConflictsFinal) {
  for (auto code : {ec::conflict_committed, ec::conflict_rolled_back, ec::conflict_given_up}) {
    EXPECT_EQ(verdict_of(code), verdict::refused);
    EXPECT_FALSE(is_retriable(code));
  }
}

TEST(ErrorTexts, HaveNameDetailAndAdvice) {
  EXPECT_EQ(to_string(error{ec::config_invalid, "topic.max: '-1' is no number"}),
            "config_invalid: topic.max: '-1' is no number. Correct the named key.");
  EXPECT_EQ(to_string(error{ec::recovering, {}}), "recovering. Try again in a second.");
}
