#include "outbound/operations/replicas.h"

#include <catch2/catch.hpp>

#include "unit/http/running_server.h"

using namespace coffer;
using namespace coffer::outbound;

TEST_CASE("replicas: those that do not respond, and those that are no followers up to date") {
  std::string asked;
  const auto respond = [&asked](int status) {
    return [&asked, status](http::Request& request) {
      asked = request.path + "?role=" + *request.query_value("role");
      http::Response out;
      out.status = status;
      return out;
    };
  };
  http::test::RunningServer ready({}, respond(200));
  http::test::RunningServer behind({}, respond(503));
  http::Client client("");
  CaresResolver resolver;
  const auto url = [](int port) { return "http://127.0.0.1:" + std::to_string(port); };
  const auto ask = [&](const std::vector<std::string>& urls) {
    const ReplicaStates out = ask_replicas(urls, client, resolver);
    return std::pair(out.missing, out.lagging);
  };
  CHECK(ask({}) == std::pair(0, 0));
  CHECK(ask({url(ready.port())}) == std::pair(0, 0));
  CHECK(asked == "/readyz?role=follower");
  CHECK(ask({url(behind.port()), url(ready.port()), url(1)}) == std::pair(1, 1));
}

TEST_CASE("replicas: an address is a URL") {
  CHECK(check_replica("http://10.0.0.2:8080").empty());
  CHECK(check_replica("https://b.example").empty());
  for (const char* wrong : {"", "10.0.0.2:8080", "ftp://b", "http://"}) {
    INFO(wrong);
    CHECK_FALSE(check_replica(wrong).empty());
  }
}
