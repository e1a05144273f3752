#pragma once

/// A wire between clients and a node that a test can cut.

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace handfast::test {

/// Listens on loopback and carries bytes to and from a port of loopback. Thread-safe.
class cut_wire {
public:
  /// @param to 0: accepts connections and never says anything
  explicit cut_wire(std::uint16_t to);
  ~cut_wire();
  cut_wire(const cut_wire&) = delete;
  cut_wire& operator=(const cut_wire&) = delete;

  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::size_t accepted() const { return accepted_; }
  /// Ends all connections; new ones are carried again.
  void cut();
  /// From now on nothing comes through to the clients, until `cut`.
  void swallow_answers() { swallowing_ = true; }

private:
  struct pair {
    int client = -1;
    int node = -1;
    std::thread up;
    std::thread down;
  };
  void accept_all();
  void carry(int from, int to, bool down);
  static void end(pair& both);

  std::uint16_t to_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  std::atomic<std::size_t> accepted_{0};
  std::atomic<bool> swallowing_{false};
  std::mutex mutex_;
  std::list<pair> pairs_;
  std::thread acceptor_;
};

} // namespace handfast::test
