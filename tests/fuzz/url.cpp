// URLs: the parts of a URL join to the same URL, and none of them can end a line or a header of the
// request.
#include "outbound/wire/url.h"

#include "fuzz/property.h"

namespace coffer::fuzz {
namespace {

std::string write(const outbound::Url& url) {
  const bool ipv6 = url.host.find(':') != std::string::npos;
  return std::string(url.tls ? "https://" : "http://") + (ipv6 ? "[" + url.host + "]" : url.host) +
         ":" + std::to_string(url.port) + url.target();
}

void check(std::string_view text) {
  const auto url = outbound::parse_url(text);
  if (!url) return;
  HOLDS(!url->host.empty() && url->port > 0 && url->port <= 65'535);
  HOLDS(url->host.find_first_of("/?#@[]\\\"<> ") == std::string::npos);
  HOLDS(url->path.starts_with('/') && url->path.find('?') == std::string::npos);
  HOLDS(url->query.empty() || url->query[0] == '?');
  for (const char c : url->host + url->target()) HOLDS(c > ' ' && c < 0x7f);
  const auto again = outbound::parse_url(write(*url));
  HOLDS(again && again->tls == url->tls && again->host == url->host && again->port == url->port);
  HOLDS(again->path == url->path && again->query == url->query);
}

}  // namespace
}  // namespace coffer::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  coffer::fuzz::check(coffer::fuzz::text_of(data, size));
  return 0;
}
