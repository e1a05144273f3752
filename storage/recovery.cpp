#include "storage/recovery.hpp"

#include "messages/assert.hpp"
#include "storage/tail_search.hpp"

#include <algorithm>

namespace handfast::storage {

namespace {

/// So many lost ranges are named in an error; beyond, only their number.
constexpr std::size_t ranges_named_max = 16;

std::string text_of(const lost_range& lost) {
  return std::to_string(lost.from.value) + " to " + std::to_string(lost.to.value) + " (" +
         lost.reason + ")";
}

/// Replays one log and settles its end.
class replay {
public:
  replay(segment_set& log, const record_codec& codec, const recovery_options& options,
         recovery_visitor& visitor, position durable, position ended, recovery_report& report)
      : log_{log}, codec_{codec}, options_{options}, visitor_{visitor}, report_{report},
        judge_{log, codec, durable, ended}, scanner_{log,
                                                     codec,
                                                     report.scan_from,
                                                     {.chunk_bytes = options.chunk_bytes,
                                                      .on_pad = [this](const record_header& pad) {
                                                        passed_pad(pad);
                                                      }}} {}

  result<void> run() {
    begin_batch();
    for (bool more = true; more;) {
      const auto went_on = step();
      if (!went_on)
        return tl::unexpected{went_on.error()};
      more = *went_on;
    }
    report_.end = scanner_.at();
    report_.durable_mark = judge_.durable();
    return survey_result();
  }

  /// Writes zeros over the torn tail and makes them durable.
  result<void> cut() {
    if (written_end_.value == 0)
      return {};
    report_.cut_from = report_.end;
    report_.cut_bytes = written_end_.value - report_.end.value;
    return log_.erase(report_.end, written_end_);
  }

private:
  /// One record, or a place without one. False at the end of the log.
  result<bool> step() {
    auto& record = batch_->records.emplace_back();
    const auto before = scanner_.at();
    const auto status = scanner_.next(record);
    judge_.learn(scanner_.durable());
    switch (status) {
    case scan_status::record:
      return took_record();
    case scan_status::damaged:
      return found_damaged(record);
    case scan_status::io_failed:
      return tl::unexpected{scanner_.failure()};
    case scan_status::invalid:
    case scan_status::end:
      break;
    }
    batch_->records.pop_back();
    if (auto flushed = flush(); !flushed)
      return tl::unexpected{flushed.error()};
    HANDFAST_ASSERT(scanner_.at() >= before);
    return settle_invalid(std::string{status == scan_status::end ? "the log ends too early"
                                                                 : name_of(scanner_.reason())});
  }

  /// A loss that was accepted at an earlier start stays told.
  void passed_pad(const record_header& pad) {
    if ((pad.flags & record_flags::accepted_loss) != 0 && !surveying())
      visitor_.on_lost({pad.at, pad.at + pad.stored_bytes(), "accepted earlier"});
  }

  result<bool> took_record() {
    ++report_.records;
    report_.last_epoch = std::max(report_.last_epoch, scanner_.header().epoch);
    if (scanner_.at().value - batch_->from.value < options_.batch_bytes)
      return true;
    return flush().map([] { return true; });
  }

  result<bool> found_damaged(log_record& record) {
    const auto& header = scanner_.header();
    const auto reason = scanner_.reason();
    if (reason == decode_status::bad_payload) {
      // A payload that was never synced is a torn tail, not damage.
      const auto durable = judge_.was_durable(header.at);
      if (!durable)
        return tl::unexpected{durable.error()};
      if (!*durable) {
        batch_->records.pop_back();
        scanner_.seek(header.at);
        if (auto flushed = flush(); !flushed)
          return tl::unexpected{flushed.error()};
        return settle_invalid(std::string{name_of(reason)});
      }
    }
    ++report_.quarantined;
    const bool whole = reason == decode_status::bad_payload;
    if (!surveying())
      visitor_.on_damaged({header.at, static_cast<std::uint32_t>(header.stored_bytes()), reason,
                           whole ? &record : nullptr});
    if (!whole)
      batch_->records.pop_back();
    return took_record();
  }

  /// No valid record stands at the scanner's place: lost records, or the end of the log?
  result<bool> settle_invalid(const std::string& reason) {
    const auto at = scanner_.at();
    const auto judged = judge_.judge(at);
    if (!judged)
      return tl::unexpected{judged.error()};
    if (!judged->corrupt) {
      written_end_ = judged->written_end;
      return false;
    }
    HANDFAST_ASSERT(judged->lost_to > at);
    const lost_range lost{at, judged->lost_to, judged->reason.empty() ? reason : judged->reason};
    report_.lost.push_back(lost);
    if (options_.accept_corruption) {
      if (auto bridged =
              log_.bridge(codec_, lost.from, lost.to, report_.last_epoch, options_.now_ms);
          !bridged)
        return tl::unexpected{bridged.error()};
      visitor_.on_lost(lost);
    }
    scanner_.seek(lost.to);
    begin_batch();
    return true;
  }

  /// After a loss that was not accepted only the extent of the damage is of interest.
  [[nodiscard]] bool surveying() const {
    return !report_.lost.empty() && !options_.accept_corruption;
  }

