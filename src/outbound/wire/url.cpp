#include "outbound/wire/url.h"

#include <algorithm>

#include "base/limits/address_range.h"
#include "base/text/ascii.h"
#include "base/text/whole_number.h"

namespace coffer::outbound {
namespace {

constexpr int kPortMax = 65'535;

/// Whether the text has only characters of a name or an IPv4 address; in brackets, of an IPv6
/// address.
bool is_host(std::string_view text, bool bracketed) {
  const auto fits = [&](char c) {
    const bool digit = c >= '0' && c <= '9';
    const char lower = static_cast<char>(c | 0x20);
    if (bracketed) return digit || (lower >= 'a' && lower <= 'f') || c == ':' || c == '.';
    return digit || (lower >= 'a' && lower <= 'z') || c == '-' || c == '.' || c == '_';
  };
  const bool has_colon = text.find(':') != std::string_view::npos;
  return !text.empty() && has_colon == bracketed && std::ranges::all_of(text, fits);
}

/// Host and port; false if they are invalid.
bool read_authority(std::string_view authority, Url& url) {
  const bool bracketed = authority.starts_with('[');
  const auto end = bracketed ? authority.find(']') : authority.find(':');
  if (bracketed && end == std::string_view::npos) return false;
  const std::size_t skipped = bracketed ? 1 : 0;
  url.host = authority.substr(skipped, end == std::string_view::npos ? end : end - skipped);
  const std::string_view rest =
      end == std::string_view::npos ? std::string_view() : authority.substr(end + skipped);
  if (!rest.empty() && rest.front() != ':') return false;
  const auto port =
      rest.empty() ? std::optional(url.tls ? 443 : 80) : whole_number(rest.substr(1), 1, kPortMax);
  if (!port || !is_host(url.host, bracketed)) return false;
  url.port = *port;
  return true;
}

}  // namespace

bool Url::is_protected() const {
  if (tls || is_local_name(host)) return true;
  const auto numeric = NumericAddress::parse(host);
  const std::string address = numeric ? numeric->unmapped().to_string() : std::string();
  return address == "127.0.0.1" || address == "::1";
}

std::string normal_host(std::string_view host) {
  std::string out = ascii::to_lower(host);
  if (out.size() > 1 && out.back() == '.') out.pop_back();
  return out;
}

bool is_local_name(std::string_view host) {
  const std::string name = normal_host(host);
  return name == "localhost" || name.ends_with(".localhost");
}

std::optional<Url> parse_url(std::string_view text) {
  const auto bad = [](unsigned char c) { return c <= ' ' || c >= 0x7f; };
  if (std::ranges::any_of(text, bad)) return std::nullopt;
  Url url;
  url.tls = text.starts_with("https://");
  if (!url.tls && !text.starts_with("http://")) return std::nullopt;
  text.remove_prefix(text.find("//") + 2);
  text = text.substr(0, text.find('#'));
  const std::string_view authority = text.substr(0, text.find_first_of("/?"));
  if (authority.find('@') != std::string_view::npos) return std::nullopt;
  if (!read_authority(authority, url)) return std::nullopt;
  const std::string_view target = text.substr(authority.size());
  const auto query = std::min(target.find('?'), target.size());
  url.path = target.substr(0, query);
  url.query = target.substr(query);
  if (url.path.empty()) url.path = "/";
  return url;
}

}  // namespace coffer::outbound
