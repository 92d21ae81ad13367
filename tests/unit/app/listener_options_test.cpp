// The settings of the API's listener apply to a leader and to a follower.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "app/listeners.h"
#include "app/standby.h"
#include "base/files/descriptor.h"
#include "config/config_options.h"

using namespace coffer;

namespace listener_options_test {
namespace {

/// A valid value that is not the default; empty if `name` cannot have another one here.
std::string other_value(const ConfigOption& option) {
  const std::string now = config_value_text(option, Config{});
  for (const char* text : {"true", "7", "127.0.0.1:7070", "off", "debug", "json", "/other", "a=1",
                           "wallets=5", "all"}) {
    Config config;
    if (set_config_value(option, text, config) && config_value_text(option, config) != now) {
      return text;
    }
  }
  return {};
}

std::string shown(const http::ServerOptions& options) {
  const auto text = [](auto value) { return std::to_string(value) + ' '; };
  std::string out = options.host + ' ' + text(options.port) + text(options.workers) +
                    options.tls_cert_file + ' ' + options.tls_key_file + ' ' +
                    options.tls_client_ca_file + ' ' + text(options.limits.connections_max) +
                    text(options.limits.connections_per_network_max) + text(options.limits.idle_ms);
  for (const auto& lane : options.lanes) out += text(lane.width);
  return out;
}

int connect_to(int port) {
  const int out = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  REQUIRE(::connect(out, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  return out;
}

/// The begin of the answer to a request.
std::string answer_on(const Descriptor& connection) {
  constexpr std::string_view kRequest = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
  REQUIRE(::send(connection.get(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL) > 0);
  std::string out(12, '\0');
  REQUIRE(::recv(connection.get(), out.data(), out.size(), MSG_WAITALL) == 12);
  return out;
}

}  // namespace

TEST_CASE("listener options: the settings that apply to the API's listener") {
  const std::string usual = shown(api_listener_options({}));
  std::set<std::string> effective;
  std::size_t tried = 0;
  for (const ConfigOption& option : config_options()) {
    const std::string value = other_value(option);
    Config config;
    if (value.empty() || !set_config_value(option, value, config)) continue;
    ++tried;
    if (shown(api_listener_options(config)) != usual) effective.insert(std::string(option.name));
  }
  CHECK(tried > config_options().size() * 9 / 10);
  CHECK(effective == std::set<std::string>{"listen_http", "workers", "max_connections",
                                           "idle_timeout_s", "tls_cert", "tls_key",
                                           "tls_client_ca"});
}

TEST_CASE("listener options: a follower has no more connections than the settings allow") {
  Config config;
  config.listen_http.port = 0;
  config.max_connections = 2;
  const SystemClock clock;
  OsRandom random;
  Standby standby(config, clock, random);
  REQUIRE(standby.start());
  const Descriptor first(connect_to(standby.port()));
  CHECK(answer_on(first) == "HTTP/1.1 200");
  const Descriptor second(connect_to(standby.port()));
  CHECK(answer_on(second) == "HTTP/1.1 200");
  const Descriptor third(connect_to(standby.port()));
  CHECK(answer_on(third) == "HTTP/1.1 503");
}

}  // namespace listener_options_test
