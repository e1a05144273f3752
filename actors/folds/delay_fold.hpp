#pragma once

/// What DELAY SCHEDULER knows from the log: messages that become visible later, and which topics
/// there are.

#include "actors/folds/delay_table.hpp"
#include "actors/folds/topic_rules.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace handfast {

class delay_fold {
public:
  static constexpr std::string_view slice_prefix = "delay/";

  delay_table waiting;
  topic_rules rules;

  /// Applies any record: a plain message or a committed one with a delay waits from now on, what
  /// was released or cancelled no longer. Applying a stretch of the log again changes nothing.
  void apply(const log_record& record);

  /// One slice, with a cursor for the next call; an empty one begins, and is left behind at the
  /// end.
  [[nodiscard]] std::pair<std::string, std::string> save_slice(std::string& cursor) const;
  void load(const std::string& slice_name, std::string_view bytes);
  [[nodiscard]] delay_fold emptied() const { return {}; }
};

} // namespace handfast
