#include "storage/verify_log.hpp"

#include "storage/checkpoint_format.hpp"
#include "storage/tail_search.hpp"

namespace handfast::storage {

namespace {

/// Takes the report of one file: counts it, names it as damaged, or gives up.
template <class T>
result<void> count(const result<T>& checked, const std::string& path, std::uint64_t& valid,
                   verify_report& report) {
  if (checked)
    ++valid;
  else if (checked.error().code == ec::corrupt)
    report.damaged_files.push_back({path, checked.error().detail});
  else
    return tl::unexpected{checked.error()};
  return {};
}

result<position> verify_checkpoints(file_system& disk, const std::string& directory,
                                    verify_report& report) {
  const auto generations = checkpoint_format::list_generations(disk, directory);
  if (!generations)
    return tl::unexpected{generations.error()};
  position durable;
  for (const auto generation : *generations) {
    const auto path = directory + "/" + checkpoint_format::name_of(generation);
    const auto loaded = load_checkpoint(disk, path, report.identity.store_id);
    if (loaded)
      durable = std::max(durable, loaded->info.durable);
    if (auto counted = count(loaded, path, report.checkpoints, report); !counted)
      return tl::unexpected{counted.error()};
  }
  return durable;
}

result<void> verify_runs(file_system& disk, const std::string& directory, verify_report& report) {
  const auto catalog = open_runs(disk, directory, report.identity.store_id, true);
  if (!catalog)
    return tl::unexpected{catalog.error()};
  report.damaged_files.insert(report.damaged_files.end(), catalog->damaged.begin(),
                              catalog->damaged.end());
  for (const auto& run : catalog->runs)
    if (auto counted = count(run->verify(), run->path(), report.runs, report); !counted)
      return counted;
  return {};
}

/// Reads every record of a log.
class log_check {
public:
  log_check(const segment_set& log, const record_codec& codec, position durable,
            verify_report& report)
      : report_{report}, judge_{log, codec, durable}, rules_{log.begin()},
        scanner_{
            log, codec, log.begin(), {.on_pad = [this](const record_header& pad) {
              if ((pad.flags & record_flags::accepted_loss) == 0)
                return;
              report_.accepted.push_back({pad.at, pad.at + pad.stored_bytes(), "accepted earlier"});
              rules_.pass_over(pad.at, pad.at + pad.stored_bytes());
            }}} {}

  result<void> run() {
    report_.begin = scanner_.at();
    log_record record;
    for (bool more = true; more;) {
      const auto went_on = step(record);
      if (!went_on)
        return tl::unexpected{went_on.error()};
      more = *went_on;
    }
    report_.end = scanner_.at();
    report_.bytes = report_.end.value - report_.begin.value;
    report_.durable_mark = judge_.durable();
    report_.impossible = rules_.found();
    report_.impossible_not_listed = rules_.not_listed();
    return {};
  }

private:
  result<bool> step(log_record& record) {
    const auto status = scanner_.next(record);
    judge_.learn(scanner_.durable());
    switch (status) {
    case scan_status::record:
      ++report_.records;
      rules_.check(scanner_.header(), record);
      return true;
    case scan_status::damaged:
      return found_damaged(record);
    case scan_status::io_failed:
      return tl::unexpected{scanner_.failure()};
    case scan_status::invalid:
      return settle_invalid(std::string{name_of(scanner_.reason())});
    case scan_status::end:
      return settle_invalid("the log ends too early");
    }
    return false;
  }

  result<bool> found_damaged(const log_record& record) {
    const auto& header = scanner_.header();
    const auto reason = scanner_.reason();
    const auto durable = judge_.was_durable(header.at);
    if (!durable)
      return tl::unexpected{durable.error()};
    if (reason == decode_status::bad_payload && !*durable) {
      scanner_.seek(header.at);
      return settle_invalid(std::string{name_of(reason)});
    }
    ++report_.records;
    if (reason == decode_status::bad_payload)
      rules_.check(header, record);
    else
      rules_.pass_over(header.at, header.at + header.stored_bytes());
    report_.damaged.push_back(
        {header.at, static_cast<std::uint32_t>(header.stored_bytes()), reason, nullptr});
    return true;
  }

