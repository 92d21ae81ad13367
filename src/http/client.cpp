#include "http/client.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "base/environment.h"
#include "http/message.h"
#include "http/pinned_client.h"

namespace coffer::http {
namespace {

// Shorter than the keep-alive timeout of common servers (gunicorn 2 s, Node.js and Apache 5 s), so
// that a server does not close a connection at the moment of its reuse.
constexpr std::int64_t kIdleMaxMs = 1'000;
constexpr std::size_t kIdleMax = 1'024;
constexpr std::size_t kIdlePerPlaceMax = 64;
constexpr std::int64_t kNotKeptMs = 600'000;
constexpr std::size_t kNotKeptMax = 1'024;

std::string place_of(const ClientRequest& request) {
  return (request.tls ? "s " : "p ") + request.host + ' ' + std::to_string(request.port) + ' ' +
         request.address;
}

bool is_readable_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ::close(fd);
  return true;
}

}  // namespace

const std::string* ClientResponse::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (same_name(key, name)) return &value;
  }
  return nullptr;
}

Client::Client(std::string ca_bundle, Connections connections)
    : keeps_(connections == Connections::keep), trust_(std::move(ca_bundle)) {
  // The library writes to sockets without a flag against SIGPIPE.
  std::signal(SIGPIPE, SIG_IGN);
}

Client::~Client() = default;

/// Also closes connections that were idle for too long.
std::unique_ptr<PinnedClient> Client::take(const std::string& place) {
  const std::int64_t now = clock_.monotonic_ms();
  std::vector<Idle> dropped;  // closed after the lock is released
  const Lock lock(mutex_);
  const auto it = idle_.find(place);
  if (it == idle_.end()) return nullptr;
  std::unique_ptr<PinnedClient> found;
  while (!found && !it->second.empty()) {
    Idle last = std::move(it->second.back());
    it->second.pop_back();
    --idle_count_;
    if (now - last.since_ms < kIdleMaxMs && last.connection->is_quiet()) {
      found = std::move(last.connection);
    } else {
      dropped.push_back(std::move(last));
    }
  }
  if (it->second.empty()) idle_.erase(it);
  return found;
}

void Client::give_back(const std::string& place, std::unique_ptr<PinnedClient> connection) {
  const std::int64_t now = clock_.monotonic_ms();
  std::vector<Idle> dropped;
  const Lock lock(mutex_);
  // The pool is full of connections to hosts that are no longer used, so drop all of them.
  if (idle_count_ >= kIdleMax) {
    for (auto& [key, list] : idle_) {
      for (Idle& idle : list) dropped.push_back(std::move(idle));
    }
    idle_.clear();
    idle_count_ = 0;
  }
  if (const auto it = not_kept_until_ms_.find(place); it != not_kept_until_ms_.end()) {
    if (now < it->second) {
      dropped.push_back({std::move(connection), now});
      return;
    }
    not_kept_until_ms_.erase(it);
  }
  std::vector<Idle>& list = idle_[place];
  if (list.size() >= kIdlePerPlaceMax) {
    dropped.push_back({std::move(connection), now});
    return;
  }
  list.push_back({std::move(connection), now});
  ++idle_count_;
}

void Client::stop_keeping(const std::string& place) {
  const std::int64_t until_ms = clock_.monotonic_ms() + kNotKeptMs;
  const Lock lock(mutex_);
  if (not_kept_until_ms_.size() >= kNotKeptMax) not_kept_until_ms_.clear();
  not_kept_until_ms_[place] = until_ms;
}

Result<ClientResponse> Client::send(const ClientRequest& request) {
  CallDeadlines::Call call(deadlines_, request.total_timeout_ms);
  const std::string place = place_of(request);
  std::unique_ptr<PinnedClient> connection = take(place);
  const bool is_reused = connection != nullptr;
  if (!is_reused) {
    COFFER_TRY(connection, PinnedClient::make(request, trust_, keeps_));
    const Lock lock(mutex_);
    ++opened_;
  }
  auto result = connection->send(request, call);
  if (result.reusable) {
    give_back(place, std::move(connection));
  } else if (is_reused && result.hung_up) {
    stop_keeping(place);
  }
  return std::move(result.response);
}

std::size_t Client::idle() const {
  const Lock lock(mutex_);
  return idle_count_;
}

std::size_t Client::opened() const {
  const Lock lock(mutex_);
  return opened_;
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
      "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // RHEL, the source of the second file
  };
  for (const char* place : kUsualPlaces) {
    if (is_readable_file(place)) return std::string(place);
  }
  return unexpected(Slug::unexpected_error,
                    "No CA bundle was found. Install ca-certificates or configure a file of "
                    "trusted roots.");
}

Result<std::string> find_ca_bundle(const std::string& option) {
  return find_ca_bundle(option, environment_variable("SSL_CERT_FILE").value_or(""));
}

}  // namespace coffer::http
