#include "http/client_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>

namespace coffer::http {
namespace {

constexpr std::string_view kForwardedFor = "X-Forwarded-For";

bool is_numeric(const std::string& address) {
  std::array<char, sizeof(in6_addr)> bytes{};
  return ::inet_pton(AF_INET, address.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1;
}

/// Considers all header fields with this name, because a proxy may add its own field instead of
/// extending the client's.
std::string last_forwarded(const Request& request) {
  std::string_view last;
  for (const auto& [name, value] : request.headers) {
    if (same_name(name, kForwardedFor)) last = value;
  }
  if (const auto comma = last.rfind(','); comma != last.npos) last.remove_prefix(comma + 1);
  const auto begin = std::min(last.find_first_not_of(" \t"), last.size());
  const auto end = last.find_last_not_of(" \t") + 1;  // 0 if the text is empty
  return std::string(last.substr(begin, std::max(begin, end) - begin));
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

std::string client_address(const Request& request) {
  if (!is_loopback(request.peer)) return request.peer;
  std::string last = last_forwarded(request);
  return is_numeric(last) ? last : request.peer;
}

}  // namespace coffer::http
