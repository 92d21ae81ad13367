// A parsed http or https URL.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace coffer::outbound {

struct Url {
  bool tls = false;
  std::string host;  // an IPv6 address without brackets
  int port = 0;
  std::string path;   // starts with '/'; without the query
  std::string query;  // with its '?', or empty

  /// Path and query, as in a request line.
  std::string target() const { return path + query; }
  /// Whether the connection is protected from eavesdropping and changes: it uses TLS or stays on
  /// this machine.
  bool is_protected() const;
};

/// Lower case, without the dot of an absolute name.
std::string normal_host(std::string_view host);
/// Whether a name in any spelling is "localhost" or below it, which is always the loopback address
/// (RFC 6761 section 6.3).
bool is_local_name(std::string_view host);

/// nullopt for an invalid URL: another scheme, user names, white space, non-ASCII characters, a
/// host that is neither a name nor an address, an invalid port. A fragment is dropped.
std::optional<Url> parse_url(std::string_view text);

}  // namespace coffer::outbound
