#include "actors/log_reader.hpp"

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
  refresh_runs();
}

void log_reader_state::on_stop() {
  if (peers_)
    self_->send(peers_->supervisor.actor, stopped{name, {}});
}

void log_reader_state::refresh_runs() {
  auto opened = storage::open_runs(*from_.disk, from_.paths.runs(), from_.store_id, true);
  if (opened)
    runs_ = std::move(*opened);
  else
    spdlog::error("can't open the derived runs: {}", to_string(opened.error()));
}

void log_reader_state::on_checkpoint_made(const checkpoint_made& x) {
  if (x.why.code == ec::ok)
    refresh_runs();
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
    const auto* message = r.code == ec::ok ? message_of(r.record) : nullptr;
    if (!message) {
      head.code = r.code == ec::ok ? ec::corrupt : r.code;
      continue;
    }
    head.flags = message->flags;
    head.order_hash = message->order_hash;
    head.delay_ms = message->delay_ms;
    head.transaction = transaction_of(r.record);
    head.properties = message->properties();
  }
  return answer;
}

entries_fetched log_reader_state::index(const read_index& x) const {
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
      spdlog::error("can't read the index: {}", to_string(found.error()));
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
/// the next checkpoint began, which is where the next run ends.
result<std::optional<storage::stored_outcome>>
log_reader_state::outcome_of(position transaction) const {
  std::optional<storage::stored_outcome> newest;
  for (std::size_t i = 0; i < runs_.runs.size(); ++i) {
    if (i + 1 < runs_.runs.size() && runs_.runs[i + 1]->info().to <= transaction)
      continue;
    auto found = runs_.runs[i]->find_outcome(transaction);
    if (!found)
      return tl::unexpected{found.error()};
    if (*found)
      newest = **found;
    // Only a given-up one can change later: when it is opened again.
    if (newest && newest->result != outcome::given_up)
      break;
  }
  return newest;
}

outcomes_found log_reader_state::outcomes(const find_outcomes& x) const {
  ++questions_;
  outcomes_found answer;
  answer.id = x.id;
  for (const auto transaction : x.transactions) {
    auto& o = answer.outcomes.emplace_back();
    o.transaction = transaction;
    auto found = outcome_of(transaction);
    if (!found) {
      answer.code = found.error().code;
      spdlog::error("can't read outcomes: {}", to_string(found.error()));
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
  report.samples = {
      {"handfast_log_reader_questions_total", "", static_cast<double>(questions_)},
      {"handfast_log_reader_records_total", "", static_cast<double>(records_)},
      {"handfast_derived_runs", "", static_cast<double>(runs_.runs.size())},
      {"handfast_derived_runs_damaged", "", static_cast<double>(runs_.damaged.size())},
  };
  return report;
}

template <class Answer>
void log_reader_state::answer(Answer what) {
  if (const auto& asker = self_->current_sender())
    self_->send(caf::actor_cast<caf::typed_actor<caf::reacts_to<Answer>>>(asker), std::move(what));
}

log_reader_actor::behavior_type log_reader(log_reader_pointer self,
                                           std::shared_ptr<log_reader_start> from) {
  auto& s = self->state;
  s.start(std::move(*from));
  return {
      [&s](const peers_changed& x) { s.on_peers(x); },
      [&s](const stop&) { s.on_stop(); },
      [&s](const status_request&) { return s.status(); },
      [&s](const load_slices& x) { s.answer(s.load(x)); },
      [&s](const replay_log& x) { s.answer(s.replay(x)); },
      [&s](const read_records& x) { s.answer(s.read(x)); },
      [&s](const read_heads& x) { s.answer(s.heads(x)); },
      [&s](const read_index& x) { s.answer(s.index(x)); },
      [&s](const find_outcomes& x) { s.answer(s.outcomes(x)); },
      [&s](const read_view& x) { s.on_read_view(x); },
      [&s](const checkpoint_made& x) { s.on_checkpoint_made(x); },
  };
}

} // namespace handfast
