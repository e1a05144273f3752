#pragma once

/// A folder of a test's own: test processes run beside each other.

#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <stdlib.h>
#include <string>

namespace handfast::test {

/// Made empty under a name that nobody else has, and removed with all that is in it.
class own_folder {
public:
  own_folder() {
    // What `mkdtemp` makes a name of: it replaces the X.
    auto pattern = (std::filesystem::path{::testing::TempDir()} / "handfast-XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
      throw std::runtime_error("cannot make a folder like " + pattern);
    path_ = pattern;
  }
  own_folder(const own_folder&) = delete;
  own_folder& operator=(const own_folder&) = delete;
  ~own_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

} // namespace handfast::test
