#include "runtime/shard_recovery.hpp"

#include "actors/run_remake.hpp"
#include "messages/record_rule.hpp"

#include <algorithm>
#include <exception>

namespace handfast::runtime {

namespace {

/// Folds what recovery finds, in log order.
class folding_visitor final : public storage::recovery_visitor {
public:
  log_tail tail;
  half_fold half;
  outcome_table outcomes;
  delay_fold delays;
  topic_table topics;
  std::map<group_id, progress_table> groups;
  std::map<queue_key, queue_index> queues;
  std::string checkpoint_refused;
  topic_id highest_topic; ///< that anything names
  group_id highest_group;

  result<void> on_checkpoint(const storage::checkpoint& found) override {
    for (const auto& slice : found.slices) {
      try {
        load(slice.name, slice.bytes.text());
      } catch (const std::exception& e) {
        checkpoint_refused = "slice " + slice.name + ": " + e.what();
        return fail(ec::corrupt, checkpoint_refused);
      }
    }
    return {};
  }

  result<void> on_batch(std::shared_ptr<const record_batch> batch) override {
    for (const auto& record : batch->records)
      apply(record);
    return {};
  }

  void on_damaged(const storage::damaged_record& damaged) override {
    quarantined_item item{damaged.at, "record", std::string{storage::name_of(damaged.reason)}, {}};
    if (damaged.record) {
      item.what = name_of(damaged.record->type);
      if (damaged.record->type == record_type::half) {
        const auto joined = std::get<message_record>(damaged.record->content).transaction;
        item.transaction.opened_at = joined == position{} ? damaged.at : joined;
        half.mark_damaged(damaged.at, joined);
      }
    }
    tail.quarantine(std::move(item));
  }

  void on_lost(const storage::lost_range& lost) override {
    tail.quarantine({lost.from,
                     "log",
                     "lost up to position " + std::to_string(lost.to.value) + ": " + lost.reason,
                     {}});
  }

private:
  void load(const std::string& name, std::string_view bytes) {
    if (name.starts_with(log_tail::prefix)) {
      tail.load(name, bytes);
    } else if (name.starts_with(half_fold::slice_prefix)) {
      half.load(name, bytes);
    } else if (name.starts_with(outcome_table::slice_prefix)) {
      outcomes.load(name, bytes);
    } else if (name.starts_with(delay_fold::slice_prefix)) {
      delays.load(name, bytes);
    } else if (name == topic_table::slice_name) {
      topics.load(name, bytes);
    } else if (const auto group = progress_table::group_of_slice(name); group != group_id{}) {
      groups.try_emplace(group, group).first->second.load(name, bytes);
    } else if (const auto queue = queue_index::key_of_slice(name); queue.topic != topic_id{}) {
      queues.try_emplace(queue, queue).first->second.load(name, bytes);
    } // else: of a newer version that this one may pass over
  }

  /// Offsets that a damaged or lost record held. Queues pass over them.
  void note_missing_offsets(const log_record& record) {
    for_each_visible(record, [&](queue_key queue, const visible_entry& entry) {
      note_ids(queue.topic, {});
      const auto end = tail.heads.durable(queue);
      if (entry.offset > end)
        tail.quarantine(
            {record.at,
             "queue " + std::to_string(queue.topic.value) + "/" + std::to_string(queue.queue.value),
             "offsets " + std::to_string(end.value) + " to " +
                 std::to_string(entry.offset.value - 1) +
                 ", before this record, are lost; consumers pass over them",
             {}});
      tail.heads.set_durable(queue, queue_offset{entry.offset.value + 1});
    });
  }

  /// Ids far ahead of all others are damage themselves.
  void note_ids(topic_id topic, group_id group) {
    constexpr std::uint32_t believable = 1'000'000;
    if (topic.value < topics.next_topic().value + believable)
      highest_topic = std::max(highest_topic, topic);
    if (group.value < topics.next_group().value + believable)
      highest_group = std::max(highest_group, group);
  }

