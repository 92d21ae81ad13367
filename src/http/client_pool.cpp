#include "http/client_pool.h"

#include <algorithm>
#include <csignal>

namespace coffer::http {
namespace {

constexpr std::int64_t kIdleMaxMs = 20'000;
constexpr std::size_t kIdleMax = 1'024;
constexpr std::size_t kIdlePerPlaceMax = 64;

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

/// At most one; those that are stale are closed on the way.
std::vector<ClientPool::Idle> ClientPool::take(const std::string& place) {
  const std::int64_t now = SystemClock().monotonic_ms();
  std::vector<Idle> dropped;  // closed after the lock is released
  std::vector<Idle> found;
  const Lock lock(mutex_);
  const auto it = idle_.find(place);
  if (it == idle_.end()) return found;
  while (found.empty() && !it->second.empty()) {
    Idle last = std::move(it->second.back());
    it->second.pop_back();
    --idle_count_;
    const bool good = now - last.since_ms < kIdleMaxMs && last.connection.is_quiet();
    (good ? found : dropped).push_back(std::move(last));
  }
  if (it->second.empty()) idle_.erase(it);
  return found;
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
  std::vector<Idle>& list = idle_[place];
  if (list.size() >= kIdlePerPlaceMax) {
    dropped.push_back({std::move(connection), now});
    return;
  }
  list.push_back({std::move(connection), now});
  ++idle_count_;
}

Result<ClientResponse> ClientPool::send(const ClientRequest& request) {
  const std::int64_t deadline_ms = SystemClock().monotonic_ms() + request.total_timeout_ms;
  COFFER_TRY(const std::string bytes, render_request(request, AfterResponse::keep_alive));
  const std::string place = place_of(request);
  std::vector<Idle> idle = take(place);
  if (!idle.empty()) {
    auto result = idle.front().connection.exchange(request, bytes, deadline_ms);
    if (result.reusable) give_back(place, std::move(idle.front().connection));
    if (!result.untouched) return std::move(result.response);
    idle.clear();
  }
  COFFER_TRY(auto connection, ClientConnection::open(request, trust_, deadline_ms, cut_.fd()));
  {
    const Lock lock(mutex_);
    ++opened_;
  }
  auto result = connection.exchange(request, bytes, deadline_ms);
  if (result.reusable) give_back(place, std::move(connection));
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
