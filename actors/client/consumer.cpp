#include "actors/client/consumer.hpp"

#include "actors/client/backoff.hpp"
#include "actors/client/session.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace handfast::client {

namespace {

/// Acknowledgements are collected for at most this long while the handler works through a batch.
constexpr auto acknowledge_every = std::chrono::milliseconds{50};
constexpr auto pause_first = std::chrono::milliseconds{50};
constexpr auto pause_max = std::chrono::milliseconds{2'000};

} // namespace

struct consumer::impl {
  std::shared_ptr<session> via;
  consumer_options options;
  handler on_message;
  std::mutex mutex;
  std::condition_variable stopped;
  bool stopping = false;
  error problem;
  std::vector<std::thread> threads;

  bool is_stopping() {
    std::lock_guard lock{mutex};
    return stopping;
  }

  void note(const error& why) {
    std::lock_guard lock{mutex};
    problem = why;
  }

  void pause(std::chrono::milliseconds time) {
    std::unique_lock lock{mutex};
    stopped.wait_for(lock, time, [this] { return stopping; });
  }

  consumed handle(const received_message& m) {
    try {
      return on_message(m);
    } catch (...) { // the application's own: the message comes again when its lease ends
      return consumed::later;
    }
  }

  /// Takes the batch message by message, and says so to the node from time to time.
  void work_through(subscription& from, const std::vector<received_message>& batch) {
    std::vector<receipt> done;
    std::vector<receipt> again;
    auto settle = [&] {
      auto first = from.acknowledge(done);
      auto second = from.hand_back(again);
      note(!first ? first.why() : !second ? second.why() : error{});
      done.clear();
      again.clear();
    };
    auto settled_at = clock::now();
    for (const auto& m : batch) {
      if (is_stopping())
        again.push_back(m.delivery); // not begun: somebody else may have it at once
      else if (auto verdict = handle(m); verdict == consumed::done)
        done.push_back(m.delivery);
      else if (verdict == consumed::again)
        again.push_back(m.delivery);
      if (clock::now() - settled_at >= acknowledge_every) {
        settle();
        settled_at = clock::now();
      }
    }
    settle();
  }

  void run(subscription from) {
    backoff rest{pause_first, pause_max};
    while (!is_stopping()) {
      auto batch = from.fetch(options.fetch_max, options.wait);
      if (!batch) {
        note(batch.why());
        pause(rest.next(via->random()));
        continue;
      }
      rest.reset();
      note({});
      work_through(from, batch.value());
    }
  }

  void stop() {
    {
      std::lock_guard lock{mutex};
      stopping = true;
    }
    stopped.notify_all();
    for (auto& t : threads)
      if (t.joinable())
        t.join();
  }
};

consumer::consumer(const client& from, consumer_options options, handler on_message)
    : impl_{std::make_shared<impl>()} {
  impl_->via = from.link();
  impl_->options = std::move(options);
  impl_->on_message = std::move(on_message);
  for (const auto& topic : impl_->options.topics) {
    subscription shared{from, impl_->options.group, topic, impl_->options.start};
    for (std::size_t i = 0; i < std::max<std::size_t>(impl_->options.threads_per_topic, 1); ++i)
      impl_->threads.emplace_back([self = impl_.get(), shared] { self->run(shared); });
  }
}

consumer::~consumer() {
  stop();
}

void consumer::stop() {
  impl_->stop();
}

error consumer::last_error() const {
  std::lock_guard lock{impl_->mutex};
  return impl_->problem;
}

} // namespace handfast::client
