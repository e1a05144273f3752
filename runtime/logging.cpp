#include "runtime/logging.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cerrno>
#include <cstdio>
#include <mutex>
#include <system_error>

namespace handfast::runtime {

/// A file that can be opened again. Each line is handed to the system at once.
class log_file_sink final : public spdlog::sinks::base_sink<std::mutex> {
public:
  explicit log_file_sink(std::string path) : path_{std::move(path)} {}
  ~log_file_sink() override { close(); }

  /// 0, or why not. What was open stays in use then.
  int open() {
    const std::lock_guard lock{mutex_};
    auto* opened = std::fopen(path_.c_str(), "ae");
    if (opened == nullptr)
      return errno;
    close();
    file_ = opened;
    return 0;
  }

protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    std::fwrite(line.data(), 1, line.size(), file_);
    std::fflush(file_);
  }
  void flush_() override { std::fflush(file_); }

private:
  void close() {
    if (file_ != nullptr)
      std::fclose(file_);
  }

  std::string path_;
  std::FILE* file_ = nullptr;
};

namespace {

/// The message as the inside of a JSON string.
class json_text final : public spdlog::custom_flag_formatter {
public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& into) override {
    constexpr std::string_view hex = "0123456789abcdef";
    for (const char c : message.payload) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        into.push_back('\\');
        into.push_back(c);
      } else if (byte < 0x20) {
        for (const char e : std::string_view{"\\u00"})
          into.push_back(e);
        into.push_back(hex[byte >> 4]);
        into.push_back(hex[byte & 0xf]);
      } else {
        into.push_back(c);
      }
    }
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<json_text>();
  }
};

std::unique_ptr<spdlog::formatter> formatter_of(config::log_format format) {
  auto made = std::make_unique<spdlog::pattern_formatter>();
  if (format == config::log_format::json)
    made->add_flag<json_text>('*').set_pattern(
        R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l","event":"%*"})");
  else
    made->set_pattern("%Y-%m-%d %H:%M:%S.%e %-8l %v");
  return made;
}

spdlog::level::level_enum level_of(config::log_level level) {
  return static_cast<spdlog::level::level_enum>(level);
}
static_assert(static_cast<int>(config::log_level::trace) == SPDLOG_LEVEL_TRACE &&
              static_cast<int>(config::log_level::off) == SPDLOG_LEVEL_OFF);

} // namespace

result<std::unique_ptr<logging>> logging::start(const config::log_settings& settings) {
  auto made = std::make_unique<logging>();
  spdlog::sink_ptr sink;
  if (settings.file.empty()) {
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  } else {
    made->file_ = std::make_shared<log_file_sink>(settings.file.string());
    if (const int why = made->file_->open(); why != 0)
      return fail(ec::config_invalid, "log.file: cannot open " + settings.file.string() +
                                          " for writing: " + std::generic_category().message(why));
    sink = made->file_;
  }
  auto logger = std::make_shared<spdlog::logger>("handfast", std::move(sink));
  logger->set_formatter(formatter_of(settings.format));
  logger->set_level(level_of(settings.level));
  spdlog::set_default_logger(std::move(logger));
  return made;
}

logging::~logging() {
  // Late lines of threads that are still ending go to standard error.
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
}

void logging::reopen() {
  if (!file_)
    return;
  if (const int why = file_->open(); why != 0)
    spdlog::error("the log file could not be opened again, the old one stays in use: {}",
                  std::generic_category().message(why));
  else
    spdlog::info("the log file was opened again");
}

} // namespace handfast::runtime
