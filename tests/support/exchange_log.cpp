// The log is next to the test binary as <binary>_exchanges.ndjson. It is written under another name
// and renamed when a whole run has ended, so that a partial run is never judged.
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include "support/exchange_log.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "api/pipeline/routes.h"
#include "base/mutex.h"
#include "http/router.h"

namespace coffer::test {
namespace {

std::filesystem::path log_path() {
  return std::filesystem::read_symlink("/proc/self/exe").string() + "_exchanges.ndjson";
}

struct State {
  Mutex mutex;
  std::ofstream file COFFER_GUARDED_BY(mutex);
  int failed = 0;  // of the main thread, like Catch itself
};

State& state() {
  static State instance;
  return instance;
}

const http::Router& router() {
  static const http::Router instance([] {
    std::vector<http::RoutePattern> patterns;
    for (const api::Route& route : api::routes()) {
      patterns.push_back({std::string(route.method), std::string(route.pattern)});
    }
    return patterns;
  }());
  return instance;
}

void write_down(const api::Route& route, const HttpCall& call, const Reply& reply) {
  const auto header = [](const HeaderList& headers, std::string_view name) {
    for (const auto& [key, value] : headers) {
      if (http::same_name(key, name)) return value;
    }
    return std::string();
  };
  const Json line{{"method", route.method},
                  {"pattern", route.pattern},
                  {"target", call.target},
                  {"status", reply.status},
                  {"requestType", header(call.headers, "Content-Type")},
                  {"authorization", header(call.headers, "Authorization").substr(0, 6)},
                  {"request", call.body},
                  {"responseType", reply.header("Content-Type")},
                  {"response", reply.body}};
  const Lock lock(state().mutex);
  if (!state().file.is_open()) state().file.open(log_path().string() + ".part", std::ios::trunc);
  state().file << line.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

class Listener : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;

  bool assertionEnded(const Catch::AssertionStats& stats) override {
    if (!stats.assertionResult.isOk()) ++state().failed;
    return true;
  }

  void testRunEnded(const Catch::TestRunStats& stats) override {
    const Lock lock(state().mutex);
    if (!state().file.is_open()) return;
    state().file.close();
    const std::string part = log_path().string() + ".part";
    if (m_config->hasTestFilters() || stats.aborting) {
      std::filesystem::remove(part);
    } else {
      std::filesystem::rename(part, log_path());
    }
  }
};

CATCH_REGISTER_LISTENER(Listener)

}  // namespace

const api::Route* find_route(const HttpCall& call) {
  std::string_view path = call.target;
  path = path.substr(0, path.find('?'));
  if (path.starts_with("/gw/v1/")) path.remove_prefix(3);
  const http::RouteMatch match = router().match(call.method, path);
  if (match.kind != http::RouteMatch::Kind::found) return nullptr;
  return &api::routes()[match.index];
}

void observe(const HttpCall& call, const Reply& reply) {
  const std::string slug = reply.slug();
  if (!slug.empty()) {
    // Not reply.json(), because several threads observe, and Catch2's assertions support only one.
    const std::string url = Json::parse(reply.body).value("docUrl", "");
    if (!url.starts_with("http")) FAIL_CHECK("docUrl is not absolute: " << reply.text());
  }
  const api::Route* route = find_route(call);
  // HEAD finds the route of GET, but has no body; other paths have no declared responses.
  if (route == nullptr || call.method != route->method) return;
  const auto declared = api::responses_of(*route);
  const bool known = std::any_of(
      declared.begin(), declared.end(),
      [&](const api::DeclaredResponse& answer) { return answer.status == reply.status; });
  if (!known) {
    FAIL_CHECK(route->operation << " answered the undeclared status " << reply.text());
  }
  if (!slug.empty()) {
    const auto slugs = api::problems_of(*route);
    const bool listed =
        std::any_of(slugs.begin(), slugs.end(), [&](Slug each) { return info(each).name == slug; });
    if (!listed && route->pattern.starts_with("/v1/")) {
      FAIL_CHECK(route->operation << " answered the undeclared problem " << reply.text());
    }
  }
  // The document describes the decompressed content, so only uncompressed responses are logged.
  if (reply.has_header("Content-Encoding")) return;
  if (route->pattern.starts_with("/v1/")) write_down(*route, call, reply);
}

int failed_assertions() { return state().failed; }

}  // namespace coffer::test
