// LOG READER, the views: RocketMQ's half and op topics as they look from outside.
#include "actors/folds/queue_heads.hpp"
#include "actors/folds/view_samples.hpp"
#include "actors/log_reader.hpp"
#include "actors/type_ids.hpp"
#include "storage/log_scanner.hpp"
#include "storage/record_reader.hpp"

#include <caf/actor_cast.hpp>

#include <algorithm>

namespace handfast {

static_assert(view_samples::stride == storage::view_sample_stride);

namespace {

constexpr std::chrono::seconds commit_log_patience{2};
constexpr std::uint32_t view_records_max = 256;
constexpr std::size_t view_bytes_max = 4 * limits::mib;
constexpr std::size_t scan_chunk_bytes = 256 * limits::kib;

bool is_op_view(const read_view& x) {
  return x.view == op_view_topic;
}

/// The place of a record in the view; nothing if it is not of that view.
std::optional<queue_offset> place_in(const read_view& x, const log_record& record) {
  if (is_op_view(x) && record.type == record_type::decide)
    return std::get<decide_record>(record.content).op_offset;
  if (!is_op_view(x) && record.type == record_type::half)
    return std::get<message_record>(record.content).offset;
  return std::nullopt;
}

} // namespace

/// The newest part is only known to COMMIT LOG: samples that are in no run, and the durable end.
void log_reader_state::on_read_view(const read_view& x) {
  const auto asker = self_->current_sender();
  if (!asker)
    return;
  const auto refuse = [this, asker, id = x.id](ec why) {
    view_read answer;
    answer.id = id;
    answer.code = why;
    self_->send(caf::actor_cast<connection_actor>(asker), std::move(answer));
  };
  if (!peers_) {
    refuse(ec::recovering);
    return;
  }
  if (x.view != half_view_topic && x.view != op_view_topic) {
    refuse(ec::unknown_topic);
    return;
  }
  self_->request(peers_->commit_log.actor, commit_log_patience, take_unsaved{})
      .then(
          [this, asker, x](const unsaved_taken& tail) {
            self_->send(caf::actor_cast<connection_actor>(asker), view(x, tail));
            if (!damaged_.empty())
              begin_repair();
          },
          [refuse](const caf::error&) { refuse(ec::recovering); });
}

view_read log_reader_state::view(const read_view& x, const unsaved_taken& tail) {
  ++questions_;
  view_read answer;
  answer.id = x.id;
  answer.end = is_op_view(x) ? tail.op_view_end : tail.half_view_end;
  if (x.from >= answer.end)
    return answer;
  storage::log_scanner scanner{
      *from_.log, *from_.codec, nearest_sample(x, tail), {scan_chunk_bytes, tail.durable}};
  const auto max = std::min(x.max, view_records_max);
  std::size_t bytes = 0;
  log_record record;
  while (answer.records.size() < max && bytes < view_bytes_max) {
    const auto status = scanner.next(record);
    if (status == storage::scan_status::end)
      break;
    if (status == storage::scan_status::damaged)
      continue; // quarantined and listed elsewhere
    if (status != storage::scan_status::record) {
      answer.code = status == storage::scan_status::invalid ? ec::corrupt : ec::io_error;
      break;
    }
    const auto place = place_in(x, record);
    if (!place || *place < x.from)
      continue;
    bytes += record.length;
    if (is_op_view(x))
      answer.op_bodies.push_back(op_body(std::get<decide_record>(record.content)));
    answer.records.push_back(std::move(record));
  }
  records_ += answer.records.size();
  return answer;
}

/// Where to begin scanning: the entry itself or one of the 64 before it; the log's begin if there
/// is none. A damaged run only makes the scan longer.
position log_reader_state::nearest_sample(const read_view& x, const unsaved_taken& tail) {
  const auto key = is_op_view(x) ? queue_heads::op_view : queue_heads::half_view;
  position best;
  for (std::size_t i = 0; i < tail.view_entries.size(); ++i)
    if (tail.view_entries[i].first == key && tail.view_offsets[i] <= x.from.value)
      best = tail.view_entries[i].second.at;
  if (best.value != 0)
    return best;
  const auto which = is_op_view(x) ? storage::view::op : storage::view::half;
  for (auto run = runs_.runs.rbegin(); run != runs_.runs.rend(); ++run) {
    const auto found = (*run)->find_view_sample(which, x.from);
    if (found && *found)
      return std::max((*found)->at, from_.log->begin());
    if (!found)
      note_damaged(**run, found.error());
  }
  return from_.log->begin();
}

std::string log_reader_state::op_body(const decide_record& decided) const {
  std::string body;
  const auto add = [&](const std::optional<queue_offset>& place) {
    if (place)
      body += std::to_string(place->value) + ",";
  };
  std::size_t next = 0;
  for (const auto& d : decided.decisions) {
    const auto end = next + (d.result == outcome::rolled_back ? 0 : d.messages);
    if (next == end || end > decided.entries.size()) {
      add(half_offset(d.transaction)); // a rollback names no messages but the one that opened it
      continue;
    }
    for (; next < end; ++next)
      add(half_offset(decided.entries[next].at, decided.entries[next].length));
  }
  return body;
}

/// Place in the half view of the half that opened a transaction; of a reopened one, that of its
/// first body.
std::optional<queue_offset> log_reader_state::half_offset(position opened,
                                                          std::uint32_t length) const {
  const storage::record_reader reader{*from_.log, *from_.codec};
  auto record = reader.read(opened, length);
  if (record && record->type == record_type::reopen) {
    const auto& messages = std::get<reopen_record>(record->content).messages;
    if (messages.empty())
      return std::nullopt;
    record = reader.read(messages.front().at, messages.front().length);
  }
  if (!record || record->type != record_type::half)
    return std::nullopt;
  return std::get<message_record>(record->content).offset;
}

} // namespace handfast
