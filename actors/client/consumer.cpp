#include "actors/client/consumer.hpp"

#include "actors/client/backoff.hpp"
#include "actors/client/push_consumer.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace handfast::client {

namespace {

constexpr auto pause_first = std::chrono::milliseconds{50};
constexpr auto pause_max = std::chrono::milliseconds{2'000};
/// A fetch is parked at most this long, so that a stop is heard.
constexpr auto broadcast_wait = std::chrono::milliseconds{200};
constexpr std::uint32_t broadcast_max = 256;

/// Broadcasting: one thread for each topic.
class broadcaster {
public:
  broadcaster(const client& from, const consumer_options& options, consumer::handler on_message)
      : via_{from.link()}, on_message_{std::move(on_message)} {
    const auto start = options.start.value_or(start_point{start_from::latest, 0});
    for (const auto& topic : options.topics)
      threads_.emplace_back([this, reader = broadcast_reader{from, topic, options.filter, start,
                                                             options.offsets}] { run(reader); });
  }

  void stop() {
    {
      std::lock_guard lock{mutex_};
      stopping_ = true;
    }
    stopped_.notify_all();
    for (auto& t : threads_)
      if (t.joinable())
        t.join();
  }

  error last_error() {
    std::lock_guard lock{mutex_};
    return problem_;
  }

private:
  void run(broadcast_reader reader) {
    backoff rest{pause_first, pause_max};
    while (!is_stopping()) {
      auto got = reader.fetch(broadcast_max, broadcast_wait);
      if (!got) {
        note(got.why());
        pause(rest.next(via_->random()));
        continue;
      }
      rest.reset();
      for (const auto& m : got.value()) {
        if (is_stopping())
          return; // what is not saved is read again
        handle(m);
      }
      const auto saved = reader.save();
      note(saved ? error{} : saved.error());
    }
  }

  void handle(const received_message& m) {
    try {
      static_cast<void>(on_message_(m));
    } catch (...) { // the application's own; nobody else waits for this message
    }
  }

  bool is_stopping() {
    std::lock_guard lock{mutex_};
    return stopping_;
  }

  void note(const error& why) {
    std::lock_guard lock{mutex_};
    problem_ = why;
  }

  void pause(std::chrono::milliseconds time) {
    std::unique_lock lock{mutex_};
    stopped_.wait_for(lock, time, [this] { return stopping_; });
  }

  const std::shared_ptr<session> via_;
  const consumer::handler on_message_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stopping_ = false;
  error problem_;
  std::vector<std::thread> threads_;
};

} // namespace

struct consumer::impl {
  std::shared_ptr<push_consumer> pushed; ///< or
  std::unique_ptr<broadcaster> all;
};

consumer::consumer(const client& from, consumer_options options, handler on_message)
    : impl_{std::make_shared<impl>()} {
  if (options.mode == consume_mode::broadcasting) {
    impl_->all = std::make_unique<broadcaster>(from, options, std::move(on_message));
    return;
  }
  impl_->pushed =
      std::make_shared<push_consumer>(from.link(), std::move(options), std::move(on_message));
  impl_->pushed->start();
}

consumer::~consumer() {
  stop();
}

void consumer::stop() {
  if (impl_->pushed)
    impl_->pushed->stop();
  else
    impl_->all->stop();
}

error consumer::last_error() const {
  return impl_->pushed ? impl_->pushed->last_error() : impl_->all->last_error();
}

} // namespace handfast::client
