#include "tests/support/journal.hpp"

#include <array>
#include <charconv>

namespace handfast::proof {

namespace {

constexpr std::array<std::string_view, 26> kind_names{
    "subscribed",   "half_sent",       "half_answered",  "decision_sent",  "decision_answered",
    "check_asked",  "check_answered",  "query_sent",     "query_answered", "reopen_sent",
    "reopened",     "plain_sent",      "plain_answered", "delivered",      "ack_sent",
    "ack_answered", "listed",          "progress",       "calm",           "trouble",
    "cancel_sent",  "cancel_answered", "rejected",       "dead_letter",    "drained",
    "note"};
static_assert(kind_names.size() == static_cast<std::size_t>(event_kind::note) + 1);

/// Everything but printable ASCII, and the two characters with a meaning, as %XX.
void put_text(std::string& to, std::string_view name, std::string_view value) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  if (value.empty())
    return;
  to.append(" ").append(name).append("=");
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 32 && byte < 127 && c != '%') {
      to.push_back(c);
    } else {
      to.push_back('%');
      to.push_back(digits[byte >> 4U]);
      to.push_back(digits[byte & 15U]);
    }
  }
}

void put_number(std::string& to, std::string_view name, std::uint64_t value) {
  if (value != 0)
    to.append(" ").append(name).append("=").append(std::to_string(value));
}

void put_outcome(std::string& to, std::string_view name, outcome value) {
  if (value != outcome::pending)
    to.append(" ").append(name).append("=").append(handfast::name_of(value));
}

template <class Number>
bool read_number(std::string_view text, Number& into) {
  const auto* end = text.data() + text.size();
  const auto [at, why] = std::from_chars(text.data(), end, into);
  return why == std::errc{} && at == end;
}

bool read_text(std::string_view text, std::string& into) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      into.push_back(text[i]);
      continue;
    }
    unsigned byte = 0;
    if (text.size() - i < 3)
      return false;
    const auto* from = text.data() + i + 1;
    if (std::from_chars(from, from + 2, byte, 16).ptr != from + 2)
      return false;
    into.push_back(static_cast<char>(byte));
    i += 2;
  }
  return true;
}

bool read_outcome(std::string_view text, outcome& into) {
  for (const auto o :
       {outcome::pending, outcome::committed, outcome::rolled_back, outcome::given_up})
    if (handfast::name_of(o) == text) {
      into = o;
      return true;
    }
  return false;
}

bool read_transaction(std::string_view text, transaction_id& into) {
  const auto id = parse_transaction_id(text);
  if (id)
    into = *id;
  return id.has_value();
}

bool read_code(std::string_view text, ec& into) {
  for (std::uint16_t value = 0; value < 256; ++value)
    if (const auto code = static_cast<ec>(value); handfast::name_of(code) == text) {
      into = code;
      return true;
    }
  return false;
}

bool read_field(event& e, std::string_view name, std::string_view value) {
  if (name == "who")
    return read_text(value, e.who);
  if (name == "key")
    return read_text(value, e.key);
  if (name == "tx")
    return read_transaction(value, e.tx);
  if (name == "other")
    return read_transaction(value, e.other);
  if (name == "wanted")
    return read_outcome(value, e.wanted);
  if (name == "recorded")
    return read_outcome(value, e.recorded);
  if (name == "code")
    return read_code(value, e.code);
  if (name == "group")
    return read_text(value, e.group);
  if (name == "topic")
    return read_text(value, e.topic);
  if (name == "queue")
    return read_number(value, e.queue);
  if (name == "offset")
    return read_number(value, e.offset);
  if (name == "body")
    return read_number(value, e.body);
  if (name == "since")
    return read_number(value, e.since);
  if (name == "when")
    return read_number(value, e.when);
  if (name == "attempts")
    return read_number(value, e.attempts);
  if (name == "text")
    return read_text(value, e.text);
  return false;
}

std::string_view next_word(std::string_view& rest) {
  const auto end = rest.find(' ');
  const auto word = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  return word;
}

} // namespace

std::string_view name_of(event_kind kind) {
  return kind_names.at(static_cast<std::size_t>(kind));
}

std::uint64_t body_hash(std::string_view bytes) {
  std::uint64_t h = 14695981039346656037ULL;
  for (const char c : bytes)
    h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return h;
}

std::string line_of(const event& e) {
  std::string to = std::to_string(e.at_ms);
  to.append(" ").append(name_of(e.kind));
  put_text(to, "who", e.who);
  put_text(to, "key", e.key);
  if (e.tx != transaction_id{})
    to.append(" tx=").append(to_string(e.tx));
  if (e.other != transaction_id{})
    to.append(" other=").append(to_string(e.other));
  put_outcome(to, "wanted", e.wanted);
  put_outcome(to, "recorded", e.recorded);
  if (e.code != ec::ok)
    to.append(" code=").append(handfast::name_of(e.code));
  put_text(to, "group", e.group);
  put_text(to, "topic", e.topic);
  put_number(to, "queue", e.queue);
  put_number(to, "offset", e.offset);
  put_number(to, "body", e.body);
  put_number(to, "since", e.since);
  put_number(to, "when", e.when);
  put_number(to, "attempts", e.attempts);
  put_text(to, "text", e.text);
  return to;
}

result<event> event_of(std::string_view line) {
  event e;
  auto rest = line;
  if (!read_number(next_word(rest), e.at_ms))
    return fail(ec::bad_request, "no time in \"" + std::string{line} + "\"");
  const auto kind = next_word(rest);
  std::size_t i = 0;
  while (i < kind_names.size() && kind_names.at(i) != kind)
    ++i;
  if (i == kind_names.size())
    return fail(ec::bad_request, "unknown event \"" + std::string{kind} + "\"");
  e.kind = static_cast<event_kind>(i);
  while (!rest.empty()) {
    const auto word = next_word(rest);
    const auto equals = word.find('=');
    if (equals == std::string_view::npos ||
        !read_field(e, word.substr(0, equals), word.substr(equals + 1)))
      return fail(ec::bad_request, "bad field \"" + std::string{word} + "\"");
  }
  return e;
}

std::uint64_t journal::add(event e) {
  if (sink_)
    sink_(e);
  events_.push_back(std::move(e));
  return events_.size() - 1;
}

std::uint64_t journal::hash() const {
  std::uint64_t h = 0;
  for (const auto& e : events_)
    h = mix64(h ^ body_hash(line_of(e)));
  return h;
}

std::string journal::text() const {
  std::string all;
  for (const auto& e : events_)
    all.append(line_of(e)).push_back('\n');
  return all;
}

result<journal> journal::parse(std::string_view text) {
  journal all;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const auto end = text.find('\n');
    if (end == std::string_view::npos)
      break; // the writer was killed in the middle of it
    auto e = event_of(text.substr(0, end));
    if (!e)
      return fail(ec::bad_request, "line " + std::to_string(number) + ": " + e.error().detail);
    all.events_.push_back(std::move(*e));
    text.remove_prefix(end + 1);
  }
  return all;
}

} // namespace handfast::proof
