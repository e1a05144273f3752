#pragma once

/// What lies behind a place in the log where no valid record stands: a torn tail, or records that
/// were lost?

#include "storage/record_codec.hpp"
#include "storage/segment_set.hpp"

namespace handfast::storage {

/// What is found behind a place, at 8-byte steps.
struct tail_findings {
  position durable;     ///< largest durable mark in any valid header
  position next_valid;  ///< first valid header; none if there is none
  position written_end; ///< just behind the last word that is not zero; none if all is zero
};

/// Reads everything prepared at and behind `from`; with `first_only` only up to the first valid
/// header.
result<tail_findings> search_tail(const segment_set& log, const record_codec& codec, position from,
                                  bool first_only);

/// Tells torn tails from corruption: what stands below a position that was durable is corrupt, the
/// rest is torn.
class tail_judge {
public:
  /// @param ended where the log ended in order, if it is known to have: behind it nothing is looked
  /// for, unless bytes follow
  tail_judge(const segment_set& log, const record_codec& codec, position durable,
             position ended = {})
      : log_{log}, codec_{codec}, durable_{durable}, ended_{ended} {}

  /// A durable mark from a header that was read.
  void learn(position durable) { durable_ = std::max(durable_, durable); }
  /// Largest durable mark known.
  [[nodiscard]] position durable() const { return durable_; }

  /// Whether a record at `at` was durable; reads on behind it if what is known does not say so yet.
  result<bool> was_durable(position at);

  struct judgement {
    bool corrupt = false;
    position lost_to; ///< if corrupt: where scanning can go on
    position
        written_end; ///< if torn: just behind the last byte to cut; none if there is nothing to cut
    std::string reason; ///< if corrupt because of the file: what is wrong with it
  };
  /// Judges the place `at`, where no valid record stands.
  result<judgement> judge(position at);

private:
  result<void> search_all(position from);
  [[nodiscard]] result<bool> ended_at(position at) const;
  struct loss_limit {
    position to;
    std::string reason;
  };
  [[nodiscard]] result<loss_limit> limit_of(position at) const;

  const segment_set& log_;
  const record_codec& codec_;
  position durable_;
  position ended_;
  bool searched_ = false; ///< `durable_` counts all headers
};

} // namespace handfast::storage
