// Which addresses of a host are asked, how long each may take, and what the caller learns.
#include "outbound/wire/address_trial.h"

#include <catch2/catch.hpp>

using namespace coffer;
using namespace coffer::outbound;

namespace {

constexpr int kTimeoutMs = 60'000;

bool always(const Problem&) { return true; }
bool unless_sent(const Problem& problem) { return problem.slug == Slug::provider_unavailable; }

/// Answers from the last of `faults.size() + 1` addresses; the others fail as they are told.
struct Host {
  std::vector<Slug> faults;
  std::vector<http::ClientRequest> asked;

  Result<http::ClientResponse> ask(const std::vector<std::string>& addresses,
                                   MayAskElsewhere may_ask_elsewhere, int timeout_ms = kTimeoutMs,
                                   int connect_max_ms = kTimeoutMs) {
    http::ClientRequest request = request_to(*parse_url("https://pay.example:8443/a?b=c"));
    request.connect_timeout_ms = connect_max_ms;
    return send_to_any(
        std::move(request), addresses, Deadline(timeout_ms),
        [this](const http::ClientRequest& attempt) -> Result<http::ClientResponse> {
          asked.push_back(attempt);
          if (asked.size() <= faults.size()) return unexpected(faults[asked.size() - 1]);
          return http::ClientResponse{.status = 204, .headers = {}, .body = {}};
        },
        may_ask_elsewhere);
  }
};

const std::vector<std::string> kTwo = {"192.0.2.1", "2001:db8::1"};

}  // namespace

TEST_CASE("the first address that answers is enough", "[address_trial]") {
  Host host;
  CHECK(host.ask(kTwo, always)->status == 204);
  REQUIRE(host.asked.size() == 1);
  CHECK(host.asked[0].address == "192.0.2.1");
  CHECK(host.asked[0].tls);
  CHECK(host.asked[0].host == "pay.example");
  CHECK(host.asked[0].port == 8443);
  CHECK(host.asked[0].target == "/a?b=c");
}

TEST_CASE("the next one is asked only where that does no harm", "[address_trial]") {
  Host refused{.faults = {Slug::provider_unavailable}, .asked = {}};
  CHECK(refused.ask(kTwo, unless_sent)->status == 204);
  REQUIRE(refused.asked.size() == 2);
  CHECK(refused.asked[1].address == "2001:db8::1");

  Host silent{.faults = {Slug::provider_timeout}, .asked = {}};
  CHECK(silent.ask(kTwo, unless_sent).error().slug == Slug::provider_timeout);
  CHECK(silent.asked.size() == 1);

  Host broken{.faults = {Slug::provider_timeout, Slug::provider_error}, .asked = {}};
  CHECK(broken.ask(kTwo, always).error().slug == Slug::provider_error);
  CHECK(broken.asked.size() == 2);
}

TEST_CASE("without an address, or without time, nobody is asked", "[address_trial]") {
  Host host;
  CHECK(host.ask({}, always).error().slug == Slug::provider_unavailable);
  CHECK(host.ask(kTwo, always, 0).error().slug == Slug::provider_timeout);
  CHECK(host.asked.empty());
}

TEST_CASE("an address has its share of the time to connect, and all of it to answer",
          "[address_trial]") {
  Host host{.faults = {Slug::provider_unavailable}, .asked = {}};
  REQUIRE(host.ask(kTwo, always));
  // A minute of which the test takes next to nothing.
  CHECK(host.asked[0].connect_timeout_ms > 20'000);
  CHECK(host.asked[0].connect_timeout_ms <= 30'000);
  CHECK(host.asked[1].connect_timeout_ms > 50'000);
  CHECK(host.asked[1].total_timeout_ms > 50'000);

  Host capped;
  REQUIRE(capped.ask(kTwo, always, kTimeoutMs, 5'000));
  CHECK(capped.asked[0].connect_timeout_ms == 5'000);
  CHECK(capped.asked[0].total_timeout_ms > 50'000);
}
