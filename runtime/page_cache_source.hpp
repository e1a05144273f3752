#pragma once

/// Records that lie in the page cache, read without waiting for the disk.

#include "actors/seams.hpp"
#include "storage/record_reader.hpp"

namespace handfast::runtime {

/// Safe from any thread. A record that is damaged, gone or not in memory is given as nothing: LOG
/// READER says what is wrong.
class page_cache_source final : public record_source {
public:
  /// Both must outlive it.
  page_cache_source(const storage::segment_set& log, const storage::record_codec& codec)
      : reader_{log, codec} {}

  [[nodiscard]] std::optional<log_record> try_read(position at, std::uint32_t length) override;
  void try_read_all(const std::vector<place>& places, const visitor& found) override;

private:
  storage::record_reader reader_;
};

} // namespace handfast::runtime
