#include "http/client_address.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "base/telemetry/log.h"
#include "base/text/ascii.h"
#include "base/text/next_part.h"
#include "base/text/trimmed.h"

namespace coffer::http {
namespace {

constexpr std::string_view kForwardedFor = "X-Forwarded-For";
constexpr std::string_view kUnknown = "unknown";  // as in RFC 7239 section 6.2

/// The entries of all headers of this name, in order, because a proxy may add a header instead of
/// extending the client's. Empty entries do not count (RFC 9110 section 5.6.1).
std::vector<std::string_view> entries(const Request& request, std::string_view wanted) {
  std::vector<std::string_view> out;
  for (const auto& [name, value] : request.headers) {
    if (!same_name(name, wanted)) continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const std::string_view entry = trimmed(next_whole_part(rest, ','), " \t\"");
      if (!entry.empty()) out.push_back(entry);
    }
  }
  return out;
}

bool is_port(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, ascii::is_digit);
}

/// The address of an entry in its usual form; empty if it contains none.
std::string address_of(std::string_view entry) {
  if (entry.starts_with('[')) {
    const std::size_t end = entry.find(']');
    if (end == entry.npos) return {};
    const std::string_view port = entry.substr(end + 1);
    if (!port.empty() && !(port.starts_with(':') && is_port(port.substr(1)))) return {};
    entry = entry.substr(1, end - 1);
  } else if (const auto colon = entry.find(':'); colon == entry.rfind(':') && colon != entry.npos) {
    if (!is_port(entry.substr(colon + 1))) return {};
    entry = entry.substr(0, colon);
  }
  const bool is_v6 = entry.find(':') != entry.npos;
  const auto address = NumericAddress::parse(is_v6 ? entry.substr(0, entry.find('%')) : entry);
  return address ? address->unmapped().to_string() : std::string();
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
  const auto numeric = NumericAddress::parse(address);
  if (!numeric) return address;
  const NumericAddress own = numeric->unmapped();
  if (own.size == 4) return own.to_string();
  return {reinterpret_cast<const char*>(own.bytes.data()), kPrefixBytes};
}

/// The index of the client: the last entry that is not a trusted proxy, or the first one.
std::size_t TrustedProxies::client_at(const std::vector<std::string_view>& hops) const {
  std::size_t at = hops.size() - 1;
  while (at > 0 && proxies_.contains(address_of(hops[at]))) --at;
  return at;
}

/// The entry of this list that describes the client's own connection: the one beside the client's
/// address if all proxies extend both lists, otherwise the first one.
std::string_view TrustedProxies::forwarded(const Request& request, std::string_view name) const {
  if (!passed_on(request)) return {};
  const auto list = entries(request, name);
  if (list.empty()) return {};
  const auto hops = entries(request, kForwardedFor);
  return list[hops.size() == list.size() ? client_at(hops) : 0];
}

bool TrustedProxies::has_tls(const Request& request) const {
  return same_name(forwarded(request, "X-Forwarded-Proto"), "https");
}

std::string TrustedProxies::host(const Request& request) const {
  const std::string_view host = forwarded(request, "X-Forwarded-Host");
  if (!host.empty()) return std::string(host);
  const std::string* own = request.header("Host");
  return own == nullptr ? std::string() : *own;
}

std::string TrustedProxies::client_address(const Request& request) const {
  if (!passed_on(request)) {
    if (request.header(kForwardedFor) != nullptr) warn_of_ignored(request);
    return request.peer;
  }
  const auto hops = entries(request, kForwardedFor);
  if (hops.empty()) return request.peer;
  const std::string address = address_of(hops[client_at(hops)]);
  return address.empty() ? std::string(kUnknown) : address;
}

}  // namespace coffer::http
