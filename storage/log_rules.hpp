#pragma once

/// Whether what the records of a log say can be true together: the cheap part of what the folds and
/// the writer hold to. For checks; a node does not need it.

#include "storage/record_codec.hpp"

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace handfast::storage {

/// A record that says what cannot be.
struct impossible_record {
  position at;
  std::string what; ///< a sentence, without the position
};

/// Takes the records of one log in log order. Memory: about 60 bytes for each half and message that
/// may be referred to. Not thread-safe. What stands before the log's begin, or was lost or could
/// not be read, gets the benefit of the doubt.
class log_rules {
public:
  explicit log_rules(position begin) : begin_{begin} {}

  void check(const record_header& header, const log_record& record);
  /// Nothing is known of [from, to).
  void pass_over(position from, position to);

  [[nodiscard]] const std::vector<impossible_record>& found() const { return found_; }
  /// Beyond those listed in `found`.
  [[nodiscard]] std::uint64_t not_listed() const { return not_listed_; }

private:
  struct row {
    std::uint64_t next = 0;
    std::uint64_t losses = 0; ///< when the last entry came
    bool known = false;
  };
  enum class state : std::uint8_t { open, decided, given_up };

  void check_header(const record_header& header, const log_record& record);
  void check_content(const log_record& record, const message_record& message);
  void check_content(const log_record& record, const decide_record& decide);
  void check_content(const log_record& record, const checked_record& checked);
  void check_content(const log_record& record, const release_record& release);
  void check_content(const log_record& record, const reopen_record& reopen);
  void check_content(const log_record& record, const move_record& move);
  void check_content(const log_record& record, const progress_record& progress);
  void check_content(const log_record& record, const meta_record& meta);
  void check_content(const log_record& record, const epoch_record& epoch);
  void check_content(const log_record& record, const dead_letter_record& dead);
  void check_content(const log_record&, const retire_record&) {}
  void check_content(const log_record&, const pad_record&) {}
  void check_content(const log_record&, const mark_record&) {}

  void check_offset(row& of, const std::string& name, queue_offset offset);
  void check_entry(const index_entry& entry, bool with_offset);
  void end_waiting(position body);
  void check_name(std::unordered_map<std::string, std::uint32_t>& names,
                  std::unordered_map<std::uint32_t, std::string>& ids, const meta_record& meta,
                  const char* kind);
  /// Whether nothing can be said of `p`.
  [[nodiscard]] bool in_doubt(position p) const;
  void note(std::string what);

  position begin_;
  position at_; ///< of the record that is being checked
  position durable_;
  std::uint32_t epoch_ = 0;
  std::uint64_t losses_ = 0;
  std::map<position, position> passed_;
  row half_view_;
  row op_view_;
  std::map<queue_key, row> queues_;
  std::unordered_map<std::uint64_t, std::uint32_t> bodies_; ///< their records' lengths
  std::unordered_set<std::uint64_t> delayed_;               ///< bodies that wait for their time
  std::unordered_map<std::uint64_t, state> transactions_;
  std::unordered_map<std::string, std::uint32_t> topic_names_;
  std::unordered_map<std::uint32_t, std::string> topic_ids_;
  std::unordered_map<std::string, std::uint32_t> group_names_;
  std::unordered_map<std::uint32_t, std::string> group_ids_;
  std::vector<impossible_record> found_;
  std::uint64_t not_listed_ = 0;
};

} // namespace handfast::storage
