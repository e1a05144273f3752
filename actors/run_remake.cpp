#include "actors/run_remake.hpp"

#include "actors/folds/outcome_table.hpp"
#include "actors/folds/queue_index.hpp"
#include "actors/folds/view_samples.hpp"
#include "actors/run_content.hpp"
#include "storage/log_scanner.hpp"
#include "storage/tail_search.hpp"

#include <algorithm>
#include <exception>

namespace handfast {

namespace {

constexpr const char* name_aside = "remade.tmp";

/// Folds one stretch of the log as op_store, the queues and commit_log did.
class stretch_fold {
public:
  void apply(const log_record& record) {
    for_each_visible(record, [&](queue_key queue, const visible_entry& entry) {
      content_.add_entry(queue, entry);
    });
    samples_.apply(record);
    last_ms_ = record.time_ms;
    try {
      outcomes_.apply(record);
    } catch (const std::exception&) {
      // No fold could take this record when it was new either: it is listed since.
    }
  }

  [[nodiscard]] wall_ms last_ms() const { return last_ms_; }

  run_content take() {
    outcomes_.each_unsaved(position{UINT64_MAX}, [&](const outcome_entry& e) {
      content_.add_outcome({e.transaction, e.group, e.result, e.by, e.messages, e.decided_at,
                            e.decided_ms, outcomes_.reopened_as(e.transaction)});
    });
    for (const auto& sample : samples_.unsaved())
      content_.add_sample(sample.view, sample.offset, sample.at);
    return std::move(content_);
  }

private:
  run_content content_;
  outcome_table outcomes_;
  view_samples samples_;
  wall_ms last_ms_ = 0;
};

/// Goes on behind a place where no record can be read.
result<void> pass_over(const run_places& places, storage::log_scanner& scanner, position until,
                       std::vector<unread_stretch>& unread) {
  const auto at = scanner.at();
  const auto found =
      storage::search_tail(places.log, places.codec, at + storage::record_alignment, true);
  if (!found)
    return tl::unexpected{found.error()};
  const auto next = found->next_valid.value == 0 ? until : std::min(until, found->next_valid);
  unread.push_back({at, next, std::string{storage::name_of(scanner.reason())}});
  scanner.seek(next);
  return {};
}

/// Folds [from, until), as far as it can be read.
result<void> fold_stretch(const run_places& places, position from, position until,
                          stretch_fold& fold, std::vector<unread_stretch>& unread) {
  storage::log_scanner scanner{places.log, places.codec, from, {.to = until}};
  log_record record;
  for (;;) {
    switch (scanner.next(record)) {
    case storage::scan_status::record:
      fold.apply(record);
      break;
    case storage::scan_status::damaged:
      // A damaged body keeps its place in the queue; whoever reads it finds out.
      if (scanner.reason() == storage::decode_status::bad_payload)
        fold.apply(record);
      break;
    case storage::scan_status::invalid:
      if (auto passed = pass_over(places, scanner, until, unread); !passed)
        return passed;
      break;
    case storage::scan_status::io_failed:
      return tl::unexpected{scanner.failure()};
    case storage::scan_status::end:
      return {};
    }
  }
}

} // namespace

result<remade_run> remake_run(const run_places& places, position from, position to,
                              position until) try {
  remade_run made;
  const auto begin = std::max(from, places.log.begin());
  if (begin > from)
    made.unread.push_back({from, std::min(begin, to), "the log no longer goes back to it"});
  stretch_fold fold;
  if (begin < until)
    if (auto folded = fold_stretch(places, begin, until, fold, made.unread); !folded)
      return tl::unexpected{folded.error()};
  auto content = fold.take();
  made.entries = content.entries();
  made.outcomes = content.outcomes();
  return storage::run_writer::begin(places.disk, places.directory, places.store_id, from, to,
                                    fold.last_ms(), name_aside)
      .and_then([&](storage::run_writer&& run) { return content.write(std::move(run)); })
      .map([&](const std::string&) { return std::move(made); });
} catch (const std::exception& e) {
  return fail(ec::internal, std::string{"a derived run can't be made from the log: "} + e.what());
}

} // namespace handfast
