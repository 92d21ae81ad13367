// The tried addresses of a host, their time limits, and the error for the caller.
#include "outbound/wire/address_trial.h"

#include <catch2/catch.hpp>

using namespace coffer;
using namespace coffer::outbound;

namespace {

constexpr int kTimeoutMs = 60'000;

/// The last of `faults.size() + 1` addresses responds; the others fail with their fault.
struct Host {
  std::vector<Slug> faults;
  std::vector<http::ClientRequest> asked;

  Result<http::ClientResponse> ask(const std::vector<std::string>& addresses,
                                   int timeout_ms = kTimeoutMs, int connect_max_ms = kTimeoutMs) {
    http::ClientRequest request = request_to(*parse_url("https://pay.example:8443/a?b=c"));
    request.connect_timeout_ms = connect_max_ms;
    return send_to_any(std::move(request), addresses, Deadline(timeout_ms),
                       [this](const http::ClientRequest& attempt) -> Result<http::ClientResponse> {
                         asked.push_back(attempt);
                         if (asked.size() <= faults.size())
                           return unexpected(faults[asked.size() - 1]);
                         return http::ClientResponse{.status = 204, .headers = {}, .body = {}};
                       });
  }
};

const std::vector<std::string> kTwo = {"192.0.2.1", "2001:db8::1"};

}  // namespace

TEST_CASE("the first address that responds is used", "[address_trial]") {
  Host host;
  CHECK(host.ask(kTwo)->status == 204);
  REQUIRE(host.asked.size() == 1);
  CHECK(host.asked[0].address == "192.0.2.1");
  CHECK(host.asked[0].tls);
  CHECK(host.asked[0].host == "pay.example");
  CHECK(host.asked[0].port == 8443);
  CHECK(host.asked[0].target == "/a?b=c");
}

TEST_CASE("the next address is tried only if nothing was sent to the first", "[address_trial]") {
  Host rejected{.faults = {Slug::provider_unavailable}, .asked = {}};
  CHECK(rejected.ask(kTwo)->status == 204);
  REQUIRE(rejected.asked.size() == 2);
  CHECK(rejected.asked[1].address == "2001:db8::1");

  for (const Slug slug : {Slug::provider_timeout, Slug::provider_error, Slug::malformed_request}) {
    Host host{.faults = {slug}, .asked = {}};
    CHECK(host.ask(kTwo).error().slug == slug);
    CHECK(host.asked.size() == 1);
  }
}

TEST_CASE("the error says most about an address at which a server listens", "[address_trial]") {
  const std::string refused(http::kNotConnected);
  const std::string certificate = "No connection: the certificate is not accepted.";
  const auto error_of = [](const std::string& first, const std::string& second) {
    int asked = 0;
    const auto send = [&](const http::ClientRequest&) -> Result<http::ClientResponse> {
      return unexpected(Slug::provider_unavailable, asked++ == 0 ? first : second);
    };
    const auto result = send_to_any({}, kTwo, Deadline(kTimeoutMs), send);
    CHECK(asked == 2);
    return result.error().detail;
  };
  CHECK(error_of(certificate, refused) == certificate);
  CHECK(error_of(refused, certificate) == certificate);
  CHECK(error_of(refused, refused) == refused);
  CHECK(error_of(certificate, "later") == "later");
}

TEST_CASE("without an address, or without time, no request is sent", "[address_trial]") {
  Host host;
  CHECK(host.ask({}).error().slug == Slug::provider_unavailable);
  CHECK(host.ask(kTwo, 0).error().slug == Slug::provider_timeout);
  CHECK(host.asked.empty());
}

TEST_CASE("an address has a share of the time to connect, and the whole time to respond",
          "[address_trial]") {
  Host host{.faults = {Slug::provider_unavailable}, .asked = {}};
  REQUIRE(host.ask(kTwo));
  // A minute, of which the test uses almost nothing.
  CHECK(host.asked[0].connect_timeout_ms > 20'000);
  CHECK(host.asked[0].connect_timeout_ms <= 30'000);
  CHECK(host.asked[1].connect_timeout_ms > 50'000);
  CHECK(host.asked[1].total_timeout_ms > 50'000);

  Host capped;
  REQUIRE(capped.ask(kTwo, kTimeoutMs, 5'000));
  CHECK(capped.asked[0].connect_timeout_ms == 5'000);
  CHECK(capped.asked[0].total_timeout_ms > 50'000);
}
