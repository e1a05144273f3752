#pragma once

/// What a node says of itself, for people.

#include <nlohmann/json.hpp>

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace handfast::cli {

/// The samples of all actors in a status report.
class samples {
public:
  explicit samples(const nlohmann::ordered_json& status);

  struct one {
    std::string actor;
    std::string name;
    std::string labels;
    double value = 0;
  };
  [[nodiscard]] const std::vector<one>& all() const { return all_; }
  /// Over all actors and labels; nothing when no actor has it.
  [[nodiscard]] std::optional<double> sum(std::string_view name) const;

private:
  std::vector<one> all_;
};

/// A page of facts: connections, transactions, checks, log, disk, and what is wrong. Facts whose
/// samples are missing are left out, so that any version of a node can be looked at.
void print_summary(std::ostream& to, const nlohmann::ordered_json& status, bool colours,
                   std::size_t width = 0);
/// Every sample of every actor.
void print_samples(std::ostream& to, const nlohmann::ordered_json& status, bool colours,
                   std::size_t width = 0);

} // namespace handfast::cli
