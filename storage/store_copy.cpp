#include "storage/store_copy.hpp"

#include "storage/checkpoint_file.hpp"
#include "storage/checkpoint_format.hpp"
#include "storage/log_note.hpp"
#include "storage/log_scanner.hpp"
#include "storage/removal_hold.hpp"
#include "storage/run_layout.hpp"
#include "storage/tail_search.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace handfast::storage {

namespace {

constexpr std::size_t piece_bytes = 1 * limits::mib;
constexpr std::uint8_t only_shard = 0;
/// A node that starts, or ends a removal that it had begun, makes the copy begin again; both are
/// over at once.
constexpr int attempts_max = 5;

bool all_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{}; });
}

/// Where the log ends that a node may be writing to. Everything below is whole on the disk now, and
/// everything that was durable before the call is below.
result<position> end_of_log(const segment_set& log, const record_codec& codec) {
  const auto* noted = log.noted();
  const auto from = noted ? std::max(noted->durable, log.begin()) : log.begin();
  tail_judge judge{log, codec, from};
  log_scanner scanner{log, codec, from};
  log_record record;
  for (;;) {
    const auto found = scanner.next(record);
    judge.learn(scanner.durable());
    if (found == scan_status::record)
      continue;
    if (found == scan_status::end)
      return scanner.at();
    if (found == scan_status::io_failed)
      return tl::unexpected{scanner.failure()};
    if (found == scan_status::damaged) {
      const auto at = scanner.header().at;
      const auto durable = judge.was_durable(at);
      if (!durable || !*durable)
        return durable.map([at](bool) { return at; });
      continue;
    }
    const auto at = scanner.at();
    const auto judged = judge.judge(at);
    if (!judged)
      return tl::unexpected{judged.error()};
    // A node may have written just this place between the two looks. Then it was not durable
    // before.
    log_scanner again{log, codec, at};
    if (!judged->corrupt || again.next(record) == scan_status::record)
      return at;
    return fail(ec::corrupt, "the log has no valid record at position " + std::to_string(at.value) +
                                 ", which was durable");
  }
}

/// One attempt to copy. The order makes the copy one that a crash could have left: what vouches for
/// the log is read before the log.
class copying {
public:
  copying(file_system& disk, const std::string& from, const std::string& to,
          const copy_progress& progress)
      : disk_{disk}, from_{from}, to_{to}, progress_{progress} {}

  result<store_copy> run(const store_identity& identity) {
    done_.identity = identity;
    return prepare()
        .and_then([&] { return measure(); })
        .and_then([&] { return copy_note(); })
        .and_then([&] { return copy_folder(from_.checkpoints(), to_.checkpoints()); })
        .and_then([&] { return copy_folder(from_.runs(), to_.runs()); })
        .and_then([&] { return copy_log(); })
        .and_then([&] { return copy_file(from_.identity(), to_.identity(), all_of_it); })
        .and_then([&] { return disk_.sync_directory(to_.root); })
        .map([&] { return done_; });
  }

  /// The store is not the one any more that this attempt began with: try again.
  [[nodiscard]] bool was_overtaken() const { return overtaken_; }

private:
  static constexpr std::uint64_t all_of_it = std::numeric_limits<std::uint64_t>::max();

  /// Makes the folders, and empties them of what an overtaken attempt left.
  result<void> prepare() {
    for (const auto& folder : {to_.log(), to_.checkpoints(), to_.runs()}) {
      auto emptied = disk_.make_directories(folder).and_then([&] { return disk_.list(folder); });
      if (!emptied)
        return tl::unexpected{emptied.error()};
      for (const auto& name : *emptied)
        if (auto removed = disk_.remove(folder + "/" + name); !removed)
          return removed;
    }
    return {};
  }

  /// For the progress alone: sizes as they are now.
  result<void> measure() {
    if (!progress_)
      return {};
    for (const auto& folder : {from_.log(), from_.checkpoints(), from_.runs()}) {
      const auto names = disk_.list(folder);
      if (!names)
        return tl::unexpected{names.error()};
      for (const auto& name : *names)
        if (const auto one = disk_.open(folder + "/" + name, open_mode::read))
          all_ += (*one)->size().value_or(0);
    }
    return {};
  }

  /// The note comes first: it may not vouch for more than what of the log is read later.
  result<void> copy_note() {
    const auto path = from_.log_note(only_shard);
    const auto there = disk_.exists(path);
    if (!there || !*there)
      return there.map([](bool) {});
    return copy_file(path, to_.log_note(only_shard), all_of_it).map([&] {
      const auto note = log_note_file::open(disk_, to_.log_note(only_shard),
                                            done_.identity.store_id, open_mode::read);
      if (note && note->last().ended)
        ended_as_ = note->last().number;
    });
  }

