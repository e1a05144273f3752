#pragma once

/// What the producers of one group share beside the broker: their database, which says how local
/// transactions ended, and the names and bodies of messages.

#include "messages/log_record.hpp"
#include "tests/sim/sim_timeline.hpp"

#include <map>
#include <string>

namespace handfast::sim {

/// Survives the death of any producer, as a database does.
class sim_database {
public:
  void end_local(const std::string& transaction, outcome result) {
    ended_.emplace(transaction, result);
  }
  /// pending if no local transaction of that name has ended.
  [[nodiscard]] outcome find(const std::string& transaction) const {
    const auto found = ended_.find(transaction);
    return found == ended_.end() ? outcome::pending : found->second;
  }

private:
  std::map<std::string, outcome> ended_;
};

/// The key stands in front of the body; the rest is filler that follows from the key.
inline std::string body_of(const std::string& key, std::size_t filler) {
  std::string body = key + "|";
  auto state = proof::body_hash(key);
  for (std::size_t i = 0; i < filler; ++i)
    body.push_back(static_cast<char>('a' + (state = mix64(state)) % 26));
  return body;
}

inline std::string key_of(std::string_view body) {
  return std::string{body.substr(0, body.find('|'))};
}

/// Keys of halves are `TRANSACTION.NUMBER`.
inline std::string transaction_of(const std::string& key) {
  return key.substr(0, key.rfind('.'));
}

} // namespace handfast::sim
