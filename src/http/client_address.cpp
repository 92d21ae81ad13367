#include "http/client_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "base/log.h"

namespace coffer::http {
namespace {

constexpr std::string_view kForwardedFor = "X-Forwarded-For";

/// Removes the last address from a list and returns it. Empty at the beginning of the list.
std::string_view take_last(std::string_view& list) {
  const auto comma = list.rfind(',');
  std::string_view last = comma == list.npos ? list : list.substr(comma + 1);
  list = comma == list.npos ? std::string_view() : list.substr(0, comma);
  const auto begin = std::min(last.find_first_not_of(" \t"), last.size());
  const auto end = last.find_last_not_of(" \t") + 1;  // 0 if only white space is left
  return last.substr(begin, std::max(begin, end) - begin);
}

/// All headers of this name as one list, because a proxy may add a header instead of extending the
/// client's.
std::string forwarded_for(const Request& request) {
  std::string out;
  for (const auto& [name, value] : request.headers) {
    if (!same_name(name, kForwardedFor)) continue;
    if (!out.empty()) out += ',';
    out += value;
  }
  return out;
}

/// Logged once, because a client can send the header too.
void warn_of_ignored(const Request& request) {
  static std::atomic<bool> warned{false};
  if (warned.exchange(true)) return;
  log_warning("http", "X-Forwarded-For is ignored: its sender is not a trusted proxy",
              {{"request_id", request.request_id},
               {"peer", request.peer},
               {"remedy", "if it is your proxy, add its address to trusted_proxies"}});
}

}  // namespace

bool is_loopback(std::string_view address) {
  return address.starts_with("127.") || address == "::1" || address.starts_with("::ffff:127.");
}

bool is_forwarded(const Request& request) {
  constexpr std::array<std::string_view, 4> kNames{kForwardedFor, "Forwarded", "Via", "X-Real-IP"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view name) { return request.header(name) != nullptr; });
}

std::string network_of(const std::string& address) {
  constexpr std::size_t kPrefixBytes = 8;
  in6_addr bytes{};
  if (::inet_pton(AF_INET6, address.c_str(), &bytes) != 1 || IN6_IS_ADDR_V4MAPPED(&bytes)) {
    return address;
  }
  return {reinterpret_cast<const char*>(&bytes), kPrefixBytes};
}

bool TrustedProxies::has_tls(const Request& request) const {
  const std::string* scheme = request.header("X-Forwarded-Proto");
  return scheme != nullptr && passed_on(request) && same_name(*scheme, "https");
}

std::string TrustedProxies::client_address(const Request& request) const {
  if (!passed_on(request)) {
    if (request.header(kForwardedFor) != nullptr) warn_of_ignored(request);
    return request.peer;
  }
  const std::string list = forwarded_for(request);
  std::string_view rest = list;
  std::string nearest = request.peer;
  while (!rest.empty()) {
    const std::string address(take_last(rest));
    if (!NumericAddress::parse(address)) break;
    nearest = address;
    if (!proxies_.contains(address)) break;
  }
  return nearest;
}

}  // namespace coffer::http
