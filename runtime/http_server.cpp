#include "runtime/http_server.hpp"

#include <httplib.h>
#include <nlohmann/json.hpp>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <cerrno>
#include <csignal>
#include <map>
#include <system_error>

namespace handfast::runtime {

namespace {

constexpr std::size_t answering_threads = 1;

/// Reads `name="value",name="value"`; quotes inside a value are escaped with a backslash.
std::vector<prometheus::ClientMetric::Label> labels_of(std::string_view text) {
  std::vector<prometheus::ClientMetric::Label> labels;
  while (!text.empty()) {
    const auto equals = text.find("=\"");
    if (equals == std::string_view::npos)
      break;
    prometheus::ClientMetric::Label label{std::string{text.substr(0, equals)}, {}};
    text.remove_prefix(equals + 2);
    while (!text.empty() && text.front() != '"') {
      if (text.front() == '\\' && text.size() > 1)
        text.remove_prefix(1);
      label.value += text.front();
      text.remove_prefix(1);
    }
    labels.push_back(std::move(label));
    text.remove_prefix(std::min<std::size_t>(1, text.size()));
    if (text.starts_with(','))
      text.remove_prefix(1);
  }
  return labels;
}

void answer(httplib::Response& to, int status, std::string text,
            const char* type = "text/plain; charset=utf-8") {
  to.status = status;
  to.set_content(std::move(text), type);
}

} // namespace

std::string prometheus_text(const node_status& status) {
  std::map<std::string, prometheus::MetricFamily> families;
  for (const auto& report : status.actors)
    for (const auto& one : report.samples) {
      auto& family = families[one.name];
      family.name = one.name;
      const bool counts = one.name.ends_with("_total");
      family.type = counts ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
      prometheus::ClientMetric metric;
      metric.label = labels_of(one.labels);
      (counts ? metric.counter.value : metric.gauge.value) = one.value;
      family.metric.push_back(std::move(metric));
    }
  auto& silent = families["handfast_actors_not_answering"];
  silent.name = "handfast_actors_not_answering";
  silent.type = prometheus::MetricType::Gauge;
  silent.metric.emplace_back().gauge.value = static_cast<double>(status.not_answering.size());

  std::vector<prometheus::MetricFamily> all;
  all.reserve(families.size());
  for (auto& [name, family] : families)
    all.push_back(std::move(family));
  return prometheus::TextSerializer{}.Serialize(all);
}

std::string json_text(const node_status& status, const std::string& version,
                      const std::string& not_ready) {
  using nlohmann::json;
  json all{{"version", version}, {"ready", not_ready.empty()}};
  if (!not_ready.empty())
    all["not_ready"] = not_ready;
  all["actors"] = json::array();
  all["quarantined"] = json::array();
  for (const auto& report : status.actors) {
    json samples = json::object();
    for (const auto& one : report.samples)
      samples[one.labels.empty() ? one.name : one.name + "{" + one.labels + "}"] = one.value;
    all["actors"].push_back({{"actor", report.actor}, {"samples", std::move(samples)}});
    for (const auto& item : report.quarantined)
      all["quarantined"].push_back(
          {{"actor", report.actor}, {"at", item.at.value}, {"what", item.what}, {"why", item.why}});
  }
  all["not_answering"] = status.not_answering;
  all["restarts"] = json::object();
  for (const auto& [role, count] : status.restarts)
    all["restarts"][role] = count;
  return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

http_server::http_server() : server_{std::make_unique<httplib::Server>()} {}

http_server::~http_server() {
  server_->stop();
  if (thread_.joinable())
    thread_.join();
}

result<std::unique_ptr<http_server>> http_server::start(const config::address& where,
                                                        http_sources sources) {
  std::unique_ptr<http_server> made{new http_server};
  auto& server = *made->server_;
  server.new_task_queue = [] { return new httplib::ThreadPool(answering_threads); };
  // Not the library's SO_REUSEPORT, with which two nodes would share a port without a word.
  server.set_socket_options([](socket_t socket) {
    const int on = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  });
  server.set_keep_alive_max_count(100);
  made->where_ = where;
  errno = 0;
  if (where.port == 0) {
    const int port = server.bind_to_any_port(where.host);
    made->where_.port = static_cast<std::uint16_t>(std::max(port, 0));
  } else if (!server.bind_to_port(where.host, where.port)) {
    made->where_.port = 0;
  }
  if (made->where_.port == 0) {
    if (errno == EADDRINUSE)
      return fail(ec::address_in_use, "cannot listen on " + config::to_string(where) +
                                          ": another process, perhaps another node, listens "
                                          "there. Stop it, or choose another address with `--set "
                                          "listen.http=HOST:PORT` (port 0: any that is free; "
                                          "empty: none)");
    auto text = "cannot listen on " + config::to_string(where) + ": " +
                (errno != 0 ? std::generic_category().message(errno) : "no such address");
    return fail(ec::config_invalid, text + "; check listen.http");
  }
  made->route(std::move(sources));
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  made->thread_ = std::thread{[&server] { server.listen_after_bind(); }};
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  while (!server.is_running()) // a moment; a stop before it would be lost
    std::this_thread::yield();
  return made;
}

void http_server::route(http_sources sources) {
  const auto shared = std::make_shared<const http_sources>(std::move(sources));
  server_->Get("/metrics", [shared](const httplib::Request&, httplib::Response& to) {
    const auto status = shared->status();
    if (status)
      answer(to, 200, prometheus_text(*status), "text/plain; version=0.0.4; charset=utf-8");
    else
      answer(to, 503, to_string(status.error()) + "\n");
  });
  server_->Get("/status", [shared](const httplib::Request&, httplib::Response& to) {
    const auto status = shared->status();
    if (status)
      answer(to, 200, json_text(*status, shared->version, shared->not_ready()), "application/json");
    else
      answer(to, 503, to_string(status.error()) + "\n");
  });
  server_->Get("/readyz", [shared](const httplib::Request&, httplib::Response& to) {
    const auto why = shared->not_ready();
    answer(to, why.empty() ? 200 : 503, why.empty() ? "ready\n" : why + "\n");
  });
  server_->Get("/livez", [shared](const httplib::Request&, httplib::Response& to) {
    const auto status = shared->status();
    answer(to, status ? 200 : 503, status ? "alive\n" : to_string(status.error()) + "\n");
  });
}

} // namespace handfast::runtime
