#include "storage/tail_search.hpp"

#include "messages/assert.hpp"
#include "storage/little_endian.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace handfast::storage {

namespace {

constexpr std::size_t chunk_bytes = 4 * limits::mib;
constexpr std::size_t block_bytes = 4 * limits::kib;
constexpr std::size_t word = record_alignment;
/// How far behind an ordered end bytes that do not belong there are looked for: what a writer that
/// knows nothing of the note would have written begins right there.
constexpr std::size_t ended_look_bytes = 64 * limits::kib;

bool all_zero(std::span<const std::byte> bytes) {
  return bytes.empty() || (bytes[0] == std::byte{0} &&
                           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

/// Searches one segment.
class searcher {
public:
  searcher(const segment& in, const record_codec& codec, bool first_only, tail_findings& findings)
      : in_{in}, codec_{codec}, first_only_{first_only}, findings_{findings} {}

  result<void> run(position from) {
    from_ = from;
    const auto end = in_.prepared_end();
    if (from >= end)
      return {};
    const auto size = std::min<std::size_t>(chunk_bytes, end.value - from.value);
    const auto chunk = std::make_unique_for_overwrite<std::byte[]>(size);
    for (auto at = from; at < end && !done();) {
      const auto got = in_.read(at, {chunk.get(), size});
      if (!got)
        return tl::unexpected{got.error()};
      const auto bytes = std::span<const std::byte>{chunk.get(), *got - *got % word};
      if (bytes.empty())
        break;
      if (auto searched = search(at, bytes); !searched)
        return searched;
      at = at + bytes.size();
    }
    return {};
  }

private:
  [[nodiscard]] bool done() const { return first_only_ && findings_.next_valid.value != 0; }

  result<void> search(position at, std::span<const std::byte> bytes) {
    for (std::size_t block = 0; block < bytes.size(); block += block_bytes) {
      const auto part = bytes.subspan(block, std::min(block_bytes, bytes.size() - block));
      if (all_zero(part))
        continue;
      for (std::size_t i = 0; i < part.size(); i += word) {
        const auto value = get<std::uint64_t>(part.data() + i);
        const auto here = at + block + i;
        if (value != 0)
          findings_.written_end = here + word;
        // Where a header would name its own position, if one stood here.
        if (value >= from_.value && value == here.value - record_field::at)
          if (auto looked = look_at(position{value}); !looked)
            return looked;
        if (done())
          return {};
      }
    }
    return {};
  }

  /// Takes the record at `at`, if its header is valid.
  result<void> look_at(position at) {
    if (at < in_.first())
      return {};
    alignas(word) std::byte head[record_header_bytes];
    record_header header;
    auto got = in_.read(at, head);
    if (!got)
      return tl::unexpected{got.error()};
    auto status = codec_.check_head(std::span{head}.first(*got), at, header);
    if (status == decode_status::torn && *got == sizeof head) {
      std::vector<std::byte> whole(header.head_bytes());
      got = in_.read(at, whole);
      if (!got)
        return tl::unexpected{got.error()};
      status = codec_.check_head(std::span{whole}.first(*got), at, header);
    }
    if (status != decode_status::ok)
      return {};
    findings_.durable = std::max(findings_.durable, header.durable());
    if (findings_.next_valid.value == 0)
      findings_.next_valid = at;
    return {};
  }

  const segment& in_;
  const record_codec& codec_;
  bool first_only_;
  tail_findings& findings_;
  position from_;
};

} // namespace

result<tail_findings> search_tail(const segment_set& log, const record_codec& codec, position from,
                                  bool first_only) {
  HANDFAST_ASSERT(from.value % word == 0);
  tail_findings findings;
  for (const auto& one : log.segments()) {
    if (one->end() <= from || (first_only && findings.next_valid.value != 0))
      continue;
    searcher search{*one, codec, first_only, findings};
    if (auto ran = search.run(std::max(from, one->first())); !ran)
      return tl::unexpected{ran.error()};
  }
  return findings;
}

result<void> tail_judge::search_all(position from) {
  return search_tail(log_, codec_, from, false).map([this](const tail_findings& found) {
    learn(found.durable);
    searched_ = true;
  });
}

result<bool> tail_judge::was_durable(position at) {
  if (at >= durable_ && !searched_)
    if (auto searched = search_all(at); !searched)
      return tl::unexpected{searched.error()};
  return at < durable_;
}

/// Whether the log is known to end at `at`, and nothing that was written since follows there.
result<bool> tail_judge::ended_at(position at) const {
  if (ended_.value == 0 || at != ended_)
    return false;
  const auto holder = log_.find(at);
  if (!holder)
    return true;
  std::vector<std::byte> next(ended_look_bytes);
  return holder->read(std::max(at, holder->first()), next).map([&](std::size_t got) {
    return all_zero(std::span{next}.first(got));
  });
}

/// Up to where records are lost if none stands at `at`.
result<tail_judge::loss_limit> tail_judge::limit_of(position at) const {
  loss_limit found{durable_, {}};
  const auto take = [&](const missing_segment& one) {
    found = {std::max(found.to, one.to), one.reason};
  };
  // A file that was there and is not is no torn tail: its header was synced before it was used.
  for (const auto& gap : log_.missing())
    if (at >= gap.from && at < gap.to)
      take(gap);
  for (const auto& cut : log_.cut()) {
    const auto holder = log_.find(cut.from);
    if (at >= cut.to || !holder || !holder->holds(at))
      continue;
    // Where zeros stand before the cut, the log ended before it.
    std::array<std::byte, word> first{};
    const auto got = holder->read(at, first);
    if (!got)
      return tl::unexpected{got.error()};
    if (at >= cut.from || !all_zero(first))
      take(cut);
  }
  return found;
}

result<tail_judge::judgement> tail_judge::judge(position at) {
  const auto ended = ended_at(at);
  if (!ended)
    return tl::unexpected{ended.error()};
  if (*ended)
    return judgement{};
  const auto durable = was_durable(at);
  if (!durable)
    return tl::unexpected{durable.error()};
  auto limit = limit_of(at);
  if (!limit)
    return tl::unexpected{limit.error()};
  const bool corrupt = at < limit->to;
  // What stands at `at` may have a valid head, if its rest was cut off.
  const auto found = search_tail(log_, codec_, corrupt ? at + word : at, corrupt);
  if (!found)
    return tl::unexpected{found.error()};
  if (!corrupt)
    return judgement{false, {}, found->written_end, {}};
  // Beyond the durable end only a torn tail can follow; scanning judges it when it gets there.
  const auto valid = found->next_valid;
  return judgement{true,
                   valid.value != 0 && valid < limit->to ? valid : limit->to,
                   {},
                   std::move(limit->reason)};
}

} // namespace handfast::storage
