#include "http/client.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "base/clock.h"
#include "http/client_connection.h"

namespace coffer::http {
namespace {

bool is_readable_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ::close(fd);
  return true;
}

}  // namespace

Client::Client(std::string ca_bundle) : trust_(std::move(ca_bundle)) {
  // OpenSSL writes to sockets with write(), which has no flag against the signal.
  std::signal(SIGPIPE, SIG_IGN);
}

Result<ClientResponse> Client::send(const ClientRequest& request) {
  const std::int64_t deadline_ms = SystemClock().monotonic_ms() + request.total_timeout_ms;
  COFFER_TRY(const std::string bytes, render_request(request, AfterResponse::close));
  COFFER_TRY(auto connection, ClientConnection::open(request, trust_, deadline_ms));
  return std::move(connection.exchange(request, bytes, deadline_ms).response);
}

Result<std::string> find_ca_bundle(const std::string& option, const std::string& ssl_cert_file) {
  for (const std::string& named : {option, ssl_cert_file}) {
    if (named.empty()) continue;
    if (is_readable_file(named)) return named;
    return unexpected(Slug::unexpected_error, "The CA bundle " + named + " cannot be read.");
  }
  constexpr std::array kUsualPlaces{
      "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Arch, Alpine
      "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora, RHEL
      "/etc/ssl/cert.pem",                                  // Alpine, macOS, BSD
      "/etc/ssl/ca-bundle.pem",                             // SUSE
      "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // RHEL, the source of the second
  };
  for (const char* place : kUsualPlaces) {
    if (is_readable_file(place)) return std::string(place);
  }
  return unexpected(Slug::unexpected_error,
                    "No CA bundle was found: install ca-certificates or name a file of trusted "
                    "roots.");
}

}  // namespace coffer::http
