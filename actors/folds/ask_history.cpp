#include "actors/folds/ask_history.hpp"

#include "messages/limits.hpp"

#include <algorithm>
#include <utility>

namespace handfast {

void ask_history::add(position transaction, ask_made ask) {
  auto found = asks_.find(transaction);
  if (found == asks_.end()) {
    if (order_.size() == max_) {
      asks_.erase(order_.front());
      whole_from_ = std::max(whole_from_, order_.front() + 1);
      order_.pop_front();
    }
    order_.push_back(transaction);
    found = asks_.emplace(transaction, std::vector<ask_made>{}).first;
  }
  auto& asks = found.value();
  if (asks.size() == limits::asks_remembered)
    asks.erase(asks.begin());
  asks.push_back(std::move(ask));
}

void ask_history::answer(position transaction, std::string_view what) {
  const auto found = asks_.find(transaction);
  if (found != asks_.end())
    found.value().back().answer = what;
}

void ask_history::name_member(position transaction, std::uint32_t hash, std::string_view name) {
  const auto found = asks_.find(transaction);
  if (found == asks_.end() || found->second.back().member != 0)
    return;
  found.value().back().member = hash;
  found.value().back().member_name = name;
}

std::vector<ask_made> ask_history::of(position transaction) const {
  const auto found = asks_.find(transaction);
  return found == asks_.end() ? std::vector<ask_made>{} : found->second;
}

void ask_history::begin_at(position first) {
  if (!std::exchange(begun_, true))
    whole_from_ = std::max(whole_from_, first);
}

bool ask_history::knows(position transaction) const {
  return asks_.contains(transaction) || (begun_ && transaction >= whole_from_);
}

std::uint32_t ask_history::last_member(position transaction) const {
  const auto found = asks_.find(transaction);
  return found == asks_.end() ? 0 : found->second.back().member;
}

} // namespace handfast