  result<void> survey_result() const {
    if (!surveying())
      return {};
    std::string detail = "records that were durable are lost, at positions ";
    for (std::size_t i = 0; i < std::min(report_.lost.size(), ranges_named_max); ++i)
      detail += (i == 0 ? "" : ", ") + text_of(report_.lost[i]);
    if (report_.lost.size() > ranges_named_max)
      detail += " and " + std::to_string(report_.lost.size() - ranges_named_max) + " more ranges";
    return fail(ec::corrupt,
                detail + "; nothing was changed. Restore a copy of the folder, or go on "
                         "without them: `handfast node --set store.accept_corruption=true`");
  }

  void begin_batch() {
    batch_ = std::make_shared<record_batch>();
    batch_->replay = true;
    batch_->from = scanner_.at();
    batch_->records.reserve(last_size_);
  }

  result<void> flush() {
    batch_->to = scanner_.at();
    report_.bytes += batch_->to.value - batch_->from.value;
    last_size_ = std::max(last_size_, batch_->records.size());
    if (!batch_->records.empty() && !surveying())
      if (auto taken = visitor_.on_batch(std::move(batch_)); !taken)
        return taken;
    begin_batch();
    return {};
  }

  segment_set& log_;
  const record_codec& codec_;
  const recovery_options& options_;
  recovery_visitor& visitor_;
  recovery_report& report_;
  tail_judge judge_;
  log_scanner scanner_;
  std::shared_ptr<record_batch> batch_;
  std::size_t last_size_ = 0;
  position written_end_;
};

/// The page cache may hold bytes that a crash of the process left unsynced: what is read must not
/// be lost later.
result<void> sync_tail(const segment_set& log) {
  const auto all = log.segments();
  for (std::size_t i = all.size() > 2 ? all.size() - 2 : 0; i < all.size(); ++i)
    if (auto synced = all[i]->sync(); !synced)
      return synced;
  return {};
}

/// Damaged files are set aside under a name that nobody reads, so that they neither count nor get
/// lost.
result<void> set_aside(file_system& disk, const std::vector<damaged_file>& files) {
  for (const auto& one : files)
    if (auto renamed = disk.rename(one.path, one.path + ".damaged"); !renamed)
      return renamed;
  return {};
}

/// What is known to be gone below the place where replay begins, so that the replay does not meet
/// it.
void list_losses_below(const segment_set& log, position from, std::vector<lost_range>& lost) {
  for (const auto* list : {&log.missing(), &log.cut()})
    for (const auto& one : *list)
      if (one.from < from)
        lost.push_back({one.from, std::min(one.to, from), one.reason});
}

/// Without a note and without any segment nothing tells a used store from one that was being made.
result<void> must_have_log(const segment_set& log, const store_paths& paths, bool accepted) {
  if (log.note_missing().empty() || !log.segments().empty() || !log.missing().empty() || accepted)
    return {};
  return fail(ec::corrupt,
              log.note_missing() + ", and " + paths.log() +
                  " holds no segment: whatever the store held, from position " +
                  std::to_string(log.begin().value) +
                  " on, is lost; nothing was changed. Restore a copy of the folder, or begin anew "
                  "with an empty log: `handfast node --set store.accept_corruption=true`");
}

/// Makes the runs that were set aside again; those that begin before the log does can't be.
result<void> remake_runs(const recovery_options& options, const segment_set& log,
                         std::uint64_t store_id, const run_catalog& runs, recovery_report& report) {
  for (const auto& [from, to] : runs.damaged_ranges) {
    if (to <= log.begin()) {
      report.gone_runs.push_back(
          {from, to, "the log begins only at " + std::to_string(log.begin().value)});
      continue;
    }
    auto made = options.remake_run(log, store_id, from, to, runs.end_of_next(to));
    if (!made)
      return made;
    ++report.remade_runs;
  }
  return {};
}

/// A checkpoint knows that more was durable than the segments can hold. Nobody can go on then: new
/// records would take the positions of lost ones.
result<void> must_hold(const segment_set& log, position durable) {
  auto end = log.begin();
  if (const auto all = log.segments(); !all.empty())
    end = std::max(end, all.back()->end());
  if (!log.missing().empty())
    end = std::max(end, log.missing().back().to);
  if (durable <= end)
    return {};
  return fail(ec::corrupt,
              "the log's segments end at position " + std::to_string(end.value) +
                  ", but everything up to " + std::to_string(durable.value) +
                  " was durable; nothing was changed. Restore a copy of the folder, or "
                  "move its checkpoints and runs away to go on with what the log "
                  "still holds");
}

/// Tells of the losses that the replay will not meet and, if all are accepted, puts segments into
/// the places of those that are missing.
result<void> take_stock_of_losses(segment_set& log, const record_codec& codec,
                                  const recovery_options& options, recovery_visitor& visitor,
                                  recovery_report& report) {
  list_losses_below(log, report.scan_from, report.lost);
  if (!options.accept_corruption)
    return {};
  for (const auto& lost : report.lost)
    visitor.on_lost(lost);
  for (const auto& gap : log.missing())
    if (gap.to > report.scan_from)
      report.lost.push_back({std::max(gap.from, report.scan_from), gap.to, gap.reason});
  return log.fill_missing(codec, options.now_ms);
}

/// Loads what the log is not needed for, and says from where it is.
result<position> load_derived(file_system& disk, const recovery_options& options,
                              recovery_visitor& visitor, recovered_store& store) {
  const auto& paths = store.directory.paths();
  const auto store_id = store.directory.identity().store_id;
  auto& report = store.report;
  const auto loaded = load_newest_checkpoint(disk, paths.checkpoints(), store_id);
  if (!loaded)
    return tl::unexpected{loaded.error()};
  auto runs = open_runs(disk, paths.runs(), store_id);
  if (!runs)
    return tl::unexpected{runs.error()};
  store.runs = std::move(*runs);
  report.damaged_files = loaded->damaged;
  report.damaged_files.insert(report.damaged_files.end(), store.runs.damaged.begin(),
                              store.runs.damaged.end());
  store.oldest_checkpoint_start = loaded->oldest_start;
  report.scan_from = store.log->begin();
  const auto* noted = store.log->noted();
  auto durable = noted ? noted->durable : position{};
  if (!loaded->newest)
    return durable;
  durable = std::max(durable, loaded->newest->info.durable);
  if (auto held = must_hold(*store.log, durable); !held)
    return tl::unexpected{held.error()};
  if (options.ignore_checkpoints)
    return durable;
  report.checkpoint_start = loaded->newest->info.start;
  report.checkpoint_generation = loaded->newest->info.generation;
  const auto first = report.scan_from + segment_header_bytes;
  report.scan_from = options.remake_run
                         ? store.runs.first_unnamed(first, report.checkpoint_start)
                         : store.runs.first_uncovered(first, report.checkpoint_start);
  return visitor.on_checkpoint(*loaded->newest).map([&] { return durable; });
}

/// What is damaged goes aside, runs are made again, and the log is ready for more.
result<void> put_in_order(file_system& disk, const recovery_options& options,
                          recovered_store& store) {
  auto& report = store.report;
  if (auto done = set_aside(disk, report.damaged_files); !done)
    return done;
  const auto store_id = store.directory.identity().store_id;
  if (options.remake_run && !store.runs.damaged.empty()) {
    if (auto made = remake_runs(options, *store.log, store_id, store.runs, report); !made)
      return made;
    auto runs = open_runs(disk, store.directory.paths().runs(), store_id);
    if (!runs)
      return tl::unexpected{runs.error()};
    store.runs = std::move(*runs);
  }
  // Room for the first records, so that serving does not begin with making files.
  if (auto ensured = store.log->ensure(report.end + segment_header_bytes + record_header_bytes);
      !ensured && (report.created || ensured.error().code != ec::disk_full))
    return ensured;
  if (const auto holder = store.log->find(report.end))
    report.end = std::max(report.end, holder->first());
  store.log->set_tail(report.end);
  return store.log->settle(report.end, report.last_epoch + 1);
}

} // namespace

result<recovered_store> recover(file_system& disk, const std::string& root,
                                const recovery_options& options, recovery_visitor& visitor) {
  const auto now = [&] { return options.clock ? options.clock() : std::chrono::nanoseconds{0}; };
  const auto begun = now();
  recovered_store store;
  auto& report = store.report;

  auto directory = store_directory::open(disk, root, options.new_store_id, options.now_ms);
  if (!directory)
    return tl::unexpected{directory.error()};
  store.directory = std::move(*directory);
  const auto& paths = store.directory.paths();
  const auto store_id = store.directory.identity().store_id;
  const record_codec codec{store_id};
  report.created = store.directory.created();

  auto log = segment_set::open(disk, paths.log(), store_id, options.segments,
                               paths.log_note(options.segments.shard));
  if (!log)
    return tl::unexpected{log.error()};
  store.log = std::move(*log);
  report.note_missing = store.log->note_missing();
  if (auto there = must_have_log(*store.log, paths, options.accept_corruption); !there)
    return tl::unexpected{there.error()};
  if (auto synced = sync_tail(*store.log); !synced)
    return tl::unexpected{synced.error()};
  const auto durable = load_derived(disk, options, visitor, store);
  if (!durable)
    return tl::unexpected{durable.error()};
  if (auto told = take_stock_of_losses(*store.log, codec, options, visitor, report); !told)
    return tl::unexpected{told.error()};
  const auto opened = now();
  report.opening = opened - begun;

  const auto* noted = store.log->noted();
  const auto ended = noted && noted->ended ? noted->durable : position{};
  report.last_epoch = noted ? noted->epoch : 0;
  replay work{*store.log, codec, options, visitor, *durable, ended, report};
  if (auto ran = work.run(); !ran)
    return tl::unexpected{ran.error()};
  const auto replayed = now();
  report.replaying = replayed - opened;

  auto done = work.cut().and_then([&] { return put_in_order(disk, options, store); });
  if (!done)
    return tl::unexpected{done.error()};
  report.cutting = now() - replayed;
  return store;
}

} // namespace handfast::storage
