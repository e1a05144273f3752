#include "runtime/cli/name_refusal.hpp"

#include "actors/client/admin.hpp"
#include "messages/names.hpp"
#include "runtime/cli/suggest.hpp"

namespace handfast::cli {

namespace {

std::string meant_text(const std::optional<std::string>& meant) {
  return meant ? "Did you mean '" + *meant + "'? Else " : "";
}

std::string capitalised(std::string sentence, bool begins) {
  if (begins)
    sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  return sentence;
}

} // namespace

exit_code refuse_topic(context& with, const std::string& name, const error& why, bool for_sending) {
  if (why.code != ec::unknown_topic)
    return with.refuse("topic " + printable(name), why);
  std::vector<std::string> names;
  if (auto topics = client::admin{with.node()}.topics())
    for (const auto& topic : topics.value())
      names.push_back(topic.info.name);
  auto meant = nearest(name, names);
  auto todo = "create it with `handfast topic create " + name + "`" +
              (for_sending ? ", or set `topic.auto_create = true`" : "");
  complain(with.io, "topic " + printable(name) + " does not exist",
           meant_text(meant) + capitalised(todo, !meant));
  return exit_refused;
}

exit_code refuse_group(context& with, const std::string& name, const error& why) {
  if (why.code != ec::unknown_group)
    return with.refuse("group " + printable(name), why);
  std::vector<std::string> names;
  if (auto groups = client::admin{with.node()}.groups())
    for (const auto& group : groups.value())
      names.push_back(group.name);
  auto meant = nearest(name, names);
  complain(with.io, "no group " + printable(name) + " is known",
           meant_text(meant) + capitalised("see `handfast group list`", !meant));
  return exit_refused;
}

} // namespace handfast::cli