  result<void> copy_folder(const std::string& from, const std::string& to) {
    const auto names = disk_.list(from);
    if (!names)
      return tl::unexpected{names.error()};
    for (const auto& name : *names) {
      const bool checkpoint = checkpoint_format::parse_name(name).has_value();
      const bool run = run_layout::parse_name(name).has_value();
      if (!checkpoint && !run)
        continue;
      if (auto copied = copy_file(from + "/" + name, to + "/" + name, all_of_it); !copied)
        return copied;
      done_.checkpoints += checkpoint ? 1 : 0;
      done_.runs += run ? 1 : 0;
    }
    return disk_.sync_directory(to);
  }

  result<void> copy_log() {
    const auto log = segment_set::open_read_only(disk_, from_.log(), done_.identity.store_id,
                                                 only_shard, from_.log_note(only_shard));
    if (!log)
      return tl::unexpected{log.error()};
    const auto end = end_of_log(**log, record_codec{done_.identity.store_id});
    if (!end)
      return tl::unexpected{end.error()};
    done_.end = *end;
    const auto names = disk_.list(from_.log());
    if (!names)
      return tl::unexpected{names.error()};
    for (const auto& name : *names) {
      const auto base = segment_set::base_in(name);
      if (!base)
        continue;
      const auto used = *base < *end ? end->value - base->value : 0;
      if (auto copied = copy_file(from_.log() + "/" + name, to_.log() + "/" + name,
                                  std::max<std::uint64_t>(used, segment_header_bytes));
          !copied)
        return copied;
      ++done_.segments;
    }
    return disk_.sync_directory(to_.log()).and_then([&] { return check_note(); });
  }

  /// A note that calls the log ended vouches for its end: it must not stand beside records of a
  /// node that started meanwhile.
  result<void> check_note() {
    if (!ended_as_)
      return {};
    const auto now = log_note_file::open(disk_, from_.log_note(only_shard), done_.identity.store_id,
                                         open_mode::read);
    if (now && now->last().number == *ended_as_)
      return {};
    overtaken_ = true;
    return fail(ec::busy, "a node started while its store was copied");
  }

  /// Copies the first `bytes` of a file, or all of it if it is shorter; the rest becomes a hole, as
  /// do pieces of zeros.
  result<void> copy_file(const std::string& from, const std::string& to, std::uint64_t bytes) {
    const auto source = disk_.open(from, open_mode::read);
    if (!source) {
      const auto there = disk_.exists(from);
      overtaken_ = there && !*there;
      return tl::unexpected{source.error()};
    }
    const auto size = (*source)->size();
    if (!size)
      return tl::unexpected{size.error()};
    const auto target = disk_.open(to, open_mode::create);
    if (!target)
      return tl::unexpected{target.error()};
    if (auto sized = (*target)->truncate(*size); !sized)
      return sized;
    if (auto copied = copy_bytes(**source, **target, std::min(bytes, *size)); !copied)
      return copied;
    tell(*size - std::min(bytes, *size));
    return (*target)->sync();
  }

  result<void> copy_bytes(const file& from, file& to, std::uint64_t bytes) {
    for (std::uint64_t at = 0; at < bytes;) {
      const auto wanted = std::min<std::uint64_t>(piece_.size(), bytes - at);
      const auto got = from.read(std::span{piece_}.first(wanted), at);
      if (!got)
        return tl::unexpected{got.error()};
      if (*got == 0)
        return {}; // cut meanwhile: what is missing reads as zeros
      const auto part = std::span<const std::byte>{piece_}.first(*got);
      if (!all_zero(part))
        if (auto written = to.write(part, at); !written)
          return written;
      at += *got;
      done_.bytes += *got;
      tell(*got);
    }
    return {};
  }

  void tell(std::uint64_t more) {
    passed_ += more;
    if (progress_)
      progress_(std::min(passed_, all_), all_);
  }

  file_system& disk_;
  const store_paths from_;
  const store_paths to_;
  const copy_progress& progress_;
  store_copy done_;
  std::optional<std::uint64_t> ended_as_; ///< number of a copied note that calls the log ended
  std::vector<std::byte> piece_ = std::vector<std::byte>(piece_bytes);
  std::uint64_t all_ = 0;
  std::uint64_t passed_ = 0;
  bool overtaken_ = false;
};

result<void> check_target(file_system& disk, const std::string& to) {
  return disk.make_directories(to)
      .and_then([&] { return disk.list(to); })
      .and_then([&](const auto& names) -> result<void> {
        for (const auto& name : names)
          if (name != "lost+found")
            return fail(ec::not_our_directory,
                        "the folder " + to + " is not empty: it holds " + name);
        return {};
      });
}

} // namespace

result<store_copy> copy_store(file_system& disk, const std::string& from, const std::string& to,
                              const copy_progress& progress) {
  const auto identity = store_directory::inspect(disk, from);
  if (!identity)
    return tl::unexpected{identity.error()};
  if (auto empty = check_target(disk, to); !empty)
    return tl::unexpected{empty.error()};
  const auto held = hold_removals(disk, from);
  if (!held)
    return tl::unexpected{held.error()};
  for (int attempt = 1;; ++attempt) {
    copying one{disk, from, to, progress};
    auto done = one.run(*identity);
    if (done || !one.was_overtaken() || attempt == attempts_max)
      return done;
  }
}

} // namespace handfast::storage
