#pragma once

/// What the outside world hands to the actors of a shard, so that none of them reads a clock, a
/// file, a socket or a thread by itself. The node gives real ones; the simulation gives its own. No
/// CAF in here.

#include "messages/bytes.hpp"
#include "messages/error.hpp"
#include "messages/ids.hpp"
#include "messages/limits.hpp"
#include "messages/log_record.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace handfast {

namespace config {
struct settings;
}

namespace storage {
class write_batch;
}

/// Time. `now` is monotonic and drives deadlines; `wall` is for people, records and retention.
class clock {
public:
  using time_point = std::chrono::steady_clock::time_point;

  virtual ~clock() = default;
  [[nodiscard]] virtual time_point now() const = 0;
  [[nodiscard]] virtual wall_ms wall() const = 0;
};

/// Calls back once, on the shard's own thread, when the loop has nothing else ready.
class idle_hook {
public:
  virtual ~idle_hook() = default;
  virtual void at_next_idle(std::function<void()> what) = 0;
};

/// Writes and syncs batches, one after another, in the order given. `done` may be called on any
/// thread, also before `submit` returns (a batch written inline). After an error nothing more is
/// written.
class log_writer {
public:
  /// The error is ok when all of the batch is on the disk; `took` is the time of write and sync.
  using callback = std::function<void(error why, std::chrono::microseconds took)>;

  virtual ~log_writer() = default;
  /// @param records how many records the batch holds: few of them may be written inline on a fast
  /// disk
  virtual void submit(storage::write_batch batch, std::size_t records, callback done) = 0;
};

/// Reads one record if that needs no disk: from the page cache. Nothing when it would block, or at
/// the first trouble: then ask the LOG READER, which says what is wrong.
class record_source {
public:
  virtual ~record_source() = default;
  [[nodiscard]] virtual std::optional<log_record> try_read(position at, std::uint32_t length) = 0;

  struct place {
    position at;
    std::uint32_t length = 0; ///< as index entries have it
  };
  using visitor = std::function<void(std::size_t n, const log_record& record)>;
  /// The same for many at once, in any order: `found(n, record)` for each place that was read.
  virtual void try_read_all(const std::vector<place>& places, const visitor& found) {
    for (std::size_t n = 0; n < places.size(); ++n)
      if (const auto record = try_read(places[n].at, places[n].length))
        found(n, *record);
  }
};

/// The bytes of one client connection. Only called on the connection's own thread.
class transport {
public:
  virtual ~transport() = default;
  /// Queues bytes; they leave in order, several writes of one round as one. `bytes_written` follows
  /// for what leaves while `much_unsent` or more is queued, so that whoever waits for room hears of
  /// it.
  virtual void write(shared_bytes bytes) = 0;
  static constexpr std::size_t much_unsent = limits::mib;
  /// Ready for the next `bytes_arrived`: exactly one follows each call.
  virtual void read_more() = 0;
  /// Bytes queued and not yet taken by the kernel.
  [[nodiscard]] virtual std::size_t unsent() const = 0;
  /// Sends what is queued, then ends the connection; `transport_closed` follows.
  virtual void close() = 0;
  /// `HOST:PORT` of the other side, for people.
  [[nodiscard]] virtual std::string peer_name() const = 0;
};

/// Everything above, of one shard. Outlives the actors.
struct shard_environment {
  const config::settings* settings = nullptr;
  clock* time = nullptr;
  idle_hook* idle = nullptr;
  log_writer* writer = nullptr;
  record_source* records = nullptr;
  transaction_ids ids{0};
};

} // namespace handfast
