#pragma once

/// The parts of a native connection that hand messages out: see `native_parts.hpp`.

#include "actors/connections/connection_core.hpp"
#include "messages/filter/filter.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace handfast {

/// Compiles what a frame says it wants. `ec::bad_filter` with the reason.
result<filter> filter_of(filter_kind kind, const std::string& expression);

/// Members of consumer groups: fetching by request and by subscription, acknowledging.
class consume_part {
public:
  explicit consume_part(connection_core& core) : core_{core} {}

  void on(native::fetch& x);
  void on(native::subscribe& x);
  void on(const native::credit& x);
  void on(const native::unsubscribe& x);
  void on(const native::acknowledge& x);

  void on_group(const outstanding_request& request, const group_resolved& x);
  void on_consumer_group(const consumer_group_found& x);
  void on_deliver(const outstanding_request& request, deliver& x);
  void on_acknowledged(const outstanding_request& request, const acknowledged& x);
  void on_bodies(const outstanding_request& request, records_read& x);
  /// There may be room for output again: subscriptions go on.
  void resume();
  void drop_job(std::uint32_t job);
  void leave_all();
  [[nodiscard]] std::size_t subscriptions() const { return pushes_.size(); }

  /// Messages that may be on their way to a subscriber at once.
  static constexpr std::uint32_t credit_max = 65'536;

private:
  using time_point = clock::time_point;
  static constexpr std::size_t jobs_max = 256;
  static constexpr std::size_t pushes_max = 256;
  static constexpr std::size_t groups_max = 1'024;
  static constexpr std::size_t filters_max = 64;
  /// One step of a subscription, so that a slow reader holds no more than it must.
  static constexpr std::uint32_t push_messages_max = 1'024;
  static constexpr std::uint32_t push_bytes_max = 1 * limits::mib;
  static constexpr std::uint32_t push_wait_ms = 60'000;

  /// One fetch until its answer.
  struct job {
    native::fetch what;     ///< `id` is that of the subscription, if it belongs to one
    std::uint32_t push = 0; ///< number of the subscription; 0 = none
    bool abandoned = false; ///< its subscription has ended: what comes goes back
    group_id group;
    filter wanted;
    time_point until;
    std::vector<delivery> deliveries;
    std::vector<std::uint32_t> missing; ///< places in the answer whose bodies are being read
    native::delivered answer;
  };
  /// A subscription. At most one fetch of it is under way.
  struct push {
    native::subscribe what;
    group_id group;
    std::uint32_t credit = 0;
    std::uint64_t held = 0; ///< messages that came by it and whose credit did not come back
    std::uint32_t job = 0;  ///< 0 = none
    bool ended = false;     ///< by its client, which still holds messages
  };
  struct group_link {
    consumer_group_actor actor;
    incarnation life;
    std::vector<std::uint32_t> waiting_jobs;
    std::vector<native::acknowledge> waiting_acks;
  };

  [[nodiscard]] bool may_consume(correlation client, topic_id topic, const std::string& group);
  [[nodiscard]] std::optional<filter> wanted_by(correlation client,
                                                const subscription_terms& terms);
  [[nodiscard]] group_id known_group(const std::string& name) const;
  void find(group_id group);
  void send_fetch(std::uint32_t number, job& work);
  void pass_on(const native::acknowledge& x);
  void send_acks(group_link& link, const native::acknowledge& x);
  void grant(correlation subscription, std::uint32_t messages);
  void read_bodies(std::uint32_t number, job& work);
  void judge(std::uint32_t number, job& work, std::vector<std::uint32_t> gone);
  void settle(const job& work, const std::vector<std::uint32_t>& places, handling what,
              std::uint32_t retry_ms = 0);
  void settle_all(const job& work);
  void finish(std::uint32_t number, job& work);
  void fail_job(std::uint32_t number, ec code, std::string_view detail = {});
  void pump(std::uint32_t number, push& work);
  void end_push(std::uint32_t number);
  void leave(std::uint32_t number);
  [[nodiscard]] bool reads_for(group_id group) const;

  connection_core& core_;
  std::unordered_map<std::uint32_t, job> jobs_;
  std::unordered_map<std::uint32_t, push> pushes_;
  std::unordered_map<std::uint64_t, std::uint32_t> push_numbers_; ///< by the client's correlation
  std::map<std::pair<filter_kind, std::string>, filter> filters_; ///< compiled before
  std::map<std::string, group_id, std::less<>> group_names_;
  std::map<group_id, group_link> groups_;
};

