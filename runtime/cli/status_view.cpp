#include "runtime/cli/status_view.hpp"

#include "runtime/cli/table.hpp"
#include "runtime/cli/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>

namespace handfast::cli {

namespace {

using json = nlohmann::ordered_json;

std::uint64_t whole(double value) {
  return value > 0 ? static_cast<std::uint64_t>(std::llround(value)) : 0;
}

/// Collects `count what` phrases, as far as the node has the samples.
class phrase {
public:
  explicit phrase(const samples& from) : from_{from} {}

  /// `what` as it stands behind any number.
  phrase& count(std::string_view name, const std::string& what) {
    if (auto value = from_.sum(name))
      add(count_text(whole(*value)) + " " + what);
    return *this;
  }
  /// `1 topic`, `2 topics`.
  phrase& things(std::string_view name, const std::string& noun, const std::string& rest = {}) {
    if (auto value = from_.sum(name))
      add(counted(whole(*value), noun) + rest);
    return *this;
  }
  phrase& bytes(std::string_view name, const std::string& what) {
    if (auto value = from_.sum(name))
      add(bytes_text(whole(*value)) + " " + what);
    return *this;
  }
  phrase& milliseconds(std::string_view name, const std::string& what) {
    if (auto seconds = from_.sum(name)) {
      char text[32];
      std::snprintf(text, sizeof text, "%.2f ms ", *seconds * 1000);
      add(text + what);
    }
    return *this;
  }
  void add(const std::string& part) { text_ += (text_.empty() ? "" : ", ") + part; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool any(std::string_view name) const { return from_.sum(name).value_or(0) > 0; }

private:
  const samples& from_;
  std::string text_;
};

void add_fact(fact_sheet& facts, const std::string& label, const phrase& what,
              look as = look::plain) {
  if (!what.text().empty())
    facts.add(label, {what.text(), as});
}

/// A number, or the length of a list; 0 where there is no such member.
std::uint64_t count_in(const json& object, const char* key) {
  if (object.is_object() && object.contains(key) && object[key].is_array())
    return object[key].size();
  if (!object.is_object() || !object.contains(key) || !object[key].is_number_unsigned())
    return 0;
  return object[key].get<std::uint64_t>();
}

/// The names of a list; of a number how many.
std::string names_of(const json& list) {
  if (!list.is_array())
    return counted(list.get<std::uint64_t>(), "actor");
  std::string text;
  for (const auto& name : list)
    if (name.is_string())
      text += (text.empty() ? "" : ", ") + one_line(name.get<std::string>());
  return text;
}

std::string text_in(const json& object, const char* key) {
  return object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

/// `3 of half store`, or nothing when no actor was restarted.
std::string restarts_of(const json& status) {
  std::string text;
  if (!status.contains("restarts") || !status["restarts"].is_object())
    return text;
  for (const auto& [role, count] : status["restarts"].items()) {
    if (!count.is_number_unsigned() || count.get<std::uint64_t>() == 0)
      continue;
    auto name = role;
    std::replace(name.begin(), name.end(), '_', ' ');
    text += (text.empty() ? "" : ", ") + count_text(count.get<std::uint64_t>()) + " of " + name;
  }
  return text;
}

std::uint64_t quarantined_in(const json& status) {
  std::uint64_t sum = 0;
  if (status.contains("actors") && status["actors"].is_array()) {
    for (const auto& actor : status["actors"])
      sum += count_in(actor, "quarantined");
  }
  return sum;
}

void add_troubles(fact_sheet& facts, const json& status, const samples& from) {
  if (auto silent = count_in(status, "not_answering"); silent > 0)
    facts.add("not answering", {names_of(status["not_answering"]), look::bad});
  if (auto stopped = from.sum("handfast_actors_quarantined").value_or(0); stopped > 0)
    facts.add("given up on", {counted(whole(stopped), "actor"), look::bad});
  if (from.sum("handfast_log_disk_full").value_or(0) > 0)
    facts.add("disk full", {"new messages are refused, decisions go on", look::bad});
  auto restarts = restarts_of(status);
  facts.add("restarts",
            restarts.empty() ? cell{"none", look::good} : cell{restarts, look::waiting});
  auto set_aside = quarantined_in(status);
  facts.add("quarantine",
            set_aside == 0
                ? cell{"empty", look::good}
                : cell{count_text(set_aside) + ": see `handfast quarantine list`", look::bad});
}

} // namespace

samples::samples(const json& status) {
  if (!status.is_object() || !status.contains("actors") || !status["actors"].is_array())
    return;
  for (const auto& actor : status["actors"]) {
    if (!actor.is_object() || !actor.contains("samples") || !actor["samples"].is_array())
      continue;
    for (const auto& sample : actor["samples"]) {
      if (sample.is_object() && sample.contains("value") && sample["value"].is_number())
        all_.push_back({text_in(actor, "actor"), text_in(sample, "name"), text_in(sample, "labels"),
                        sample["value"].get<double>()});
    }
  }
}

std::optional<double> samples::sum(std::string_view name) const {
  std::optional<double> sum;
  for (const auto& sample : all_) {
    if (sample.name == name)
      sum = sum.value_or(0) + sample.value;
  }
  return sum;
}

void print_summary(std::ostream& to, const json& status, bool colours, std::size_t width) {
  samples from{status};
  fact_sheet facts;
  add_fact(facts, "clients", phrase{from}.count("handfast_connections", "connected"));
  add_fact(facts, "known",
           phrase{from}
               .things("rocketmq_topic_number", "topic")
               .things("handfast_queues", "queue")
               .things("rocketmq_consumer_group_number", "group"));
  phrase waiting{from};
  waiting.count("handfast_pending_transactions_all", "pending")
      .bytes("handfast_pending_bytes", "of bodies")
      .count("handfast_deciding_transactions", "being decided");
  add_fact(facts, "transactions", waiting);
  if (phrase delayed{from}; delayed.any("handfast_delayed_messages")) {
    delayed.count("handfast_delayed_messages", "wait for their time");
    if (const auto next = whole(from.sum("handfast_delay_next_due_seconds").value_or(0) * 1000))
      delayed.add("the next until " + time_text(next));
    add_fact(facts, "delayed", delayed);
  }
  add_fact(facts, "since start",
           phrase{from}
               .count("rocketmq_commit_messages_total", "committed")
               .count("rocketmq_rollback_messages_total", "rolled back")
               .count("handfast_given_up_total", "given up")
               .things("handfast_decision_conflicts_total", "conflict", " refused"));
  phrase checks{from};
  checks.count("handfast_checks_handed_over_total", "asked")
      .count("handfast_transactions_without_producer", "waiting for a producer");
  add_fact(facts, "checks", checks,
           checks.any("handfast_transactions_without_producer") ? look::waiting : look::plain);
  add_fact(facts, "consumers",
           phrase{from}
               .things("rocketmq_consumer_lag_messages", "message", " behind")
               .count("rocketmq_consumer_inflight_messages", "in their hands"));
  add_fact(facts, "log",
           phrase{from}
               .bytes("rocketmq_storage_size", "written")
               .bytes("handfast_checkpoint_behind_bytes", "since the last checkpoint")
               .milliseconds("handfast_log_sync_seconds_last", "for the last sync"));
  phrase disk{from};
  disk.bytes("handfast_disk_available_bytes", "free")
      .bytes("handfast_disk_capacity_bytes", "in all")
      .bytes("handfast_disk_needed_bytes", "needed");
  add_fact(facts, "disk", disk);
  add_troubles(facts, status, from);
  facts.print(to, colours, width);
}

void print_samples(std::ostream& to, const json& status, bool colours, std::size_t width) {
  table rows{{{"ACTOR"}, {"SAMPLE"}, {"LABELS"}, {"VALUE", true}}};
  const samples from{status};
  for (const auto& sample : from.all()) {
    char value[64];
    std::snprintf(value, sizeof value, "%.15g", sample.value);
    rows.add(
        {one_line(sample.actor), one_line(sample.name), {one_line(sample.labels, 200)}, value});
  }
  rows.print(to, colours, width);
}

} // namespace handfast::cli
