#include "actors/client/admin.hpp"
#include "runtime/cli/command_table.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/status_view.hpp"

#include <ostream>

namespace handfast::cli {

namespace {

struct given {
  bool verbose = false;
  bool json = false;
};

exit_code status(context& with, const given& what) {
  auto report = client::admin{with.node()}.status();
  if (!report)
    return with.refuse("status", report.why());
  auto parsed = json::parse(report.value(), nullptr, false);
  if (!parsed.is_object()) {
    complain(with.io, "the status of " + with.server() + " is not a JSON object",
             "Compare the versions of this program and the node");
    return exit_refused;
  }
  if (what.json)
    with.io.out << page_of(parsed) << '\n';
  else if (what.verbose)
    print_samples(with.io.out, parsed, with.io.colours, with.io.width);
  else
    print_summary(with.io.out, parsed, with.io.colours, with.io.width);
  return flush(with.io) ? exit_done : exit_refused;
}

} // namespace

void add_status_command(menu& to) {
  auto what = std::make_shared<given>();
  auto& app = to.add_client({"status", "Show how a node is doing", "handfast status"},
                            [what](context& with) { return status(with, *what); });
  app.add_flag("--verbose", what->verbose, "Every sample of every actor instead of a summary");
  add_json_flag(app, what->json, "everything as a JSON object");
}

} // namespace handfast::cli
