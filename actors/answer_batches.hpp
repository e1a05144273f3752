#pragma once

/// Answers gathered by who asked, so that each asker gets one message for all that one batch has
/// settled.

#include <caf/actor_cast.hpp>
#include <caf/actor_control_block.hpp>
#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace handfast {

/// `Answers` has a vector `results`; `Handle` is what its receivers are.
template <class Answers, class Handle>
class answer_batches {
public:
  using result = typename decltype(Answers::results)::value_type;

  void add(const caf::strong_actor_ptr& to, result what) {
    batch_of(to).results.push_back(std::move(what));
  }

  /// Says in words why some of the next answer to `to` are refused; `Answers` has a `detail`.
  void explain(const caf::strong_actor_ptr& to, const std::string& detail) {
    if (!detail.empty())
      batch_of(to).detail = detail;
  }

  /// @param self the actor that answers
  template <class Self>
  void send_all(Self self) {
    if (batches_.empty())
      return;
    std::size_t results = 0;
    for (auto& [to, answers] : batches_) {
      results += answers.results.size();
      if (to)
        self->send(caf::actor_cast<Handle>(to), std::move(answers));
    }
    expected_ = (results + batches_.size() - 1) / batches_.size();
    batches_.clear();
    ++round_;
    last_ = 0;
    if (index_.size() > askers_remembered)
      index_.clear();
  }

private:
  Answers& batch_of(const caf::strong_actor_ptr& to) {
    if (last_ < batches_.size() && batches_[last_].first == to)
      return batches_[last_].second;
    auto& seen = index_[to.get()];
    if (seen.round != round_) {
      seen = {round_, batches_.size()};
      batches_.emplace_back(to, Answers{}).second.results.reserve(expected_);
    }
    last_ = seen.batch;
    return batches_[last_].second;
  }

  /// Askers of earlier rounds stay in the index, since emptying a hash table costs as much as
  /// filling it. Their addresses are only compared, and a round tells whether they count.
  struct place {
    std::uint64_t round = 0;
    std::size_t batch = 0;
  };
  static constexpr std::size_t askers_remembered = 4'096;

  std::vector<std::pair<caf::strong_actor_ptr, Answers>> batches_;
  tsl::robin_map<const caf::actor_control_block*, place> index_;
  std::uint64_t round_ = 1;
  std::size_t last_ = 0;
  std::size_t expected_ = 1; ///< results of one asker, as in the round before
};

} // namespace handfast
