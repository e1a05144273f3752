// CONSUMER GROUP, dead letters: what failed too often, or for good, is copied to the group's
// dead-letter topic. The same record ends the original, so that neither happens alone.
#include "actors/consumer_group.hpp"
#include "actors/type_ids.hpp"
#include "messages/names.hpp"
#include "storage/crc32c.hpp"

#include <spdlog/spdlog.h>

#include <set>
#include <utility>

namespace handfast {

namespace {

/// The bytes are damaged, in contrast to a disk that can't be read at the moment.
bool is_damage(ec code) {
  return code == ec::corrupt || code == ec::position_not_found;
}

std::string reason_of(const queue_window::dead_message& dead) {
  return dead.refused ? "refused by a consumer"
                      : std::to_string(dead.attempts) + " failed deliveries";
}

} // namespace

/// Takes dead messages from the windows and has read what is missing of them.
void consumer_group_state::bury_more() {
  if (ended || unknown || !member->serving())
    return;
  std::size_t bytes = 0;
  for (const auto& [place, b] : burials)
    bytes += b.what.entry.length;
  for (const auto& [key, s] : queues)
    while (s->window.has_dead() && burials.size() < burials_max &&
           (bytes < burial_bytes_max || burials.empty()))
      for (const auto& dead : s->window.take_dead(1)) {
        bytes += dead.entry.length;
        burials.try_emplace({key, dead.entry.offset.value}, burial{dead, {}, false, false});
      }
  if (burials.empty())
    return;
  ask_box();
  std::vector<message_place> unread;
  std::vector<message_place> places;
  for (const auto& [place, b] : burials)
    places.push_back(place);
  for (const auto& place : places) {
    auto& b = burials.at(place);
    if (box.topic != topic_id{} && place.first.topic == box.topic) {
      settle_burial(place); // it stands there already, and another copy would help nobody
      continue;
    }
    if (!b.original && !b.asked)
      read_original(place, b);
    if (!b.original && !b.asked) {
      b.asked = true;
      unread.push_back(place);
    }
  }
  if (!unread.empty())
    ask_originals(std::move(unread));
  if (wants_to_bury())
    ask_write();
}

/// The dead-letter topic, and the names of the topics that the dead came from.
void consumer_group_state::ask_box() {
  if (box.asked || !topic_registry.actor)
    return;
  std::set<topic_id> missing;
  for (const auto& [place, b] : burials)
    if (!box.origins.contains(place.first.topic))
      missing.insert(place.first.topic);
  if (box.topic != topic_id{} && missing.empty())
    return;
  box.asked = true;
  self->send(topic_registry.actor, open_dead_letters{group(), {missing.begin(), missing.end()}});
}

void consumer_group_state::on_dead_letters_open(const dead_letters_open& x) {
  box.asked = false;
  if (x.why.code != ec::ok) {
    ask_burial_retry();
    return;
  }
  box.topic = x.topic;
  for (const auto& [id, topic] : x.origins)
    box.origins[id] = topic;
  bury_more();
}

// -- the originals ----------------------------------------------------------------------

void consumer_group_state::read_original(message_place, burial& b) {
  if (!env->records)
    return;
  auto record = env->records->try_read(b.what.entry.at, b.what.entry.length);
  if (record && message_of(*record))
    b.original = std::move(record);
}

void consumer_group_state::ask_originals(std::vector<message_place> places) {
  read_records order{correlation{++last_asked}, {}};
  std::erase_if(places, [&](const message_place& place) { return !burials.contains(place); });
  for (const auto& place : places) {
    const auto& entry = burials.at(place).what.entry;
    order.places.push_back({entry.at, entry.length});
  }
  if (places.empty())
    return;
  burial_reads[last_asked] = std::move(places);
  self->send(log_reader.actor, std::move(order));
}

void consumer_group_state::on_records(records_read& x) {
  auto places = burial_reads.extract(x.id.value);
  if (!places)
    return;
  HANDFAST_ASSERT(places.mapped().size() == x.records.size());
  for (std::size_t n = 0; n < x.records.size(); ++n)
    take_original(places.mapped()[n], x.records[n]);
  if (wants_to_bury())
    ask_write();
}

void consumer_group_state::take_original(message_place where, record_read& read) {
  const auto found = burials.find(where);
  if (found == burials.end() || !found->second.asked)
    return;
  auto& b = found->second;
  b.asked = false;
  if (read.code == ec::ok && message_of(read.record)) {
    b.original = std::move(read.record);
  } else if (read.code == ec::ok || is_damage(read.code)) {
    note_unreadable({where.first, queue_offset{where.second}}, b.what.entry.at);
    settle_burial(where);
  } else {
    give_up_burial(where);
  }
}

// -- into the log -------------------------------------------------------------------------

bool consumer_group_state::wants_to_bury() const {
  if (box.topic == topic_id{} || letters_in_flight > 0)
    return false;
  for (const auto& [place, b] : burials)
    if (b.original && !b.appended && box.origins.contains(place.first.topic))
      return true;
  return false;
}

void consumer_group_state::add_letters(append_records& to,
                                       const std::shared_ptr<log_order>& order) {
  if (!wants_to_bury() || stopping)
    return;
  for (auto& [place, b] : burials) {
    if (!b.original || b.appended || !box.origins.contains(place.first.topic))
      continue;
    b.appended = true;
    ++letters_in_flight;
    ++order->open;
    to.records.push_back(letter_of(place, b));
    in_flight.emplace(to.records.back().cookie, order_part{order, {}, {}, place});
  }
}

log_record consumer_group_state::letter_of(message_place where, const burial& b) {
  const auto reason = reason_of(b.what);
  dead_letter_record letter;
  letter.group = group();
  letter.topic = where.first.topic;
  letter.queue = where.first.queue;
  letter.offset = queue_offset{where.second};
  letter.attempts = b.what.attempts;
  letter.message = dead_letter_copy(*b.original, box.topic,
                                    {box.origins.at(where.first.topic), where.first, letter.offset,
                                     b.what.entry.at, b.what.attempts, reason});
  letter.message.payload_crc = storage::crc32c(letter.message.payload.span());
  log_record record;
  record.type = record_type::dead_letter;
  record.time_ms = env->time->wall();
  record.cookie = cookies.next();
  record.content = std::move(letter);
  return record;
}

/// The original needs nothing any more: whoever waits for that is answered with the next record.
void consumer_group_state::settle_burial(message_place where) {
  if (const auto found = burials.find(where); found != burials.end()) {
    if (found->second.appended) {
      ++dead_letters;
      tell_of_letter(where, found->second);
    }
    burials.erase(found);
    auto& s = *queues.at(where.first);
    s.window.buried(queue_offset{where.second});
    note_changes(s);
    settle_moving();
  }
  auto waits = burial_waits.extract(where);
  if (!waits)
    return;
  for (const auto& wait : waits.mapped())
    if (wait->open > 0 && --wait->open == 0) {
      answers.push_back(std::move(wait->answer));
      ask_write();
    }
}

/// One line a second at most.
void consumer_group_state::tell_of_letter(message_place where, const burial& b) {
  const auto now = env->time->now();
  if (letters_told != 0 && now - letters_told_at < std::chrono::seconds{1})
    return;
  spdlog::warn("group {}: {} message(s) more in {}; the last of topic {} queue {} offset {}: {}",
               group_name, dead_letters - letters_told, dead_letter_topic_of(group_name),
               box.origins.at(where.first.topic), where.first.queue.value, where.second,
               reason_of(b.what));
  letters_told = dead_letters;
  letters_told_at = now;
}

/// Not now: the message stays dead and is tried again.
void consumer_group_state::give_up_burial(message_place where) {
  burials.erase(where);
  queues.at(where.first)->window.not_buried(queue_offset{where.second});
  ask_burial_retry();
}

void consumer_group_state::ask_burial_retry() {
  if (!std::exchange(burial_asked, true))
    self->delayed_send(self, burial_retry, tick{burial_timer});
}

} // namespace handfast
