#pragma once

/// Shared by the codec's sources only: how a frame's Cap'n Proto part is built and read.

#include "messages/assert.hpp"
#include "messages/capnp_words.hpp"
#include "messages/log_record.hpp"
#include "messages/native/codec.hpp"
#include "messages/native_schema.capnp.h"

#include <capnp/message.h>
#include <capnp/serialize.h>

#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace handfast::native::codec {

/// Words of a message whose root holds one list of pointer-free structs and nothing else.
template <class Root, class Entry>
std::size_t words_of_batch(std::size_t entries) {
  return 1 + capnp::sizeInWords<Root>() + 1 + entries * capnp::sizeInWords<Entry>();
}

/// Starts a frame whose root holds one list of pointer-free structs and nothing else, word by word:
/// for the answers to every send and decision. The words of the entries are to be put next.
template <class Root, class Entry>
capnp_words::writer begin_batch(frame_writer& to, frame_kind kind, std::size_t count) {
  using namespace capnp_words;
  static_assert(size_of<Root>.data == 0 * capnp::WORDS);
  constexpr std::size_t pointers = size_of<Root>.pointers / capnp::POINTERS;
  const auto words = 1 + pointers + list_words<Entry>(count);
  writer out{to.begin_frame(kind, words * word_bytes), words};
  out.put(struct_word(0, size_of<Root>)).put(list_pointer<Entry>(pointers - 1, count));
  for (std::size_t more = 1; more < pointers; ++more)
    out.put(0);
  if (count > 0)
    out.put(struct_word(count, size_of<Entry>));
  return out;
}

/// The entries of a frame of that shape, if its words are just those that `begin_batch` puts;
/// nothing for any other: then Cap'n Proto must read it, and says what is wrong.
template <class Root, class Entry>
std::optional<capnp_words::reader> plain_batch(const frame& from, frame_kind kind) {
  using namespace capnp_words;
  constexpr std::size_t pointers = size_of<Root>.pointers / capnp::POINTERS;
  constexpr std::size_t head = 1 + pointers + 1;
  constexpr std::size_t entry = capnp::sizeInWords<Entry>();
  if (from.header.kind != kind || from.rest.size() < from.header.rest_bytes())
    return {};
  const reader words{from.meta().data(), from.header.meta_bytes / word_bytes};
  if (words.size() <= head || (words.size() - head) % entry != 0)
    return {};
  const auto count = (words.size() - head) / entry;
  if (words[0] != struct_word(0, size_of<Root>) ||
      words[1] != list_pointer<Entry>(pointers - 1, count) ||
      words[head - 1] != struct_word(count, size_of<Entry>))
    return {};
  for (std::size_t more = 2; more <= pointers; ++more)
    if (words[more] != 0)
      return {};
  return words.from(head, count * entry);
}

/// Starts a frame and builds its Cap'n Proto part in place. `words` must be its exact size.
template <class Root, class Fill>
void begin_exact(frame_writer& to, frame_kind kind, std::size_t words, Fill&& fill) {
  auto meta = to.begin_frame(kind, words * sizeof(capnp::word));
  auto* start = reinterpret_cast<capnp::word*>(meta.data());
  capnp::FlatMessageBuilder builder{kj::arrayPtr(start, words)};
  fill(builder.initRoot<Root>());
  builder.requireFilled();
}

/// Starts a frame whose Cap'n Proto part holds texts or nested lists: built aside, then copied.
template <class Root, class Fill>
void begin_any(frame_writer& to, frame_kind kind, Fill&& fill) {
  capnp::MallocMessageBuilder builder{256};
  fill(builder.initRoot<Root>());
  auto segments = builder.getSegmentsForOutput();
  if (segments.size() == 1) {
    auto bytes = segments[0].asBytes();
    auto meta = to.begin_frame(kind, bytes.size());
    std::memcpy(meta.data(), bytes.begin(), bytes.size());
    return;
  }
  auto root = builder.getRoot<Root>().asReader();
  auto words = root.totalSize().wordCount + 1;
  auto meta = to.begin_frame(kind, words * sizeof(capnp::word));
  capnp::FlatMessageBuilder flat{kj::arrayPtr(reinterpret_cast<capnp::word*>(meta.data()), words)};
  flat.setRoot(root);
}

/// A whole frame without payload.
template <class Root, class Fill>
void write_any(frame_writer& to, frame_kind kind, Fill&& fill) {
  begin_any<Root>(to, kind, std::forward<Fill>(fill));
  to.end_frame();
}

/// The Cap'n Proto part as aligned words; copied to a buffer of this thread only if the stream left
/// it unaligned.
inline kj::ArrayPtr<const capnp::word> aligned_words(std::span<const std::byte> meta) {
  auto words = meta.size() / sizeof(capnp::word);
  if (reinterpret_cast<std::uintptr_t>(meta.data()) % alignof(capnp::word) == 0)
    return {reinterpret_cast<const capnp::word*>(meta.data()), words};
  static thread_local std::vector<capnp::word> scratch;
  if (scratch.size() < words)
    scratch.resize(words);
  std::memcpy(static_cast<void*>(scratch.data()), meta.data(), meta.size());
  return {scratch.data(), words};
}

inline tl::unexpected<error> bad(frame_kind kind, std::string_view what) {
  return fail(ec::bad_frame, std::string{name_of(kind)} + ": " + std::string{what});
}

