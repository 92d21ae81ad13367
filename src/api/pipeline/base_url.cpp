#include "api/pipeline/base_url.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>

#include "base/text/ascii.h"
#include "flows/identity/login.h"

namespace coffer::api {
namespace {

constexpr std::size_t kHostBytesMax = 253;  // RFC 1035 section 2.3.4, as text
constexpr std::size_t kLabelBytesMax = 63;

bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= kLabelBytesMax &&
         ascii::is_letter_or_digit(label.front()) && ascii::is_letter_or_digit(label.back()) &&
         std::ranges::all_of(
             label, [](char c) { return ascii::is_letter_or_digit(c) || c == '-' || c == '_'; });
}

/// Also accepts IPv4 addresses, which have the form of a name.
bool is_name(std::string_view text) {
  if (text.size() > kHostBytesMax) return false;
  while (true) {
    const auto dot = text.find('.');
    if (!is_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 && std::ranges::all_of(text, ascii::is_digit) &&
         std::stoi(std::string(text)) <= 65'535;
}

bool is_ipv6(const std::string& text) {
  std::array<char, sizeof(in6_addr)> bytes{};
  return ::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

/// Whether `host` is a DNS name, an IPv4 address or an IPv6 address in brackets, each with an
/// optional port, and therefore safe in a link. The header gate accepts more.
bool is_plain_host(std::string_view host) {
  const auto colon = host.rfind(':');
  const auto bracket = host.rfind(']');
  const bool has_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  if (has_port) {
    if (!is_port(host.substr(colon + 1))) return false;
    host = host.substr(0, colon);
  }
  if (host.starts_with('[') && host.ends_with(']')) {
    return is_ipv6(std::string(host.substr(1, host.size() - 2)));
  }
  return is_name(host);
}

/// Whether the client connects with TLS, which coffer or a trusted proxy terminates.
bool has_tls(const Services& services, const http::Request& request) {
  return services.flows.logins->tls || services.proxies.has_tls(request);
}

}  // namespace

std::string base_url(const Services& services, const http::Request* request) {
  if (request != nullptr && !services.flows.logins->has_domain()) {
    const std::string* host = request->header("Host");
    if (host != nullptr && is_plain_host(*host)) {
      return (has_tls(services, *request) ? "https://" : "http://") + *host;
    }
  }
  return flows::public_base_url(services.flows);
}

}  // namespace coffer::api
