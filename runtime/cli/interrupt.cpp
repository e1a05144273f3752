#include "runtime/cli/interrupt.hpp"

#include "messages/assert.hpp"

#include <atomic>
#include <csignal>

namespace handfast::cli {

namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler writes it");
bool in_use = false;

void on_signal(int number) {
  if (interrupted.exchange(true)) {
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
}

} // namespace

interrupt::interrupt() {
  HANDFAST_ASSERT(!in_use);
  in_use = true;
  interrupted = false;
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

interrupt::~interrupt() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  in_use = false;
}

bool interrupt::came() {
  return interrupted.load();
}

} // namespace handfast::cli
