#include "messages/names.hpp"
#include "runtime/cli/command_table.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/record_view.hpp"
#include "runtime/cli/table.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/values.hpp"
#include "storage/log_format.hpp"
#include "storage/posix_file_system.hpp"
#include "storage/verify_log.hpp"

#include <iomanip>
#include <limits>
#include <ostream>

namespace handfast::cli {

namespace {

constexpr auto any_number = std::numeric_limits<std::int64_t>::max();

/// The error of a storage call names the folder by itself.
exit_code complain_about(context& with, const std::string& dir, const error& why) {
  if (why.code != ec::not_our_directory)
    return complain(with.io, "", why);
  auto there = storage::posix_file_system{}.exists(dir);
  complain(with.io,
           there && *there ? "there is no store in " + printable(dir)
                           : "there is no folder " + printable(dir),
           "Name the data folder of a node: what it was given as --data, or ./handfast-data");
  return exit_refused;
}

// -- log verify --------------------------------------------------------------

json json_of_ranges(const std::vector<storage::lost_range>& ranges) {
  auto list = json::array();
  for (const auto& range : ranges)
    list.push_back({{"from", range.from.value}, {"to", range.to.value}, {"reason", range.reason}});
  return list;
}

json report_json(const storage::verify_report& report) {
  json value{{"sound", report.sound()},     {"begin", report.begin.value},
             {"end", report.end.value},     {"durable_mark", report.durable_mark.value},
             {"segments", report.segments}, {"records", report.records},
             {"bytes", report.bytes},       {"checkpoints", report.checkpoints},
             {"runs", report.runs},         {"torn_bytes", report.torn_bytes}};
  auto damaged = json::array();
  for (const auto& record : report.damaged)
    damaged.push_back({{"position", record.at.value},
                       {"bytes", record.length},
                       {"reason", storage::name_of(record.reason)}});
  value["damaged"] = std::move(damaged);
  auto impossible = json::array();
  for (const auto& record : report.impossible)
    impossible.push_back({{"position", record.at.value}, {"reason", record.what}});
  value["impossible"] = std::move(impossible);
  value["lost"] = json_of_ranges(report.lost);
  value["accepted"] = json_of_ranges(report.accepted);
  auto files = json::array();
  for (const auto& file : report.damaged_files)
    files.push_back({{"path", file.path}, {"reason", file.reason}});
  value["damaged_files"] = std::move(files);
  return value;
}

struct verify_given {
  std::string dir;
  bool json = false;
};

exit_code verify(context& with, const verify_given& what) {
  storage::posix_file_system disk;
  auto report = storage::verify_log(disk, what.dir);
  if (!report)
    return complain_about(with, what.dir, report.error());
  if (what.json)
    with.io.out << page_of(report_json(*report)) << '\n';
  else
    with.io.out << report->text();
  if (!flush(with.io) || !report->sound())
    return exit_refused;
  return exit_done;
}

// -- log dump ----------------------------------------------------------------

struct dump_given {
  std::string dir;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t max = any_number;
  std::string type;
  bool bodies = false;
  bool json = false;
};

void print(std::ostream& to, const dump_given& what, const log_record& record,
           std::string_view damage, const known_names& names) {
  if (what.json) {
    auto value = json_of(record, what.bodies, names);
    if (!damage.empty())
      value["damage"] = damage;
    to << line_of(value) << '\n';
    return;
  }
  constexpr int position_width = 10;
  constexpr int type_width = 8;
  constexpr int bytes_width = 8;
  to << std::right << std::setw(position_width) << record.at.value << "  "
     << time_text(record.time_ms) << "  " << std::left << std::setw(type_width)
     << type_text(record.type) << std::right << std::setw(bytes_width) << bytes_text(record.length)
     << "  ";
  if (!damage.empty())
    to << "DAMAGED (" << damage << ")  ";
  to << summary_of(record, names) << '\n';
}

/// Where no record stands: the end, unless bytes of records follow, which `log verify` tells.
exit_code end_of_dump(context& with, const storage::log_scanner& scanner,
                      storage::scan_status how) {
  if (!flush(with.io))
    return exit_refused;
  if (how == storage::scan_status::io_failed)
    return complain(with.io, "position " + std::to_string(scanner.at().value), scanner.failure());
  if (how == storage::scan_status::invalid)
    with.io.err << "ended at position " << scanner.at().value << ", where no record stands ("
                << storage::name_of(scanner.reason())
                << "): the log's end, or damage; `handfast log verify` tells" << std::endl;
  return exit_done;
}

/// A wrong `--from` shall not look like the end of the log.
exit_code refuse_start(context& with, std::uint64_t from) {
  complain(with.io, "no record begins at position " + std::to_string(from),
           "Give --from a position that `log dump` prints, or leave it out");
  return exit_refused;
}

exit_code dump_records(context& with, const dump_given& what, const storage::segment_set& log,
                       const storage::record_codec& codec) {
  auto from = std::max(log.begin(), position{what.from});
  if (from.value % storage::record_alignment != 0)
    return refuse_start(with, what.from);
  storage::log_scanner scanner{log, codec, from, {.to = position{what.to}}};
  log_record record;
  known_names names;
  auto any = false;
  for (std::uint64_t printed = 0; with.io.out.good();) {
    auto found = scanner.next(record);
    if (what.from != 0 && !any &&
        (found == storage::scan_status::invalid || found == storage::scan_status::end))
      return refuse_start(with, what.from);
    any = true;
    if (found != storage::scan_status::record && found != storage::scan_status::damaged)
      return end_of_dump(with, scanner, found);
    std::string_view damage;
    if (found == storage::scan_status::damaged) {
      damage = storage::name_of(scanner.reason());
      if (scanner.reason() != storage::decode_status::bad_payload) {
        const auto& header = scanner.header();
        record = {};
        record.type = header.type;
        record.at = header.at;
        record.length = static_cast<std::uint32_t>(header.stored_bytes());
        record.epoch = header.epoch;
        record.time_ms = header.time_ms;
        record.content = pad_record{};
      }
    }
    names.learn(record);
    if (!what.type.empty() && type_text(record.type) != what.type)
      continue;
    if (printed == what.max) {
      with.io.err << "ended after " << counted(printed, "record") << "; --from " << record.at.value
                  << " goes on" << std::endl;
      break;
    }
    print(with.io.out, what, record, damage, names);
    ++printed;
  }
  return flush(with.io) ? exit_done : exit_refused;
}

exit_code dump(context& with, const dump_given& what) {
  if (what.to != 0 && what.to <= what.from) {
    complain(with.io, "--to " + std::to_string(what.to) + " does not lie behind --from",
             "Nothing stands between them");
    return exit_usage;
  }
  storage::posix_file_system disk;
  auto identity = storage::store_directory::inspect(disk, what.dir);
  if (!identity)
    return complain_about(with, what.dir, identity.error());
  storage::store_paths paths{what.dir};
  auto log = storage::segment_set::open_read_only(disk, paths.log(), identity->store_id, 0);
  if (!log)
    return complain_about(with, what.dir, log.error());
  return dump_records(with, what, **log, storage::record_codec{identity->store_id});
}

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (auto type : {record_type::message, record_type::half, record_type::decide,
                    record_type::checked, record_type::release, record_type::reopen,
                    record_type::move, record_type::progress, record_type::meta, record_type::epoch,
                    record_type::mark, record_type::dead_letter, record_type::retire})
    names.push_back(type_text(type));
  return names;
}

void add_dump(menu& log) {
  auto what = std::make_shared<dump_given>();
  auto& app = log.add({"dump", "Print the records of a data folder, one a line",
                       "handfast log dump ./handfast-data --type decide --max 10\n"
                       "  handfast log dump ./handfast-data --from 4160 | less"},
                      [what](context& with) { return dump(with, *what); });
  app.add_option("DIR", what->dir, "The data folder, only read; a node may be using it")
      ->required();
  app.add_option("--from", what->from, "Begin at this position, where a record must stand")
      ->check(whole_number(0, any_number))
      ->type_name("POSITION");
  app.add_option("--to", what->to, "End before this position")
      ->check(whole_number(0, any_number))
      ->type_name("POSITION");
  app.add_option("--max", what->max, "At most N records")
      ->check(whole_number(1, any_number))
      ->type_name("N");
  app.add_option("--type", what->type, "Only records of this type, such as half or decide")
      ->check(one_of(type_names()))
      ->type_name("TYPE");
  app.add_flag("--bodies", what->bodies, "With --json: print whole bodies, too");
  add_json_flag(app, what->json, "each record as one JSON object a line");
}

} // namespace

void add_log_commands(menu& to) {
  auto log = to.group("log", "Check and read a data folder, without a node");
  auto what = std::make_shared<verify_given>();
  auto& app = log.add({"verify", "Read everything in a data folder and say what is damaged",
                       "handfast log verify ./handfast-data"},
                      [what](context& with) { return verify(with, *what); });
  app.add_option("DIR", what->dir,
                 "The data folder; stop its node first, or its tail may look torn")
      ->required();
  add_json_flag(app, what->json, "the report as a JSON object");
  add_dump(log);
}

} // namespace handfast::cli
