#include "runtime/cli/json.hpp"
#include "runtime/cli/json_members.hpp"
#include "runtime/cli/record_view.hpp"

#include <gtest/gtest.h>

#include <gmock/gmock.h>
#include <set>

namespace handfast::cli {
namespace {

using ::testing::IsEmpty;

/// Every member with its path, as the table writes it. What the table leaves closed is not looked
/// into.
void add_paths(const json& value, const std::string& path, const json_shape& shape,
               std::set<std::string>& to) {
  auto documented_inside = std::ranges::any_of(shape.members, [&](const json_member& member) {
    return member.path.starts_with(path + ".") || member.path.starts_with(path + "[].");
  });
  if (!path.empty() && (!documented_inside || value.is_array()))
    to.insert(path);
  if (!path.empty() && !documented_inside)
    return;
  if (value.is_array())
    for (const auto& item : value)
      for (const auto& [key, inner] : item.items())
        add_paths(inner, path + "[]." + key, shape, to);
  else if (value.is_object())
    for (const auto& [key, inner] : value.items())
      add_paths(inner, path.empty() ? key : path + "." + key, shape, to);
}

/// What is printed and not documented, or documented as always there and not printed.
std::vector<std::string> differences(const std::string& name, const json& printed) {
  const auto* shape = find_shape(name);
  if (!shape)
    return {"no shape " + name};
  std::set<std::string> paths;
  add_paths(printed, {}, *shape, paths);
  std::vector<std::string> found;
  for (const auto& member : shape->members)
    if (paths.erase(std::string{member.path}) == 0 && !member.sometimes)
      found.push_back("not printed: " + std::string{member.path});
  for (const auto& path : paths)
    found.push_back("not documented: " + path);
  return found;
}

TEST(JsonMembers, DocumentATopic) {
  native::topic_item topic;
  EXPECT_THAT(differences("topic", json_of(topic)), IsEmpty());
  topic.queues.push_back({queue_no{0}, {}, {}});
  EXPECT_THAT(differences("topic", json_of(topic)), IsEmpty());
}

TEST(JsonMembers, DocumentATransactionInAllItsStates) {
  for (auto state : {transaction_state::pending, transaction_state::committed,
                     transaction_state::given_up, transaction_state::quarantined}) {
    native::transaction_info transaction;
    transaction.life.state = state;
    EXPECT_THAT(differences("transaction", json_of(transaction)), IsEmpty());
    transaction.life.messages.resize(1);
    transaction.life.asks.resize(1);
    transaction.life.reopened_as = transaction.life.reopened_from = {position{8}, 1};
    transaction.life.note = "damaged";
    EXPECT_THAT(differences("transaction", json_of(transaction)), IsEmpty());
  }
}

TEST(JsonMembers, DocumentMessagesAndDecisions) {
  client::received_message message;
  EXPECT_THAT(differences("message", json_of(message)), IsEmpty());
  message.content.tag = message.content.keys = message.content.order_key = "x";
  message.content.properties["k"] = "v";
  message.transaction = {position{8}, 1};
  EXPECT_THAT(differences("message", json_of(message)), IsEmpty());
  EXPECT_THAT(differences("stored message", json_of("orders", client::stored_message{})),
              IsEmpty());
  client::decision decided;
  EXPECT_THAT(differences("decision", json_of(decided)), IsEmpty());
  decided.recorded = outcome::committed;
  EXPECT_THAT(differences("decision", json_of(decided)), IsEmpty());
}

TEST(JsonMembers, DocumentGroupsAndWhatWasSetAside) {
  native::group_item group;
  group.progress.resize(1);
  EXPECT_THAT(differences("group", json_of(group)), IsEmpty());
  quarantined_item item;
  item.transaction = {position{8}, 1};
  EXPECT_THAT(differences("quarantined item", json_of(item)), IsEmpty());
}

TEST(JsonMembers, DocumentRecords) {
  known_names names;
  log_record record;
  record.content = meta_record{meta_change::topic_put, 0, "orders", 4, {}};
  names.learn(record);
  EXPECT_THAT(differences("record", json_of(record, true, names)), IsEmpty());
  message_record half;
  half.transaction = position{8};
  record.content = half;
  EXPECT_THAT(differences("record", json_of(record, true, names)), IsEmpty());
  record.content = move_record{position{8}, half};
  EXPECT_THAT(differences("record", json_of(record, true, names)), IsEmpty());
  record.content = decide_record{};
  EXPECT_THAT(differences("record", json_of(record, true, names)), IsEmpty());
  record.content = checked_record{};
  EXPECT_THAT(differences("record", json_of(record, true, names)), IsEmpty());
}

TEST(JsonMembers, HaveDistinctPathsAndAMeaning) {
  for (const auto& shape : json_shapes()) {
    std::set<std::string_view> seen;
    for (const auto& member : shape.members) {
      EXPECT_TRUE(seen.insert(member.path).second) << shape.name << ": " << member.path;
      EXPECT_FALSE(member.meaning.empty());
    }
  }
}

} // namespace
} // namespace handfast::cli