  void apply(const log_record& record) {
    note_missing_offsets(record);
    if (const auto* message = std::get_if<message_record>(&record.content))
      note_ids(message->topic, message->group);
    attempt(record, [&] { tail.apply(record); });
    attempt(record, [&] { outcomes.apply(record); });
    attempt(record, [&] { half.apply(record); });
    attempt(record, [&] { delays.apply(record); });
    if (record.type == record_type::meta)
      attempt(record, [&] {
        const auto& meta = std::get<meta_record>(record.content);
        topics.apply(meta);
        if (meta.change == meta_change::group_deleted)
          groups.erase(group_id{meta.id});
      });
    else if (record.type == record_type::progress)
      attempt(record, [&] {
        for (const auto& entry : std::get<progress_record>(record.content).groups) {
          note_ids(entry.topic, entry.group);
          groups.try_emplace(entry.group, entry.group).first->second.apply(entry);
        }
      });
    else if (record.type == record_type::dead_letter)
      attempt(record, [&] {
        const auto& dead = std::get<dead_letter_record>(record.content);
        note_ids(dead.topic, dead.group);
        groups.try_emplace(dead.group, dead.group).first->second.apply(dead);
      });
  }

  /// One fold that cannot take a record does not keep it from the others.
  template <class F>
  void attempt(const log_record& record, F&& apply_to_one) {
    try {
      apply_to_one();
    } catch (const std::exception& e) {
      tail.quarantine({record.at, std::string{name_of(record.type)}, sentence_of(e), {}});
    }
  }
};

} // namespace

result<std::unique_ptr<recovered_shard>> recover_shard(storage::file_system& disk,
                                                       const config::settings& settings,
                                                       const recovery_seams& seams) {
  storage::recovery_options options;
  options.segments.segment_bytes = settings.store.segment_size;
  options.accept_corruption = settings.store.accept_corruption;
  options.ignore_checkpoints = settings.store.ignore_checkpoint;
  options.new_store_id = seams.new_store_id;
  options.now_ms = seams.now_ms;
  options.clock = seams.clock;

  const auto root = settings.store.dir.string();
  const storage::store_paths paths{root};
  std::vector<quarantined_item> listed;
  options.remake_run = [&](const storage::segment_set& log, std::uint64_t store_id, position from,
                           position to, position until) {
    const storage::record_codec codec{store_id};
    return remake_run({disk, paths.runs(), store_id, log, codec}, from, to, until)
        .map([&](const remade_run& made) {
          for (const auto& gap : made.unread)
            listed.push_back(
                {gap.from,
                 "derived run",
                 "it was damaged and made again from the log, but not what positions " +
                     std::to_string(gap.from.value) + " to " + std::to_string(gap.to.value) +
                     " said: " + gap.why,
                 {}});
        });
  };
  auto visitor = std::make_unique<folding_visitor>();
  auto store = storage::recover(disk, root, options, *visitor);
  auto refused = std::exchange(visitor->checkpoint_refused, {});
  if (!store && !refused.empty()) {
    // Everything is in the log; a checkpoint only saves time.
    options.ignore_checkpoints = true;
    visitor = std::make_unique<folding_visitor>();
    store = storage::recover(disk, root, options, *visitor);
  }
  if (!store)
    return tl::unexpected{store.error()};

  for (auto& item : listed)
    visitor->tail.quarantine(std::move(item));
  for (const auto& gone : store->report.gone_runs)
    visitor->tail.quarantine({gone.from,
                              "derived run",
                              "it was damaged and can't be made again, since " + gone.reason +
                                  ": old outcomes up to position " + std::to_string(gone.to.value) +
                                  " are not known any more",
                              {}});

  // The META record of a topic or group may be among what was lost: whoever gets its id would get
  // its messages.
  visitor->topics.keep_free(visitor->highest_topic, visitor->highest_group);

  const storage::record_codec codec{store->directory.identity().store_id};
  const auto epoch = store->report.last_epoch + 1;
  return std::make_unique<recovered_shard>(recovered_shard{
      std::move(*store), codec, epoch, std::move(refused), std::move(visitor->tail),
      std::move(visitor->half), std::move(visitor->outcomes), std::move(visitor->delays),
      std::move(visitor->topics), std::move(visitor->groups), std::move(visitor->queues)});
}

} // namespace handfast::runtime