  result<bool> settle_invalid(const std::string& reason) {
    const auto at = scanner_.at();
    return judge_.judge(at).map([&](const tail_judge::judgement& judged) {
      if (judged.corrupt) {
        report_.lost.push_back(
            {at, judged.lost_to, judged.reason.empty() ? reason : judged.reason});
        rules_.pass_over(at, judged.lost_to);
        scanner_.seek(judged.lost_to);
      } else if (judged.written_end.value != 0) {
        report_.torn_bytes = judged.written_end.value - at.value;
      }
      return judged.corrupt;
    });
  }

  verify_report& report_;
  tail_judge judge_;
  log_rules rules_;
  log_scanner scanner_;
};

} // namespace

result<verify_report> verify_log(file_system& disk, const std::string& root, std::uint8_t shard) {
  const store_paths paths{root};
  const auto identity = store_directory::inspect(disk, root);
  if (!identity)
    return tl::unexpected{identity.error()};
  verify_report report;
  report.identity = *identity;
  const auto durable = verify_checkpoints(disk, paths.checkpoints(), report);
  if (!durable)
    return tl::unexpected{durable.error()};
  if (auto checked = verify_runs(disk, paths.runs(), report); !checked)
    return tl::unexpected{checked.error()};
  const auto log = segment_set::open_read_only(disk, paths.log(), identity->store_id, shard,
                                               paths.log_note(shard));
  if (!log)
    return tl::unexpected{log.error()};
  report.segments = (*log)->segments().size();
  if (!(*log)->note_missing().empty())
    report.damaged_files.push_back(
        {paths.log_note(shard), (*log)->note_missing() +
                                    ": nothing tells which segments the log "
                                    "must have; the next start makes it again"});
  const record_codec codec{identity->store_id};
  const auto* noted = (*log)->noted();
  log_check check{**log, codec, noted ? std::max(*durable, noted->durable) : *durable, report};
  if (auto ran = check.run(); !ran)
    return tl::unexpected{ran.error()};
  for (const auto& cut : (*log)->cut())
    report.damaged_files.push_back({paths.log(), cut.reason});
  return report;
}

std::string verify_report::text() const {
  const auto range = [](const lost_range& one) {
    return std::to_string(one.from.value) + " to " + std::to_string(one.to.value) + " (" +
           one.reason + ")\n";
  };
  std::string all = std::to_string(records) + " records in " + std::to_string(segments) +
                    " segments, positions " + std::to_string(begin.value) + " to " +
                    std::to_string(end.value) + "; " + std::to_string(checkpoints) +
                    " checkpoints, " + std::to_string(runs) + " derived runs\n";
  for (const auto& one : lost)
    all += "LOST below the durable mark: " + range(one);
  for (const auto& one : damaged)
    all += "damaged record at " + std::to_string(one.at.value) + ", " + std::to_string(one.length) +
           " bytes: " + std::string{name_of(one.reason)} + "\n";
  for (const auto& one : impossible)
    all += "impossible record at " + std::to_string(one.at.value) + ": " + one.what + "\n";
  if (impossible_not_listed != 0)
    all += "and " + std::to_string(impossible_not_listed) + " more impossible records\n";
  for (const auto& one : damaged_files)
    all += "damaged file: " + one.reason + "\n";
  for (const auto& one : accepted)
    all += "loss accepted earlier: " + range(one);
  if (torn_bytes != 0)
    all += "torn tail of " + std::to_string(torn_bytes) + " bytes behind " +
           std::to_string(end.value) + ": the next start will cut it\n";
  return all + (sound() ? "sound\n" : "NOT sound\n");
}

} // namespace handfast::storage
