#pragma once

/// Where a broadcasting consumer keeps how far it has come.

#include "messages/error.hpp"
#include "messages/ids.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace handfast::client {

/// To be implemented over whatever the application has. Calls come from one thread for each topic,
/// so an implementation for several topics must be thread-safe.
class offset_store {
public:
  struct place {
    queue_no queue;
    queue_offset next; ///< the first that is not handled
  };

  virtual ~offset_store() = default;
  /// Nothing for a queue that was never saved.
  virtual std::optional<queue_offset> load(const std::string& topic, queue_no queue) = 0;
  /// Everything below these places is handled. Called once for
  /// queues that are read for the first time, before anything of them is, and after each batch.
  virtual result<void> save(const std::string& topic, const std::vector<place>& places) = 0;
};

/// Forgets with the process. Thread-safe.
class memory_offsets final : public offset_store {
public:
  std::optional<queue_offset> load(const std::string& topic, queue_no queue) override;
  result<void> save(const std::string& topic, const std::vector<place>& places) override;

private:
  std::mutex mutex_;
  std::map<std::pair<std::string, queue_no>, queue_offset> places_;
};

/// A text file with a line `TOPIC QUEUE OFFSET` for each queue, replaced as a whole and synced at
/// each save. For one consumer at a time. Thread-safe.
class file_offsets final : public offset_store {
public:
  /// Reads the file if it is there. `ec::bad_request` with the line if it has another form,
  /// `ec::not_writable` if it can't be read.
  static result<std::shared_ptr<file_offsets>> open(std::string path);

  std::optional<queue_offset> load(const std::string& topic, queue_no queue) override;
  result<void> save(const std::string& topic, const std::vector<place>& places) override;

private:
  explicit file_offsets(std::string path) : path_{std::move(path)} {}
  result<void> read();

  std::string path_;
  std::mutex mutex_;
  std::map<std::pair<std::string, queue_no>, queue_offset> places_;
};

} // namespace handfast::client
