#include "messages/names.hpp"
#include "runtime/cli/command_table.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/progress.hpp"
#include "runtime/cli/table.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/values.hpp"
#include "storage/posix_file_system.hpp"
#include "storage/store_copy.hpp"
#include "storage/verify_log.hpp"

#include <algorithm>
#include <filesystem>
#include <ostream>

namespace handfast::cli {

namespace {

struct given {
  std::string data = "./handfast-data";
  std::string backup;
  bool json = false;
};

exit_code no_store_in(context& with, const std::string& folder, const std::string& todo) {
  complain(with.io, "there is no store in " + printable(folder), todo);
  return exit_refused;
}

exit_code complain_about_copy(context& with, const std::string& from, const error& why) {
  if (why.code == ec::directory_in_use) {
    complain(with.io, "another backup of " + printable(from) + " is being made",
             "Wait until it has ended");
    return exit_refused;
  }
  if (why.code != ec::not_our_directory)
    return complain(with.io, "", why);
  complain(with.io, why.detail, "Name a folder that does not exist yet, or an empty one");
  return exit_refused;
}

void complain_about_damage(console& io, const std::string& what,
                           const storage::verify_report& report, const std::string& todo) {
  io.err << report.text();
  complain(io, what, todo);
}

/// Whether `path` lies in `folder`, which exists, or is the same.
bool lies_in(const std::string& path, const std::string& folder) {
  std::error_code none;
  const auto inner = std::filesystem::weakly_canonical(path, none);
  const auto outer = std::filesystem::weakly_canonical(folder, none);
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

/// Copies and reads the copy again, whole. Says what was done; damage is told, not hidden.
exit_code copy_and_verify(context& with, const std::string& from, const std::string& to,
                          const std::string& done_word, bool as_json) {
  storage::posix_file_system disk;
  auto shown = std::optional<progress>{};
  const auto copied =
      storage::copy_store(disk, from, to, [&](std::uint64_t done, std::uint64_t all) {
        if (!shown)
          shown.emplace(with.io, "copying, in KiB,", all / limits::kib);
        shown->at(done / limits::kib);
      });
  shown.reset();
  if (!copied)
    return complain_about_copy(with, from, copied.error());
  const auto report = storage::verify_log(disk, to);
  if (!report)
    return complain(with.io, "", report.error());
  if (as_json)
    with.io.out << line_of({{"from", from},
                            {"to", to},
                            {"end", copied->end.value},
                            {"segments", copied->segments},
                            {"checkpoints", copied->checkpoints},
                            {"runs", copied->runs},
                            {"bytes", copied->bytes},
                            {"records", report->records},
                            {"sound", report->sound()}})
                << '\n';
  else
    with.io.out << done_word << ' ' << printable(from) << " to " << printable(to) << ": "
                << counted(report->records, "record") << " in "
                << counted(copied->segments, "segment") << ", positions up to " << copied->end.value
                << ", " << counted(copied->checkpoints, "checkpoint") << ", "
                << counted(copied->runs, "derived run") << ", " << bytes_text(copied->bytes)
                << (report->sound() ? "; read again, sound" : "") << '\n';
  if (!report->sound())
    complain_about_damage(
        with.io, "the copy has the damage that is in " + printable(from), *report,
        "Keep older backups too: `handfast log verify` tells which of them are sound");
  return flush(with.io) && report->sound() ? exit_done : exit_refused;
}

exit_code backup(context& with, const given& what) {
  storage::posix_file_system disk;
  const auto store = storage::store_directory::inspect(disk, what.data);
  if (!store && store.error().code == ec::not_our_directory)
    return no_store_in(with, what.data,
                       "Name the data folder of a node with --data: what it was given as --data");
  if (lies_in(what.backup, what.data)) {
    complain(with.io, "the backup would lie in the data folder " + printable(what.data),
             "Name a folder elsewhere, best on another disk");
    return exit_refused;
  }
  return copy_and_verify(with, what.data, what.backup, "backed up", what.json);
}

exit_code restore(context& with, const given& what) {
  storage::posix_file_system disk;
  const auto report = storage::verify_log(disk, what.backup);
  if (!report && report.error().code == ec::not_our_directory)
    return no_store_in(with, what.backup,
                       "Name a folder that `handfast backup` made, and whose backup had ended");
  if (!report)
    return complain(with.io, "", report.error());
  if (!report->whole()) {
    complain_about_damage(with.io, "the backup " + printable(what.backup) + " is damaged", *report,
                          "Take another one; nothing was restored");
    return exit_refused;
  }
  const auto code = copy_and_verify(with, what.backup, what.data, "restored", what.json);
  if (code == exit_done && !what.json)
    with.io.out << "start it with: handfast node --data " << what.data << std::endl;
  return code;
}

} // namespace

void add_backup_commands(menu& to) {
  auto saved = std::make_shared<given>();
  auto& backup_app =
      to.add({"backup", "Copy the store of a node that may be running, as of one moment",
              "handfast backup /var/backups/handfast-monday --data ./handfast-data"},
             [saved](context& with) { return backup(with, *saved); });
  backup_app.add_option("TO", saved->backup, "The folder to make; missing or empty")->required();
  backup_app.add_option("--data", saved->data, "The node's data folder")
      ->type_name("DIR")
      ->capture_default_str();
  add_json_flag(backup_app, saved->json, "what was done as a JSON object");

  auto brought = std::make_shared<given>();
  auto& restore_app =
      to.add({"restore", "Make a data folder of a backup",
              "handfast restore /var/backups/handfast-monday --data ./handfast-data"},
             [brought](context& with) { return restore(with, *brought); });
  restore_app.add_option("FROM", brought->backup, "The folder that `backup` made")->required();
  restore_app.add_option("--data", brought->data, "The data folder to make; missing or empty")
      ->type_name("DIR")
      ->capture_default_str();
  add_json_flag(restore_app, brought->json, "what was done as a JSON object");
}

} // namespace handfast::cli
