#include "actors/log_reader.hpp"

#include "actors/record_heads.hpp"
#include "actors/type_ids.hpp"
#include "messages/assert.hpp"
#include "storage/checkpoint_file.hpp"
#include "storage/record_reader.hpp"

#include <caf/actor_cast.hpp>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace handfast {

namespace {

constexpr std::size_t replay_bytes = 1 * limits::mib;
constexpr std::size_t index_entries_max = 1'024;
constexpr std::size_t outcomes_max = 1'000;

} // namespace

void log_reader_state::start(log_reader_start from) {
  HANDFAST_ASSERT(from.disk && from.log && from.codec);
  from_ = std::move(from);
  list_set_aside();
  refresh_runs();
}

void log_reader_state::on_peers(const peers_changed& x) {
  peers_ = x.peers;
  if (!damaged_.empty())
    begin_repair();
}

void log_reader_state::on_stop() {
  if (peers_)
    self_->send(peers_->supervisor.actor, stopped{name, {}});
}

void log_reader_state::refresh_runs() {
  auto opened = storage::open_runs(*from_.disk, from_.paths.runs(), from_.store_id, true);
  if (!opened) {
    spdlog::error("can't open the derived runs: {}", to_string(opened.error()));
    return;
  }
  runs_ = std::move(*opened);
  next_ends_.clear();
  for (const auto& run : runs_.runs)
    next_ends_.push_back(runs_.end_of_next(run->info().to));
  for (std::size_t i = 0; i < runs_.damaged.size(); ++i)
    if (!hopeless_.contains(runs_.damaged_ranges[i]))
      damaged_.try_emplace(runs_.damaged_ranges[i], runs_.damaged[i].reason);
}

void log_reader_state::on_checkpoint_made(const checkpoint_made& x) {
  if (x.why.code != ec::ok)
    return;
  hopeless_.clear();
  refresh_runs();
  if (!damaged_.empty())
    begin_repair();
}

slices_loaded log_reader_state::load(const load_slices& x) const {
  ++questions_;
  slices_loaded answer;
  answer.id = x.id;
  answer.replay_from = from_.log->begin();
  auto loaded =
      storage::load_newest_checkpoint(*from_.disk, from_.paths.checkpoints(), from_.store_id);
  if (!loaded) {
    answer.code = loaded.error().code;
    return answer;
  }
  if (!loaded->newest)
    return answer;
  // Entries and outcomes below the checkpoint must be in runs; where they are not, the replay
  // begins before.
  answer.replay_from = runs_.first_uncovered(from_.log->begin() + storage::segment_header_bytes,
                                             loaded->newest->info.start);
  for (const auto& slice : loaded->newest->slices)
    if (slice.name.starts_with(x.prefix))
      answer.slices.push_back({slice.name, std::string{slice.bytes.text()}});
  return answer;
}

log_replayed log_reader_state::replay(const replay_log& x) const {
  ++questions_;
  log_replayed answer;
  answer.id = x.id;
  answer.next = x.to;
  if (x.from >= x.to)
    return answer;
  storage::log_scanner scanner{*from_.log, *from_.codec, x.from, {replay_bytes, x.to}};
  auto batch = std::make_shared<record_batch>();
  batch->from = x.from;
  batch->replay = true;
  answer.code = read_stretch(scanner, *batch, answer.damaged);
  answer.next = scanner.at();
  if (answer.code == ec::ok && batch->records.empty())
    answer.next = x.to;
  batch->to = answer.next;
  records_ += batch->records.size();
  answer.batch = std::move(batch);
  return answer;
}

/// Fills `batch` with about 1 MiB of records. What is unreadable is an error only where nothing
/// stands before it, so that all that can be folded is folded first.
ec log_reader_state::read_stretch(storage::log_scanner& scanner, record_batch& batch,
                                  std::vector<position>& damaged) {
  while (scanner.at().value - batch.from.value < replay_bytes || batch.records.empty()) {
    const auto before = scanner.at();
    auto& record = batch.records.emplace_back();
    const auto status = scanner.next(record);
    if (status == storage::scan_status::record)
      continue;
    if (status == storage::scan_status::damaged &&
        scanner.reason() == storage::decode_status::bad_payload) {
      damaged.push_back(record.at);
      continue;
    }
    batch.records.pop_back();
    if (status == storage::scan_status::damaged)
      continue; // makes no sense to this version: listed by recovery
    if (status == storage::scan_status::end)
      break;
    if (batch.records.empty())
      return status == storage::scan_status::invalid ? ec::corrupt : ec::io_error;
    scanner.seek(before);
    break;
  }
  return ec::ok;
}

records_read log_reader_state::read(const read_records& x) const {
  ++questions_;
  records_read answer;
  answer.id = x.id;
  answer.records.resize(x.places.size());
  // In order of position, which is how the disk likes it.
  std::vector<std::size_t> order(x.places.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return x.places[a].at < x.places[b].at; });
  const storage::record_reader reader{*from_.log, *from_.codec};
  for (const auto i : order) {
    auto record = reader.read(x.places[i].at, x.places[i].length);
    if (record)
      answer.records[i].record = std::move(*record);
    else
      answer.records[i].code = record.error().code;
  }
  records_ += x.places.size();
  return answer;
}

