#pragma once

/// A disk that takes its time: for actors that wait for the disk on threads of their own in the
/// real node. Before each operation `wait` is called, in which the simulation lets everybody else
/// go on, so that decisions, deaths and power cuts fall between the steps of a checkpoint.

#include "storage/file_system.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace handfast::sim {

class sim_slow_disk final : public storage::file_system {
public:
  using waiting = std::function<void()>;

  /// Both must outlive this and its files.
  sim_slow_disk(storage::file_system& inner, const waiting& wait) : inner_{inner}, wait_{wait} {}

  result<std::unique_ptr<storage::file>> open(const std::string& path,
                                              storage::open_mode mode) override;
  result<bool> exists(const std::string& path) override { return after_wait().exists(path); }
  result<std::vector<std::string>> list(const std::string& directory) override {
    return after_wait().list(directory);
  }
  result<void> make_directories(const std::string& directory) override {
    return after_wait().make_directories(directory);
  }
  result<void> remove(const std::string& path) override { return after_wait().remove(path); }
  result<void> rename(const std::string& from, const std::string& to) override {
    return after_wait().rename(from, to);
  }
  result<void> sync_directory(const std::string& directory) override {
    return after_wait().sync_directory(directory);
  }
  result<std::unique_ptr<storage::file_lock>> lock(const std::string& path) override {
    return after_wait().lock(path);
  }
  result<storage::disk_space> space(const std::string& directory) override {
    return after_wait().space(directory);
  }

private:
  class slow_file;

  storage::file_system& after_wait() {
    wait_();
    return inner_;
  }

  storage::file_system& inner_;
  const waiting& wait_;
};

} // namespace handfast::sim
