#include "http/client_pool.h"

#include <algorithm>
#include <csignal>

namespace coffer::http {
namespace {

// Shorter than the keep-alive timeout of common servers (gunicorn 2 s, Node.js and Apache 5 s), so
// that a server does not close a connection at the moment when it is used again.
constexpr std::int64_t kIdleMaxMs = 1'000;
constexpr std::size_t kIdleMax = 1'024;
constexpr std::size_t kIdlePerPlaceMax = 64;
constexpr std::int64_t kNotKeptMs = 600'000;
constexpr std::size_t kNotKeptMax = 1'024;

std::string place_of(const ClientRequest& request) {
  return (request.tls ? "s " : "p ") + request.host + ' ' + std::to_string(request.port) + ' ' +
         request.address;
}

}  // namespace

ClientPool::ClientPool(std::string ca_bundle) : trust_(std::move(ca_bundle)) {
  // OpenSSL writes to sockets with write(), which has no flag against the signal.
  std::signal(SIGPIPE, SIG_IGN);
}

void ClientPool::cut() { cut_.signal(); }

/// Stale connections are closed on the way.
std::optional<ClientConnection> ClientPool::take(const std::string& place) {
  const std::int64_t now = SystemClock().monotonic_ms();
  std::vector<Idle> dropped;  // closed after the lock is released
  const Lock lock(mutex_);
  const auto it = idle_.find(place);
  if (it == idle_.end()) return std::nullopt;
  std::optional<ClientConnection> found;
  while (!found && !it->second.empty()) {
    Idle last = std::move(it->second.back());
    it->second.pop_back();
    --idle_count_;
    if (now - last.since_ms < kIdleMaxMs && last.connection.is_quiet()) {
      found.emplace(std::move(last.connection));
    } else {
      dropped.push_back(std::move(last));
    }
  }
  if (it->second.empty()) idle_.erase(it);
  return found;
}

Result<ClientConnection> ClientPool::open(const ClientRequest& request, std::int64_t deadline_ms) {
  COFFER_TRY(auto connection, ClientConnection::open(request, trust_, deadline_ms, cut_.fd()));
  const Lock lock(mutex_);
  ++opened_;
  return connection;
}

void ClientPool::give_back(const std::string& place, ClientConnection connection) {
  const std::int64_t now = SystemClock().monotonic_ms();
  std::vector<Idle> dropped;
  const Lock lock(mutex_);
  // A full pool is a crowd of places that are not asked any more: all of them start anew.
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

void ClientPool::stop_keeping(const std::string& place) {
  const std::int64_t until_ms = SystemClock().monotonic_ms() + kNotKeptMs;
  const Lock lock(mutex_);
  if (not_kept_until_ms_.size() >= kNotKeptMax) not_kept_until_ms_.clear();
  not_kept_until_ms_[place] = until_ms;
}

Result<ClientResponse> ClientPool::send(const ClientRequest& request) {
  const std::int64_t deadline_ms = SystemClock().monotonic_ms() + request.total_timeout_ms;
  COFFER_TRY(const std::string bytes, render_request(request, AfterResponse::keep_alive));
  const std::string place = place_of(request);
  std::optional<ClientConnection> connection = take(place);
  const bool is_reused = connection.has_value();
  if (!is_reused) {
    COFFER_TRY(auto opened, open(request, deadline_ms));
    connection.emplace(std::move(opened));
  }
  auto result = connection->exchange(request, bytes, deadline_ms);
  if (result.reusable) {
    give_back(place, *std::move(connection));
  } else if (is_reused && result.hung_up) {
    stop_keeping(place);
  }
  return std::move(result.response);
}

std::size_t ClientPool::idle() const {
  const Lock lock(mutex_);
  return idle_count_;
}

std::size_t ClientPool::opened() const {
  const Lock lock(mutex_);
  return opened_;
}

}  // namespace coffer::http