/// Reading without a group: views, single queues, broadcasting, and what start points mean.
class browse_part {
public:
  explicit browse_part(connection_core& core) : core_{core} {}

  void on(const native::read_view& x);
  void on(const native::read_queues& x);
  void on(const native::find_offsets& x);

  void on_queue(const queue_found& x);
  void on_entries(const outstanding_request& request, const entries_fetched& x);
  void on_offset(const outstanding_request& request, const offset_found& x);
  void on_grew(const queue_grew& x);
  void on_bodies(const outstanding_request& request, records_read& x);
  void on_view(const outstanding_request& request, const view_read& x);
  void on_timer();
  void drop_job(std::uint32_t job);
  [[nodiscard]] std::size_t reads() const { return jobs_.size(); }

private:
  using time_point = clock::time_point;
  static constexpr std::size_t jobs_max = 256;
  static constexpr std::size_t links_max = 20'000;
  static constexpr std::uint32_t read_messages_max = 256;
  static constexpr std::uint32_t wait_ms_max = 10 * 60 * 1'000;

  enum class purpose : std::uint8_t { view, queue, broadcast, offsets };
  /// One queue in a job.
  struct place {
    enum class stage : std::uint8_t { wanted, asked, answered };
    queue_key key;
    queue_offset next;
    stage at = stage::wanted;
    bool moved = false;
    correlation asked;
  };
  struct job {
    purpose what = purpose::view;
    correlation client;
    std::uint32_t messages_max = 0;
    std::uint32_t bytes_max = 0;
    filter wanted;
    start_point point; ///< offsets only
    time_point until;
    bool parked = false;
    std::vector<place> places;
    std::size_t open = 0; ///< places that are not answered
    std::uint64_t bytes = 0;
    std::vector<delivery> deliveries;
    std::vector<std::uint32_t> missing;
    native::delivered answer;
    native::offsets found;
  };
  struct queue_link {
    queue_actor actor;
    incarnation life;
    queue_offset end;     ///< as far as it is known
    bool watched = false; ///< the queue tells when something stands at `end`
  };

  void begin(std::uint32_t number, job& work);
  void look_up(std::uint32_t number, job& work, place& p);
  void ask(std::uint32_t number, job& work, place& p, const queue_link& link);
  void answered(std::uint32_t number, job& work);
  void park(job& work);
  void take(job& work, place& p, const entries_fetched& x);
  void read_bodies(std::uint32_t number, job& work);
  void filter_out(job& work, std::vector<std::uint32_t> gone);
  void go_on(std::uint32_t number, job& work);
  void finish(std::uint32_t number, job& work);
  void fail_job(std::uint32_t number, ec code, std::string_view detail = {});
  void arm();
  [[nodiscard]] static place* place_of(job& work, queue_key key);

  connection_core& core_;
  std::unordered_map<std::uint32_t, job> jobs_;
  std::map<queue_key, queue_link> links_;
  std::optional<time_point> armed_;
};

/// One consumer group, as an operator sees it.
class group_part {
public:
  explicit group_part(connection_core& core) : core_{core} {}

  void on(const native::group_show& x);
  void on(const native::group_set& x);
  void on(const native::group_delete& x);
  void on(const native::reset_progress& x);

  void on_group(const outstanding_request& request, const group_resolved& x);
  void on_consumer_group(const consumer_group_found& x);
  void on_described(const outstanding_request& request, const group_described& x);
  void on_reset(const outstanding_request& request, const progress_reset& x);
  void on_names(const outstanding_request& request, const ids_named& x);
  void drop_job(std::uint32_t job);

private:
  static constexpr std::size_t jobs_max = 64;

  /// A look at a group, or a reset of it.
  struct job {
    correlation client;
    std::string name;
    std::optional<native::reset_progress> reset;
    group_id group;
    bool asked = false;
    incarnation life;             ///< of whom it was asked
    std::vector<topic_id> topics; ///< of the places, then of the terms
    native::group_description answer;
  };
  void begin(job work);
  void fail_job(std::uint32_t number, ec code, std::string_view detail = {});

  connection_core& core_;
  std::unordered_map<std::uint32_t, job> jobs_;
};

} // namespace handfast
