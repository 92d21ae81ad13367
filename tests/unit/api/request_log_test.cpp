// The queue of the request log is bounded, and never delays or fails a request.
#include "api/pipeline/request_log.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "api/about/openapi.h"
#include "api/pipeline/routes.h"

using namespace coffer;
using api::RequestLog;
using api::RequestTrace;

namespace {

namespace fs = std::filesystem;

struct World {
  explicit World(api::RequestLogOptions options = {}) {
    std::string name = (fs::temp_directory_path() / "coffer-request-log-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder = name;
    options.limits = {86'400'000, 64 * 1024 * 1024};
    log = std::make_unique<RequestLog>(
        file(), options, clock, metrics, [this] { return room; }, api::document_redactor);
  }
  ~World() {
    log.reset();
    fs::remove_all(folder);
  }
  std::string file() const { return folder + "/a.requests.db"; }
  std::uint64_t count(const char* result) {
    return metrics.counter("coffer_request_log_entries_total", "", {{"result", result}}).value();
  }
  void note(int status = 202) {
    http::Response response;
    response.status = status;
    response.body = body;
    log->note(request, response, trace, 100);
  }
  std::vector<store::RequestRow> rows() {
    while (log->write_batch() > 0) {
    }
    return store::newest_requests(file(), {}, {.limit = 10'000}).rows;
  }

  std::string folder;
  ManualClock clock;
  Metrics metrics;
  bool room = true;
  http::Request request;
  RequestTrace trace;
  std::string body;
  std::unique_ptr<RequestLog> log;
};

/// A transfer of a sandbox or production application.
void prepare(World& world, Environment environment) {
  Caller caller;
  caller.tenant.environment = environment;
  world.request.method = "POST";
  world.request.path = "/v1/payments/p2p/own";
  world.request.request_id = "request-1";
  world.request.body = R"({"transactionId":"order-1","description":"Rent of Amina"})";
  world.trace.route = &api::find_operation("transferBetweenOwnWallets");
  world.trace.caller = caller;
  world.body =
      R"({"transactionRecordId":"0198f3a1-3c77-7e09-a4d2-9b1f6c8e0d60","status":"accepted"})";
}

}  // namespace

TEST_CASE("a request is recorded with its payment and, if configured, its redacted bodies") {
  for (const auto& [environment, kept] :
       {std::pair(Environment::sandbox, true), std::pair(Environment::production, false)}) {
    World world({.limits = {}, .sandbox_bodies = true});
    prepare(world, environment);
    world.note();
    REQUIRE(world.rows().size() == 1);
    const auto row = store::find_request(world.file(), "request-1", std::nullopt);
    REQUIRE(row.has_value());
    REQUIRE(row->payment.has_value());
    CHECK(row->payment->to_string() == "0198f3a1-3c77-7e09-a4d2-9b1f6c8e0d60");
    CHECK(row->operation == "transferBetweenOwnWallets");
    CHECK(row->environment == environment);
    CHECK(row->request_body.has_value() == kept);
    CHECK(row->response_body.has_value() == kept);
    if (kept) {
      CHECK(row->request_body == R"({"transactionId":"order-1","description":"[redacted]"})");
    }
  }
}

TEST_CASE("the request log keeps no problem that quotes what it does not keep of the request") {
  World world({.limits = {}, .sandbox_bodies = true});
  prepare(world, Environment::sandbox);
  const auto logged = [&](const char* id, int status) {
    world.request.request_id = id;
    world.note(status);
    REQUIRE_FALSE(world.rows().empty());
    return store::find_request(world.file(), id, std::nullopt)->response_body;
  };
  // This body cannot be read, so it is not known what the problem quotes of it.
  world.request.body = R"({"metadata":{"hunter2":1,"hunter2":2}})";
  world.body = R"({"detail":"The member at `metadata.hunter2` appears twice."})";
  CHECK_FALSE(logged("request-2", 400).has_value());
  world.request.method = "GET";
  world.request.body.clear();
  world.request.path = "/v1/wallets/hunter2";
  world.trace.route = &api::find_operation("getWallet");
  world.body = R"({"instance":"/v1/wallets/hunter2"})";
  CHECK(logged("request-3", 404) == R"({"instance":"/v1/wallets/[redacted]"})");
}

TEST_CASE("a full request log queue drops entries, and keeps its last quarter for failures") {
  World world;
  prepare(world, Environment::sandbox);
  constexpr int kRoom = RequestLog::kEntriesMax;
  for (int i = 0; i < kRoom; ++i) world.note();
  CHECK(world.count("dropped") == kRoom / 4);
  for (int i = 0; i < kRoom; ++i) world.note(422);
  CHECK(world.count("dropped") == kRoom / 4 + 3 * kRoom / 4);
  CHECK(world.rows().size() == kRoom);
  CHECK(world.count("written") == kRoom);
}

TEST_CASE("on a full disk, requests are counted but not recorded") {
  World world;
  prepare(world, Environment::sandbox);
  world.room = false;
  world.note();
  CHECK(world.rows().empty());
  CHECK(world.count("dropped") == 1);
  world.room = true;
  world.note();
  CHECK(world.rows().size() == 1);
}

TEST_CASE("a request log that cannot be written counts its entries, and continues later") {
  World world;
  prepare(world, Environment::sandbox);
  fs::create_directory(world.file());
  world.note();
  CHECK_THROWS(world.log->write_batch());
  CHECK(world.count("dropped") == 1);
  fs::remove(world.file());
  world.note();
  CHECK(world.rows().size() == 1);
}

TEST_CASE("the request log removes what a path or a query of a route does not declare") {
  struct Row {
    const char* path;
    const char* shown;
  };
  const std::string id = "/v1/wallets/0198f3a1-3c77-7e09-a4d2-9b1f6c8e0d60";
  const std::string secret = "/gw/v1/wallets/sk_0123456789abcdef0123456789abcdef0123456789abcdef";
  for (const Row& row :
       {Row{id.c_str(), id.c_str()}, Row{"/v1/wallets/hunter2", "/v1/wallets/[redacted]"},
        Row{secret.c_str(), "/gw/v1/wallets/[redacted]"}}) {
    World world;
    prepare(world, Environment::sandbox);
    world.trace.route = &api::find_operation("getWallet");
    world.request.path = row.path;
    world.note(404);
    REQUIRE(world.rows().size() == 1);
    CHECK(world.rows()[0].path == row.shown);
  }
  World world;
  prepare(world, Environment::sandbox);
  world.trace.route = &api::find_operation("listWallets");
  world.request.path = "/v1/wallets";
  world.request.query = {
      {"limit", "5"}, {"status", "hunter2"}, {"cursor", std::string(43, 'k')}, {"hunter2", "1"}};
  world.note(400);
  REQUIRE(world.rows().size() == 1);
  CHECK(world.rows()[0].query == "limit=5&status=[redacted]&cursor=[redacted]&[undeclared]");
  world.trace.route = &api::find_operation("listTransactions");
  world.request.query = {{"metadata[hunter2]", "hunter2"}, {"metadata[hunter2", "1"}};
  world.note(400);
  CHECK(world.rows().front().query == "metadata=[redacted]&[undeclared]");
}

TEST_CASE("the request log keeps only short words of a path without a route") {
  World world;
  world.request.method = "GET";
  world.request.path = "/v1/sk_0123456789abcdef0123456789abcdef";
  world.note(404);
  const auto rows = world.rows();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].path == "/v1/[redacted]");
  world.request.path = "/docs/";
  world.note(404);
  CHECK(world.rows().size() == 1);
}

TEST_CASE("a batch redacts a bounded amount of bodies and records all requests") {
  World world({.limits = {}, .sandbox_bodies = true});
  prepare(world, Environment::sandbox);
  world.request.body = "{\"transactionId\":\"" + std::string(RequestLog::kBodyMax / 2, 'x') + "\"}";
  constexpr int kMany = 100;
  const auto id_of = [](int i) { return "request-" + std::to_string(i); };
  for (int i = 0; i < kMany; ++i) {
    world.request.request_id = id_of(i);
    world.note();
  }
  CHECK(world.rows().size() == kMany);
  int with_body = 0;
  for (int i = 0; i < kMany; ++i) {
    const auto row = store::find_request(world.file(), id_of(i), std::nullopt);
    REQUIRE(row.has_value());
    with_body += row->request_body ? 1 : 0;
  }
  CHECK(with_body > 0);
  CHECK(with_body < kMany);
}

TEST_CASE("bodies over 16 KiB and streamed responses are recorded by their size") {
  World world({.limits = {}, .sandbox_bodies = true});
  prepare(world, Environment::sandbox);
  world.request.body = "{\"transactionId\":\"" + std::string(RequestLog::kBodyMax, 'x') + "\"}";
  http::Response response;
  response.stream = [](const http::Sink&) { return true; };
  world.log->note(world.request, response, world.trace, 100);
  CHECK(world.rows().size() == 1);
  const auto row = store::find_request(world.file(), "request-1", std::nullopt);
  REQUIRE(row.has_value());
  CHECK_FALSE(row->request_body.has_value());
  CHECK_FALSE(row->response_body.has_value());
  CHECK(row->request_bytes > static_cast<std::int64_t>(RequestLog::kBodyMax));
}
