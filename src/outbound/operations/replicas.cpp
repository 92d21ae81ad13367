#include "outbound/operations/replicas.h"

#include "outbound/wire/address_trial.h"
#include "outbound/wire/url.h"

namespace coffer::outbound {
namespace {

constexpr int kReplicaTimeoutMs = 3'000;
constexpr int kReady = 200;

}  // namespace

std::string check_replica(const std::string& url) {
  if (parse_url(url + "/readyz")) return {};
  return "\"" + url + "\" is not a URL. Write http://HOST:PORT or https://HOST:PORT";
}

ReplicaStates ask_replicas(const std::vector<std::string>& urls, http::Client& client,
                           Resolver& resolver) {
  ReplicaStates out;
  for (const std::string& url : urls) {
    const auto target = parse_url(url + "/readyz?role=follower");
    http::ClientRequest request = request_to(*target);
    request.connect_timeout_ms = kReplicaTimeoutMs;
    const auto response = send_to_host(std::move(request), client, resolver, kReplicaTimeoutMs);
    if (!response) ++out.missing;
    if (response && response->status != kReady) ++out.lagging;
  }
  return out;
}

}  // namespace coffer::outbound
