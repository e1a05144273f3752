#pragma once

/// Everything that can be set, typed. The initial values are the defaults; the option table
/// (`options.hpp`) gives each member its key, bounds and help. A plain value: copy it to whoever
/// needs it.

#include "config/address.hpp"
#include "config/policy.hpp"
#include "messages/limits.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

namespace handfast::config {

using std::chrono::milliseconds;

enum class log_level : std::uint8_t { trace, debug, info, warn, error, critical, off };
enum class log_format : std::uint8_t { text, json };

/// Sizes in bytes.
struct store_settings {
  std::filesystem::path dir{"./handfast-data"};
  std::uint64_t segment_size = 256 * limits::mib;
  std::uint64_t checkpoint_bytes = 64 * limits::mib;
  bool ignore_checkpoint = false;
  bool accept_corruption = false;
};

struct listen_settings {
  address native{"127.0.0.1", 7310};
  address http{"127.0.0.1", 7311};
};

struct transaction_settings {
  policy checks; ///< timeout, check_interval, check_backoff, check_max, check_total_age
  give_up_action give_up = give_up_action::roll_back;
  milliseconds remember{std::chrono::hours{72}};
  std::uint64_t pending_max = limits::pending_max;
  std::uint64_t pending_bytes = limits::pending_bytes_max;
  std::uint32_t messages_max = limits::transaction_messages_max;
  std::uint64_t outcomes_in_memory = limits::outcomes_in_memory;
  std::uint32_t checks_per_second = 1'000;
};

struct delay_settings {
  std::uint64_t max = limits::delayed_max;
};

struct producer_settings {
  milliseconds session_timeout{std::chrono::seconds{10}};
};

struct topic_settings {
  bool auto_create = true;
  std::uint32_t default_queues = 4;
  std::uint32_t max = 10'000;
  std::uint32_t queues_max = limits::all_queues_max;
};

struct consumer_settings {
  milliseconds lease{std::chrono::seconds{30}};
  std::uint32_t delivery_max = 16;
  milliseconds retry_backoff_min{std::chrono::seconds{10}};
  milliseconds retry_backoff_max{std::chrono::hours{2}};
};

/// Sizes in bytes.
struct limit_settings {
  std::uint64_t body = limits::body_bytes_max;
  std::uint64_t frame = limits::frame_bytes_max;
  std::uint32_t connections = 10'000;
  std::uint32_t credit = limits::connection_credit;
};

struct supervision_settings {
  std::uint32_t restarts = 5;
  milliseconds window{std::chrono::seconds{30}};
};

struct shutdown_settings {
  milliseconds timeout{std::chrono::seconds{5}};
};

struct log_settings {
  log_level level = log_level::info;
  log_format format = log_format::text;
  std::filesystem::path file; ///< empty = standard error
};

struct settings {
  store_settings store;
  listen_settings listen;
  bool insecure = false;
  transaction_settings transaction;
  delay_settings delay;
  producer_settings producer;
  topic_settings topic;
  consumer_settings consumer;
  limit_settings limits;
  supervision_settings supervision;
  shutdown_settings shutdown;
  log_settings log;
};

} // namespace handfast::config