/// Calls `read(root)`, which returns a `result<void>`. Whatever Cap'n Proto finds wrong becomes
/// `ec::bad_frame`.
template <class Root, class Read>
result<void> read_root(const frame& from, frame_kind kind, Read&& read) {
  if (from.header.kind != kind)
    return bad(kind, "frame of another kind");
  if (from.rest.size() < from.header.rest_bytes())
    return bad(kind, "cut short");
  try {
    auto words = aligned_words(from.meta());
    capnp::ReaderOptions options;
    options.traversalLimitInWords = 2 * words.size() + 64; // each part is read once
    options.nestingLimit = 16;
    capnp::SegmentArrayMessageReader reader{kj::arrayPtr(&words, 1), options};
    return read(reader.getRoot<Root>());
  } catch (const kj::Exception& e) {
    return bad(kind, e.getDescription().cStr());
  }
}

inline void take(std::string& into, capnp::Text::Reader from) {
  into.assign(from.begin(), from.size());
}

inline capnp::Text::Reader text(const std::string& from) {
  return {from.c_str(), from.size()};
}

inline transaction_id id_of(std::uint64_t opened_at, std::uint32_t check) {
  return {position{opened_at}, check};
}

inline bool valid_outcome(std::uint8_t value) {
  return value <= static_cast<std::uint8_t>(outcome::given_up);
}

inline bool valid_origin(std::uint8_t value) {
  return value >= static_cast<std::uint8_t>(origin::producer) &&
         value <= static_cast<std::uint8_t>(origin::policy);
}

inline bool valid_state(std::uint8_t value) {
  return value <= static_cast<std::uint8_t>(transaction_state::quarantined);
}

template <class Builder>
void put_start(Builder to, const start_point& from) {
  to.setStart(static_cast<std::uint8_t>(from.from));
  to.setStartValue(from.value);
}

/// False for a kind of start that this version does not know.
template <class Reader>
bool take_start(Reader from, start_point& into) {
  if (from.getStart() > static_cast<std::uint8_t>(start_from::offset))
    return false;
  into = {static_cast<start_from>(from.getStart()), from.getStartValue()};
  return true;
}

template <class Builder>
void put_terms(Builder to, const subscription_terms& from) {
  to.setMode(static_cast<std::uint8_t>(from.mode));
  to.setFilter(static_cast<std::uint8_t>(from.filter));
  if (!from.expression.empty())
    to.setExpression(text(from.expression));
}

inline bool valid_filter(std::uint8_t value) {
  return value <= static_cast<std::uint8_t>(filter_kind::sql);
}

/// False for a mode or filter that this version does not know.
template <class Reader>
bool take_terms(Reader from, subscription_terms& into) {
  if (from.getMode() > static_cast<std::uint8_t>(delivery_mode::ordered) ||
      !valid_filter(from.getFilter()))
    return false;
  into.mode = static_cast<delivery_mode>(from.getMode());
  into.filter = static_cast<filter_kind>(from.getFilter());
  take(into.expression, from.getExpression());
  return true;
}

template <class List>
void put_places(List to, const std::vector<queue_position>& from) {
  for (unsigned i = 0; i < to.size(); ++i) {
    to[i].setQueue(from[i].queue.value);
    to[i].setOffset(from[i].offset.value);
  }
}

template <class List>
void take_places(List from, std::vector<queue_position>& into) {
  into.resize(from.size());
  for (unsigned i = 0; i < from.size(); ++i)
    into[i] = {{from[i].getQueue()}, {from[i].getOffset()}};
}

/// Takes one item after another from a frame's payload and holds them to its size.
class payload_cursor {
public:
  explicit payload_cursor(const frame& from) : from_{from} {}

  /// False if the sizes do not fit what is left.
  bool take(std::uint32_t properties_size, std::uint32_t body_size, shared_bytes& into) {
    auto size = std::size_t{properties_size} + body_size;
    if (size > from_.header.payload_bytes - at_)
      return false;
    into = from_.payload(at_, size);
    at_ += size;
    return true;
  }
  [[nodiscard]] bool at_end() const { return at_ == from_.header.payload_bytes; }

private:
  const frame& from_;
  std::size_t at_ = 0;
};

/// The texts beside a batch of answers.
template <class Builder>
void put_details(Builder root, const std::vector<refusal_detail>& details) {
  if (details.empty())
    return;
  auto list = root.initDetails(static_cast<unsigned>(details.size()));
  for (unsigned i = 0; i < list.size(); ++i) {
    list[i].setCorrelation(details[i].id.value);
    list[i].setText(text(details[i].text));
  }
}

template <class Reader>
void take_details(Reader root, std::vector<refusal_detail>& into) {
  into.clear();
  if (!root.hasDetails())
    return;
  for (auto d : root.getDetails()) {
    auto t = d.getText();
    into.push_back({correlation{d.getCorrelation()}, std::string{t.begin(), t.size()}});
  }
}

/// A batch of answers: built in place when nothing was refused with a text.
template <class Root, class Entry, class Message, class FillEntry>
void write_answers(frame_writer& to, const Message& from, FillEntry&& fill_entry) {
  auto count = static_cast<unsigned>(from.items.size());
  auto fill = [&](typename Root::Builder root) {
    auto entries = root.initEntries(count);
    for (unsigned i = 0; i < count; ++i)
      fill_entry(entries[i], from.items[i]);
    put_details(root, from.details);
  };
  if (from.details.empty())
    begin_exact<Root>(to, Message::kind, words_of_batch<Root, Entry>(count), fill);
  else
    begin_any<Root>(to, Message::kind, fill);
  to.end_frame();
}

} // namespace handfast::native::codec