heads_read log_reader_state::heads(const read_heads& x) const {
  auto whole = read({x.id, x.places});
  heads_read answer{x.id, {}};
  answer.heads.reserve(whole.records.size());
  for (const auto& r : whole.records) {
    auto& head = answer.heads.emplace_back();
    if (r.code == ec::ok)
      head = head_of(r.record);
    else
      head.code = r.code;
  }
  return answer;
}

entries_fetched log_reader_state::index(const read_index& x) {
  ++questions_;
  entries_fetched answer;
  answer.id = x.id;
  answer.queue = x.queue;
  answer.first = answer.end = x.from;
  for (const auto& run : runs_.runs) {
    const auto room = index_entries_max - answer.entries.size();
    if (room == 0 || answer.end >= x.to)
      break;
    auto found = run->find_entries(x.queue, answer.end, x.to, room);
    if (!found) {
      answer.code = found.error().code;
      note_damaged(*run, found.error());
      break;
    }
    if (found->found.empty())
      continue;
    if (answer.entries.empty())
      answer.first = found->first;
    else if (found->first != answer.end)
      break; // a stretch is missing: what is dense so far is all that can be said
    answer.end = found->first;
    for (const auto& e : found->found) {
      answer.entries.push_back({e.at, e.length, e.tag_hash, answer.end, e.visible_ms});
      ++answer.end.value;
    }
  }
  return answer;
}

/// Runs are in the order of decisions. A run also holds what was decided while its checkpoint was
/// being made, so transactions that were opened behind its own end; all of them were opened before
/// the next checkpoint began, which is where the run that goes on behind it ends.
result<std::optional<storage::stored_outcome>> log_reader_state::outcome_of(position transaction) {
  std::optional<storage::stored_outcome> newest;
  for (std::size_t i = 0; i < runs_.runs.size(); ++i) {
    const auto& run = runs_.runs[i];
    if (next_ends_[i] != run->info().to && next_ends_[i] <= transaction)
      continue;
    auto found = run->find_outcome(transaction);
    if (!found) {
      note_damaged(*run, found.error());
      return tl::unexpected{found.error()};
    }
    if (*found)
      newest = **found;
    // Only a given-up one can change later: when it is opened again.
    if (newest && newest->result != outcome::given_up)
      break;
  }
  return newest;
}

outcomes_found log_reader_state::outcomes(const find_outcomes& x) {
  ++questions_;
  outcomes_found answer;
  answer.id = x.id;
  for (const auto transaction : x.transactions) {
    auto& o = answer.outcomes.emplace_back();
    o.transaction = transaction;
    auto found = outcome_of(transaction);
    if (!found) {
      answer.code = found.error().code;
    } else if (*found) {
      const auto& f = **found;
      o.result = f.result;
      o.by = f.by;
      o.group = f.group;
      o.messages = f.messages;
      o.decided_at = f.decided_at;
      o.decided_ms = f.time_ms;
      o.reopened_as = f.reopened_as;
    }
  }
  return answer;
}

status_report log_reader_state::status() const {
  status_report report;
  report.actor = name;
  report.quarantined = listed_;
  report.samples = {
      {"handfast_log_reader_questions_total", "", static_cast<double>(questions_)},
      {"handfast_log_reader_records_total", "", static_cast<double>(records_)},
      {"handfast_derived_runs", "", static_cast<double>(runs_.runs.size())},
      {"handfast_derived_runs_damaged", "", static_cast<double>(damaged_.size())},
      {"handfast_derived_runs_remade_total", "", static_cast<double>(remade_)},
  };
  return report;
}

log_reader_actor::behavior_type log_reader(log_reader_pointer self,
                                           std::shared_ptr<log_reader_start> from) {
  auto& s = self->state;
  s.start(std::move(*from));
  const auto answer = [self, &s](auto what) {
    if (const auto& asker = self->current_sender())
      s.answer_to(asker, std::move(what));
  };
  return {
      [&s](const peers_changed& x) { s.on_peers(x); },
      [&s](const stop&) { s.on_stop(); },
      [&s](const status_request&) { return s.status(); },
      [&s, answer](const load_slices& x) { answer(s.load(x)); },
      [&s, answer](const replay_log& x) { answer(s.replay(x)); },
      [&s, answer](const read_records& x) { answer(s.read(x)); },
      [&s, answer](const read_heads& x) { answer(s.heads(x)); },
      [&s](const read_index& x) { s.on_read_index(x); },
      [&s](const find_outcomes& x) { s.on_find_outcomes(x); },
      [&s](const read_view& x) { s.on_read_view(x); },
      [&s](const checkpoint_made& x) { s.on_checkpoint_made(x); },
  };
}

} // namespace handfast
