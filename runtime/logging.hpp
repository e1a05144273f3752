#pragma once

/// The log of the process: spdlog's default logger, as text or as JSON lines, to standard error or
/// a file. No line holds the body of a message.

#include "config/settings.hpp"
#include "messages/error.hpp"

#include <memory>

namespace handfast::runtime {

class log_file_sink;

/// While it lives, the default logger writes as the settings say.
class logging {
public:
  /// ec::config_invalid when the file cannot be opened, with its path.
  static result<std::unique_ptr<logging>> start(const config::log_settings& settings);
  ~logging();

  /// Closes the file and opens it again by its name, for `logrotate`. From any thread; without a
  /// file nothing happens.
  void reopen();

private:
  std::shared_ptr<log_file_sink> file_;
};

} // namespace handfast::runtime
