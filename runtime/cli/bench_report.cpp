#include "runtime/cli/bench_report.hpp"

#include "runtime/cli/table.hpp"
#include "runtime/cli/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>

namespace handfast::cli {

namespace {

using json = nlohmann::ordered_json;
using bench::load_report;
using bench::percentiles;

/// JSON with as many digits as mean something.
double rounded(double value, double step = 0.001) {
  return std::round(value / step) * step;
}

std::string ms_text(double ms) {
  char text[32];
  std::snprintf(text, sizeof text, ms < 10 ? "%.2f" : "%.1f", ms);
  return text;
}

json json_of(const percentiles& p) {
  return {{"p50", rounded(p.p50)},
          {"p90", rounded(p.p90)},
          {"p99", rounded(p.p99)},
          {"p999", rounded(p.p999)},
          {"max", rounded(p.max)}};
}

template <class Get>
double median_of(const std::vector<load_report>& rounds, Get get) {
  std::vector<double> values;
  for (const auto& round : rounds)
    values.push_back(get(round));
  return median(std::move(values));
}

double rate_of(const std::vector<load_report>& rounds) {
  return median_of(rounds, [](const load_report& r) { return r.committed_per_s; });
}

percentiles percentiles_of(const std::vector<load_report>& rounds,
                           percentiles load_report::*which) {
  auto one = [&](double percentiles::*at) {
    return median_of(rounds, [&](const load_report& r) { return r.*which.*at; });
  };
  return {one(&percentiles::p50), one(&percentiles::p90), one(&percentiles::p99),
          one(&percentiles::p999), one(&percentiles::max)};
}

json json_of(const load_report& round) {
  return {{"committed_per_s", rounded(round.committed_per_s, 0.1)},
          {"committed", round.committed},
          {"seconds", rounded(round.seconds)},
          {"p50_ms", rounded(round.whole.p50)},
          {"p99_ms", rounded(round.whole.p99)}};
}

json errors_of(const std::vector<load_report>& rounds) {
  std::map<ec, std::uint64_t> sum;
  for (const auto& round : rounds) {
    for (const auto& [code, count] : round.errors)
      sum[code] += count;
  }
  auto value = json::object();
  for (const auto& [code, count] : sum)
    value[std::string{name_of(code)}] = count;
  return value;
}

std::uint64_t unanswered_of(const std::vector<load_report>& rounds) {
  std::uint64_t sum = 0;
  for (const auto& round : rounds)
    sum += round.unanswered;
  return sum;
}

double ratio(double of, double to) {
  return to > 0 ? rounded(of / to) : 0;
}

} // namespace

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

json json_of(const bench_results& results) {
  auto whole = percentiles_of(results.node, &load_report::whole);
  json value{{"what", results.load.plain ? "messages" : "transactions"},
             {"committed_per_s", rounded(rate_of(results.node), 0.1)},
             {"p50_ms", rounded(whole.p50)},
             {"p90_ms", rounded(whole.p90)},
             {"p99_ms", rounded(whole.p99)},
             {"p999_ms", rounded(whole.p999)},
             {"max_ms", rounded(whole.max)}};
  if (!results.floor.empty()) {
    auto floor = percentiles_of(results.floor, &load_report::whole);
    value["ratio_to_floor"] = ratio(rate_of(results.node), rate_of(results.floor));
    value["p50_ratio_to_floor"] = ratio(whole.p50, floor.p50);
    value["floor"] = {{"committed_per_s", rounded(rate_of(results.floor), 0.1)},
                      {"p50_ms", rounded(floor.p50)},
                      {"p99_ms", rounded(floor.p99)}};
  }
  if (!results.load.plain) {
    value["half_ms"] = json_of(percentiles_of(results.node, &load_report::half));
    value["decide_ms"] = json_of(percentiles_of(results.node, &load_report::decide));
  }
  value["errors"] = errors_of(results.node);
  value["unanswered"] = unanswered_of(results.node);
  if (results.disk)
    value["disk"] = {{"folder", results.disk_folder},
                     {"fdatasync_p50_ms", rounded(results.disk->p50_us / 1000)},
                     {"fdatasync_p99_ms", rounded(results.disk->p99_us / 1000)}};
  value["connections"] = results.load.connections;
  value["window"] = results.load.window;
  value["body_bytes"] = results.load.body_bytes;
  value["seconds"] = rounded(static_cast<double>(results.load.measured.count()) / 1000);
  value["cores"] = results.cores;
  value["server"] = results.server;
  value["version"] = results.version;
  value["commit"] = results.commit;
  auto rounds = json::array();
  for (std::size_t i = 0; i < results.node.size(); ++i) {
    auto round = json_of(results.node[i]);
    if (i < results.floor.size())
      round["floor"] = json_of(results.floor[i]);
    rounds.push_back(std::move(round));
  }
  value["rounds"] = std::move(rounds);
  return value;
}

void print(std::ostream& to, const bench_results& results, bool colours) {
  fact_sheet facts;
  auto unit = results.load.plain ? "messages" : "transactions";
  facts.add("load", std::to_string(results.load.connections) + " connections, " +
                        std::to_string(results.load.window) + " under way on each, bodies of " +
                        bytes_text(results.load.body_bytes));
  facts.add("committed",
            {count_text(static_cast<std::uint64_t>(rate_of(results.node))) + " " + unit + "/s",
             look::strong});
  if (!results.floor.empty()) {
    char share[32];
    std::snprintf(share, sizeof share, "%.0f %%",
                  100 * ratio(rate_of(results.node), rate_of(results.floor)));
    facts.add("floor", count_text(static_cast<std::uint64_t>(rate_of(results.floor))) + " " + unit +
                           "/s; the node reaches " + share + " of it");
  }
  if (results.disk)
    facts.add("disk", "fdatasync p50 " + ms_text(results.disk->p50_us / 1000) + " ms, p99 " +
                          ms_text(results.disk->p99_us / 1000) + " ms in " + results.disk_folder);
  const auto errors = errors_of(results.node);
  for (const auto& [code, count] : errors.items())
    facts.add("refused", {code + ": " + count_text(count.get<std::uint64_t>()), look::bad});
  if (auto missing = unanswered_of(results.node); missing > 0)
    facts.add("unanswered", {count_text(missing), look::bad});
  facts.print(to, colours);
  to << '\n';
  table times{{{"MILLISECONDS"},
               {"P50", true},
               {"P90", true},
               {"P99", true},
               {"P99.9", true},
               {"MAX", true}}};
  auto add = [&](const char* name, const std::vector<load_report>& rounds,
                 percentiles load_report::*which) {
    auto p = percentiles_of(rounds, which);
    times.add(
        {name, ms_text(p.p50), ms_text(p.p90), ms_text(p.p99), ms_text(p.p999), ms_text(p.max)});
  };
  add(results.load.plain ? "send" : "whole transaction", results.node, &load_report::whole);
  if (!results.load.plain) {
    add("  half", results.node, &load_report::half);
    add("  commit", results.node, &load_report::decide);
  }
  if (!results.floor.empty())
    add("floor", results.floor, &load_report::whole);
  times.print(to, colours);
}

std::string line_of(const load_report& round) {
  auto text = count_text(static_cast<std::uint64_t>(round.committed_per_s)) + "/s, p50 " +
              ms_text(round.whole.p50) + " ms, p99 " + ms_text(round.whole.p99) + " ms";
  for (const auto& [code, count] : round.errors)
    text += ", " + std::string{name_of(code)} + " " + count_text(count);
  return text;
}

} // namespace handfast::cli
