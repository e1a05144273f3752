// LOG READER, damaged derived runs: made again from the log, and listed.
#include "actors/log_reader.hpp"
#include "actors/run_remake.hpp"
#include "actors/type_ids.hpp"

#include <caf/actor_cast.hpp>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace handfast {

namespace {

constexpr std::chrono::seconds durable_patience{2};
constexpr std::size_t listed_max = 100;
constexpr std::string_view set_aside_suffix = ".run.damaged";

} // namespace

void log_reader_state::note_damaged(const storage::run_reader& run, const error& why) {
  spdlog::error("can't read a derived run: {}", to_string(why));
  const run_range range{run.info().from, run.info().to};
  if (why.code != ec::corrupt || hopeless_.contains(range))
    return;
  met_damage_ = true;
  damaged_.try_emplace(range, why.detail);
}

/// False if nobody can say how far the log is durable: then nothing can be made again yet.
bool log_reader_state::begin_repair() {
  if (repairing_)
    return true;
  if (!peers_)
    return false;
  repairing_ = true;
  self_->request(peers_->commit_log.actor, durable_patience, take_unsaved{})
      .then([this](const unsaved_taken& tail) { repair(tail.durable); },
            [this](const caf::error&) { end_repair(ec::recovering); });
  return true;
}

void log_reader_state::repair(position durable) {
  for (const auto& [range, why] : damaged_)
    repair_one(range, why, durable);
  damaged_.clear();
  refresh_runs();
  end_repair(ec::ok);
}

void log_reader_state::repair_one(run_range range, const std::string& why, position durable) {
  const auto [from, to] = range;
  const auto next = runs_.end_of_next(to);
  const auto directory = from_.paths.runs();
  const auto path = directory + "/" + storage::run_name(from, to);
  // Copied, not renamed: a checkpoint may look for this run meanwhile.
  if (auto kept = storage::keep_damaged_copy(*from_.disk, path); !kept)
    spdlog::warn("the bytes of a damaged run can't be kept: {}", to_string(kept.error()));
  const auto made = remake_run({*from_.disk, directory, from_.store_id, *from_.log, *from_.codec},
                               from, to, next == to ? durable : next);
  if (!made) {
    hopeless_.insert(range);
    list(from, why + ". It could NOT be made again from the log: " + to_string(made.error()));
    return;
  }
  ++remade_;
  auto text = why + ". It was set aside as " + path + ".damaged and made again from the log";
  for (const auto& gap : made->unread)
    text += "; NOT what positions " + std::to_string(gap.from.value) + " to " +
            std::to_string(gap.to.value) + " said: " + gap.why;
  list(from, text + ".");
}

void log_reader_state::end_repair(ec why) {
  repairing_ = false;
  for (const auto& again : std::exchange(held_, {}))
    again(why);
}

void log_reader_state::list(position at, std::string what) {
  spdlog::error("derived run: {}", what);
  if (listed_.size() < listed_max)
    listed_.push_back({at, "derived run", std::move(what), {}});
}

/// What earlier lives set aside stays listed until somebody removes the files.
void log_reader_state::list_set_aside() {
  const auto names = from_.disk->list(from_.paths.runs());
  if (!names)
    return; // made with the first run
  for (const auto& file : *names)
    if (file.ends_with(set_aside_suffix) && listed_.size() < listed_max)
      listed_.push_back({storage::run_begin(file).value_or(position{}),
                         "derived run",
                         from_.paths.runs() + "/" + file +
                             " was set aside because it was damaged; what it held was made again "
                             "from the log. Remove the file to end this line.",
                         {}});
}

} // namespace handfast
