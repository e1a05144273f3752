#pragma once

/// A simulated member of a consumer group: fetches, acknowledges, hands back, stalls, dies.

#include "tests/sim/sim_client.hpp"
#include "tests/sim/sim_database.hpp"
#include "tests/sim/sim_options.hpp"

#include <vector>

namespace handfast::sim {

class sim_consumer final : public sim_client {
public:
  sim_consumer(sim_timeline& time, sim_door& door, std::string name, std::string group,
               const std::vector<topic_plan>& topics, const sim_plan& plan)
      : sim_client{time, door, std::move(name)},
        group_name_{std::move(group)}, topics_{topics}, plan_{plan}, topic_ids_(topics.size()) {}

  /// Once winding up: whole rounds of fetches over all topics that gave nothing, one behind the
  /// other.
  [[nodiscard]] std::uint32_t empty_rounds() const { return empty_rounds_; }
  [[nodiscard]] bool finished() const override {
    return winding_up_ && acks_.empty() && empty_rounds_ >= 2 &&
           time_.now() - last_taken_ > plan_.settings.consumer.lease + std::chrono::seconds{1};
  }
  [[nodiscard]] std::string waiting_for() const override;
  void wind_up() override;
  [[nodiscard]] std::uint64_t taken() const { return taken_; }

protected:
  void on_welcome() override;
  void on_lost() override;
  void on_frame(const native::frame& from) override;

private:
  /// What an expected answer is about: a topic's id, or its messages.
  struct question {
    std::size_t topic = 0;
    bool fetches = false;
  };

  void resolve(std::size_t topic);
  void fetch(std::size_t topic);
  void on_topic(const native::frame& from);
  void on_delivered(const native::frame& from);
  void take(const native::delivered& x, std::size_t topic);
  void acknowledge(std::vector<native::acknowledge_item> items);
  void on_acknowledged(const native::frame& from);
  void on_refused(const native::frame& from);
  void answer_acks(correlation id, ec code);
  [[nodiscard]] std::string topic_name(topic_id id) const;
  [[nodiscard]] bool is_poison(const std::string& key) const;

  std::string group_name_;
  const std::vector<topic_plan>& topics_;
  const sim_plan& plan_;
  group_id group_;
  std::vector<topic_id> topic_ids_;
  std::map<topic_id, std::string> names_; ///< ids are never given twice
  std::map<std::uint64_t, question> topic_questions_;
  std::map<std::uint64_t, std::vector<native::acknowledge_item>> acks_;
  std::uint32_t empty_rounds_ = 0;
  std::uint32_t empty_in_row_ = 0;
  std::uint64_t taken_ = 0;
  sim_timeline::duration last_taken_{};
};

} // namespace handfast::sim
