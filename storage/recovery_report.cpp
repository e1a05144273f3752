#include "storage/recovery.hpp"

#include <cstdio>

namespace handfast::storage {

namespace {

std::string milliseconds(std::chrono::nanoseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f ms", static_cast<double>(time.count()) / 1e6);
  return text;
}

std::string plural(std::uint64_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

} // namespace

std::string recovery_report::text() const {
  if (created)
    return "Made a new store in " + milliseconds(opening + replaying + cutting) + ".";
  std::string all =
      checkpoint_start.value != 0
          ? "Loaded checkpoint " + std::to_string(checkpoint_generation) + " and replayed "
          : std::string{"Found no usable checkpoint and replayed "};
  all += plural(records, "record") + " (" + plural(bytes, "byte") + ", positions " +
         std::to_string(scan_from.value) + " to " + std::to_string(end.value) + ") in " +
         milliseconds(replaying) + " after " + milliseconds(opening) + " of opening.";
  if (cut_from.value != 0)
    all += " Cut a torn tail of " + plural(cut_bytes, "byte") + " at " +
           std::to_string(cut_from.value) + ": it was never acknowledged as durable.";
  else
    all += " The log ended cleanly.";
  if (checkpoint_start.value != 0 && scan_from < checkpoint_start)
    all += " Replay began before the checkpoint's start " + std::to_string(checkpoint_start.value) +
           ", since index files are missing or damaged.";
  if (quarantined != 0)
    all += " " + plural(quarantined, "record") +
           " with damaged content put in quarantine: listed, never delivered.";
  for (const auto& one : lost)
    all += " LOST, as accepted: positions " + std::to_string(one.from.value) + " to " +
           std::to_string(one.to.value) + " (" + one.reason + ").";
  for (const auto& one : damaged_files)
    all += " Set aside: " + one.reason + ".";
  if (remade_runs != 0)
    all += " Made " + plural(remade_runs, "derived run") + " again from the log.";
  for (const auto& one : gone_runs)
    all += " NOT made again: the derived run of positions " + std::to_string(one.from.value) +
           " to " + std::to_string(one.to.value) + ": " + one.reason + ".";
  if (!note_missing.empty())
    all += " " + note_missing +
           ", so nothing told which segments the log must have; it is made "
           "again from those that are there.";
  return all;
}

} // namespace handfast::storage
