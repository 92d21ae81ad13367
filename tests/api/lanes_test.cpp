// Lanes, generated from the route table: each route has one, its requests use it, and a lane whose
// handlers all hang does not delay other lanes.
#include <catch2/catch.hpp>
#include <deque>
#include <set>

#include "base/platform/processors.h"
#include "route_samples.h"
#include "store/database.h"
#include "support/wire.h"
#include "unit/http/raw_client.h"
#include "unit/http/running_server.h"
#include "unit/store/busy_writer.h"

using namespace coffer;
using namespace coffer::test;

namespace {

std::size_t index_of(Lane lane) { return static_cast<std::size_t>(lane); }

/// The listener's view of a request, as the gate reads it.
http::Request head_of(const HttpCall& call) {
  http::Request head;
  head.method = call.method;
  const std::size_t mark = call.target.find('?');
  head.path = call.target.substr(0, mark);
  std::string rest = mark == std::string::npos ? "" : call.target.substr(mark + 1);
  while (!rest.empty()) {
    const std::string part = rest.substr(0, rest.find('&'));
    rest.erase(0, std::min(rest.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    head.query.emplace_back(part.substr(0, equals),
                            equals == std::string::npos ? "" : part.substr(equals + 1));
  }
  head.headers = call.headers;
  head.peer = "127.0.0.1";
  return head;
}

/// Callers without credentials are distinguished by the address that a proxy reports.
void behind_proxy(Config& config) { config.trusted_proxies = {"127.0.0.0/8"}; }

Lane lane_of(TestApp& app, const HttpCall& call) {
  return app.core().pipeline().admit(head_of(call), 0).value().lane;
}

HttpCall with_credentials(const Client& client, HttpCall call) {
  call.headers.emplace_back("x-svc-auth", client.credentials().api_key);
  call.headers.emplace_back("Authorization", "Bearer " + client.token());
  if (!call.body.empty()) call.headers.emplace_back("Content-Type", "application/json");
  return call;
}

/// The application's own listener, whose handlers in one lane stay until `gate` opens.
class HeldLane {
 public:
  HeldLane(TestApp& app, Lane held)
      : server_(
            [&](http::ServerOptions& options) {
              constexpr int kMoneyWidth = 4;
              options.lanes = lane_table(kMoneyWidth, processors());
              options.workers = static_cast<std::size_t>(total_width(options.lanes));
              options.admit = [&app](const http::Request& head, std::uint64_t body_bytes) {
                return app.core().pipeline().admit(head, body_bytes);
              };
              width_ = options.lanes[index_of(held)].width;
              share_ = options.lanes[index_of(held)].share;
            },
            [this, &app, held](http::Request& request) {
              if (app.core().pipeline().admit(request, 0)->lane == held) gate_.wait();
              return app.core().pipeline().handle(request);
            }),
        held_(held) {}
  ~HeldLane() { gate_.open(); }

  int port() const { return server_.port(); }
  int width() const { return width_; }
  LaneStats stats(Lane lane) { return server_->stats().lanes[index_of(lane)]; }

  /// Sends requests from enough callers to fill the lane, and one more that waits.
  void fill(const std::vector<HttpCall>& calls) {
    for (int sent = 0; sent <= width_; ++sent) {
      const auto caller = static_cast<std::size_t>(sent / share_);
      HttpCall call = calls.at(caller % calls.size());
      // Without an application, callers are distinguished by the address that a proxy reports.
      call.headers.emplace_back("X-Forwarded-For", "10.0.0." + std::to_string(caller + 1));
      std::string text = call.method + " " + call.target + " HTTP/1.1\r\nHost: a\r\n";
      for (const auto& [name, value] : call.headers) text += name + ": " + value + "\r\n";
      text += "Content-Length: " + std::to_string(call.body.size()) + "\r\n\r\n" + call.body;
      clients_.emplace_back(server_.port()).send(text);
      REQUIRE(server_.eventually([&](const http::ServerStats& stats) {
        const LaneStats& lane = stats.lanes[index_of(held_)];
        return lane.running == std::min(sent + 1, width_) && lane.waiting == sent / width_;
      }));
    }
  }
  /// Opens the gate, and every held request gets its response.
  void release() {
    gate_.open();
    for (auto& client : clients_) CHECK(http::test::status_of(client.read_response(20'000)) > 0);
  }

 private:
  http::test::Gatekeeper gate_;
  int width_ = 0;
  int share_ = 1;
  http::test::RunningServer server_;
  const Lane held_;
  std::deque<http::test::RawClient> clients_;
};

/// A route of the lane whose sample alone is a valid request, or nullptr.
const api::Route* sample_route(Lane lane) {
  for (const api::Route& route : api::routes()) {
    const bool takes_token = route.access == api::Access::application;
    if (route.lane == lane && (takes_token || !api::is_guarded(route.access))) return &route;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("lanes: every request is in the lane of its route, with both prefixes") {
  TestApp app(behind_proxy);
  const Names mine = belongings_of(app, app.me());
  std::set<Lane> used;
  for (const api::Route& route : api::routes()) {
    INFO(route.operation);
    used.insert(route.lane);
    HttpCall call = sample_of(route).call(mine);
    CHECK(lane_of(app, call) == route.lane);
    if (!route.pattern.starts_with("/v1/")) continue;
    call.target = "/gw" + call.target;
    CHECK(lane_of(app, call) == route.lane);
  }
  // All lanes except that of admin commands, which are not routes, and free text without `q`.
  CHECK(used.size() == kLaneCount - 2);
  CHECK(lane_of(app, {"GET", "/nothing/at/all"}) == Lane::system);
  CHECK(lane_of(app, {"PATCH", "/v1/assets"}) == Lane::system);
}

TEST_CASE("lanes: the declarations of a route match its lane") {
  for (const api::Route& route : api::routes()) {
    INFO(route.operation);
    const auto slugs = api::problems_of(route);
    const auto gives = [&](Slug slug) {
      return std::find(slugs.begin(), slugs.end(), slug) != slugs.end();
    };
    // A handler that can report a slow machine waits for it.
    const bool waits = gives(Slug::provider_timeout) || gives(Slug::token_verification_timeout);
    CHECK(waits == (route.lane == Lane::outbound));
    if (route.moves_money && !waits) CHECK(route.lane == Lane::money);
    if (route.lane == Lane::system) CHECK(route.access == api::Access::open);
    // The credentials of a large body are checked before it is accepted, without a call to another
    // machine.
    if (route.body_bytes_max > api::kBodyBytesMax) {
      CHECK(api::is_guarded(route.access));
      CHECK(route.access != api::Access::business);
    }
  }
}

TEST_CASE("lanes: a query that needs more work has its own lane") {
  TestApp app(behind_proxy);
  const Names mine = belongings_of(app, app.me());
  for (const api::Route& route : api::routes()) {
    INFO(route.operation);
    const HttpCall plain = sample_of(route).call(mine);
    for (const api::QueryParam& param : route.query) {
      HttpCall call = plain;
      call.target = with_query(call.target, std::string(param.name) + "=x");
      if (param.lane) CHECK(lane_of(app, call) == *param.lane);
    }
  }
  CHECK(lane_of(app, {"GET", "/v1/beneficiaries?q=a"}) == Lane::search);
  CHECK(lane_of(app, {"GET", "/v1/beneficiaries"}) == Lane::read);
  CHECK(lane_of(app, {"POST", "/v1/payments/p2p/own/validate"}) == Lane::money);
}

TEST_CASE("lanes: no request in a lane for reads waits for the writer") {
  TestApp app;
  Names mine = belongings_of(app, app.me());
  add_payment_samples(app, app.me(), mine);
  for (const api::Route& route : api::routes()) {
    const bool reads = route.lane == Lane::system || route.lane == Lane::read ||
                       route.lane == Lane::search || route.lane == Lane::exports;
    if (!reads) continue;
    INFO(route.operation);
    Mutex mutex;
    Condition changed;
    bool answered = false;
    store::test::BusyWriter busy(app.core().queue());
    Thread caller("caller", [&] {
      app.me().send(sample_of(route).call(mine));
      const Lock lock(mutex);
      answered = true;
      changed.notify_all();
    });
    {
      const Lock lock(mutex);
      for (int tries = 0; !answered && tries < 50; ++tries) changed.wait_for_ms(mutex, 100);
      CHECK(answered);
    }
    busy.open();
    caller.join();
  }
}

TEST_CASE("lanes: while all handlers of a lane hang, every other lane serves immediately") {
  TestApp app(behind_proxy);
  const Names mine = belongings_of(app, app.me());
  std::vector<Client> callers{app.me(), app.stranger(), app.stranger(), app.stranger()};
  for (std::size_t full = 0; full < kLaneCount; ++full) {
    const auto lane = static_cast<Lane>(full);
    const api::Route* route = sample_route(lane);
    if (route == nullptr && lane != Lane::search) continue;
    INFO("full: " << name(lane));
    std::vector<HttpCall> calls;
    for (const Client& caller : callers) {
      caller.get("/v1/assets");  // from here on its credentials are known
      const HttpCall call = lane == Lane::search ? HttpCall{"GET", "/v1/beneficiaries?q=a"}
                                                 : sample_of(*route).call(mine);
      const bool shows = lane == Lane::search || api::is_guarded(route->access);
      calls.push_back(shows ? with_credentials(caller, call) : call);
    }
    HeldLane server(app, lane);
    server.fill(calls);
    for (std::size_t i = 0; i < kLaneCount; ++i) {
      const auto other = static_cast<Lane>(i);
      const api::Route* sample = sample_route(other);
      if (other == lane || sample == nullptr) continue;
      INFO("asked: " << sample->operation);
      for (int n = 0; n < 3; ++n) {
        const HttpCall call = sample_of(*sample).call(mine);
        const Reply reply = send_over_wire(server.port(), with_credentials(app.me(), call));
        INFO(reply.text().substr(0, 300));
        CHECK(reply.status != 0);
        // This test sends many wrong passwords; the handler itself returns their limit.
        const bool handled = reply.text().find("failed attempts") != std::string::npos;
        CHECK((reply.status != 429 || handled));
        CHECK(reply.status != 503);
      }
      CHECK(server.stats(other).rejected == 0);
      CHECK(server.stats(other).running == 0);
    }
    CHECK(server.stats(lane).running == server.width());
    CHECK(server.stats(lane).waiting == 1);
    server.release();
  }
}

TEST_CASE("lanes: only known applications have their own share; invented ones do not") {
  TestApp app(behind_proxy);
  const Client stranger = app.stranger();
  const auto caller = [&](const std::string& secret, const std::string& peer) {
    http::Request head = head_of({"GET", "/v1/wallets", {{"x-svc-auth", secret}}});
    head.peer = peer;
    return app.core().pipeline().admit(head, 0).value().caller;
  };
  app.restart();
  const std::string key = app.me().credentials().api_key;
  CHECK_FALSE(caller(key, "192.0.2.1").is_application);
  CHECK(caller(key, "192.0.2.1").id == caller("invented", "192.0.2.1").id);
  CHECK(caller("other", "192.0.2.1").id == caller("invented", "192.0.2.1").id);
  CHECK(caller("other", "192.0.2.2").id != caller("invented", "192.0.2.1").id);
  // An IPv6 subscriber has a whole /64.
  CHECK(caller("x", "2001:db8::1").id == caller("x", "2001:db8::2:1").id);
  CHECK(caller("x", "2001:db8::1").id != caller("x", "2001:db8:0:1::1").id);
  CHECK(app.me().get("/v1/wallets").status == 200);
  CHECK(caller(key, "192.0.2.1").is_application);
  CHECK(caller(key, "192.0.2.1").id == caller(key, "198.51.100.7").id);
  CHECK(caller(key, "192.0.2.1").id != caller("invented", "192.0.2.1").id);
  CHECK_FALSE(caller(stranger.credentials().api_key, "192.0.2.1").is_application);
}

TEST_CASE("lanes: a large body is accepted only with valid credentials and on its routes") {
  TestApp app(behind_proxy);
  constexpr std::uint64_t kLarge = 1'000'000;
  const HttpCall bulk{"POST", "/v1/beneficiaries/bulk"};
  const auto rejected = [&](const HttpCall& call) {
    const auto admitted = app.core().pipeline().admit(head_of(call), kLarge);
    return admitted ? Slug::not_found : admitted.error().slug;
  };
  CHECK(rejected(bulk) == Slug::unauthorized);
  HttpCall wrong = with_credentials(app.me(), bulk);
  wrong.headers[0].second = "invented";
  CHECK(rejected(wrong) == Slug::unauthorized);
  CHECK(app.core()
            .pipeline()
            .admit(head_of(with_credentials(app.me(), bulk)), kLarge)
            ->body_bytes_max >= kLarge);
  const auto nothing = app.core().pipeline().admit(head_of({"POST", "/nothing/bulk"}), kLarge);
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().slug == Slug::not_found);
  CHECK(app.core().pipeline().admit(head_of({"POST", "/nothing/bulk"}), 0)->body_bytes_max <=
        4'096);
  for (const api::Route& route : api::routes()) {
    INFO(route.operation);
    const Names none = nobodys_belongings(app);
    const auto admitted = app.core().pipeline().admit(head_of(sample_of(route).call(none)), kLarge);
    if (admitted) CHECK(admitted->body_bytes_max < kLarge);
  }
}

TEST_CASE("lanes: incomplete large bodies of strangers do not block the bulk route") {
  TestApp app(behind_proxy);
  app.listen();
  const std::string half = " HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n{";
  std::deque<http::test::RawClient> strangers;
  for (int i = 0; i < 64; ++i) {
    strangers.emplace_back(app.core().listeners().port()).send("POST /nothing/bulk" + half);
    strangers.emplace_back(app.core().listeners().port())
        .send("POST /v1/beneficiaries/bulk" + half);
  }
  for (int i = 0; i < 12; ++i) {
    Json rows = Json::array();
    for (int n = 0; n < 100; ++n) {
      rows.push_back({{"type", "individual"},
                      {"individual", {{"firstName", std::string(600, 'a')}, {"lastName", "b"}}}});
    }
    const Reply reply =
        app.me().over_wire().post("/v1/beneficiaries/bulk", {{"beneficiaries", rows}});
    INFO(reply.text().substr(0, 300));
    CHECK(reply.status == 200);
  }
}

TEST_CASE("lanes: requests use only the database connections of their lane") {
  TestApp app(behind_proxy);
  const Names mine = belongings_of(app, app.me());
  struct Row {
    Lane lane;
    store::Readers readers;
    HttpCall call;
  };
  const auto sample = [&](const char* operation) {
    return sample_of(api::find_operation(operation)).call(mine);
  };
  const std::vector<Row> rows{
      {Lane::system, store::Readers::system, sample("ready")},
      {Lane::money, store::Readers::money, sample("transferBetweenOwnWallets")},
      {Lane::read, store::Readers::read, sample("listWallets")},
      {Lane::search, store::Readers::search, {"GET", "/v1/beneficiaries?q=a"}},
      {Lane::exports, store::Readers::exports, sample("getStatementCsv")},
      {Lane::outbound, store::Readers::money, sample("createQuote")},
      {Lane::bulk, store::Readers::money, sample("createBeneficiaries")},
  };
  for (const Row& row : rows) {
    INFO(name(row.lane));
    REQUIRE(lane_of(app, row.call) == row.lane);
    std::vector<store::Reader> held;
    for (const store::ReadersKind& kind : store::kReaders) {
      if (kind.pool == row.readers) continue;
      const store::ReadersScope scope(kind.pool);
      const auto stats = app.core().database().reader_stats();
      const int size = stats[static_cast<std::size_t>(kind.pool)].size;
      for (int n = 0; n < size; ++n) held.push_back(app.core().database().reader().value());
    }
    const Reply reply = app.me().send(row.call);
    INFO(reply.text().substr(0, 300));
    CHECK(reply.status >= 200);
    CHECK(reply.status < 300);
  }
}
