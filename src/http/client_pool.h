// A client that keeps its connections for the next request to the same place.
//
// A connection is found again only under the same host, port, security and numeric address, so that
// whoever judges addresses before each request also judges what is reused.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/platform/wake_up.h"
#include "http/client.h"
#include "http/client_connection.h"

namespace coffer::http {

/// Thread safe. What comes back is data of a stranger.
class ClientPool {
 public:
  /// As Client.
  explicit ClientPool(std::string ca_bundle);
  ClientPool(const ClientPool&) = delete;
  ClientPool& operator=(const ClientPool&) = delete;

  /// As Client::send: at most one request on the wire. A kept connection is used only while the
  /// peer has not closed it; when the peer closes it with the request in flight, the call fails,
  /// and for ten minutes no connection to that place is kept.
  Result<ClientResponse> send(const ClientRequest& request);

  /// Ends every wait that is under way, and every later one, as if its time had run out. For good.
  void cut();

  /// Connections that wait for a next request.
  std::size_t idle() const;
  /// Opened so far; tests see by it what was reused.
  std::size_t opened() const;

 private:
  struct Idle {
    ClientConnection connection;
    std::int64_t since_ms = 0;
  };
  std::optional<ClientConnection> take(const std::string& place);
  Result<ClientConnection> open(const ClientRequest& request, std::int64_t deadline_ms);
  void give_back(const std::string& place, ClientConnection connection);
  void stop_keeping(const std::string& place);

  TlsTrust trust_;
  WakeUp cut_;  // readable from cut() on
  mutable Mutex mutex_;
  std::map<std::string, std::vector<Idle>> idle_ COFFER_GUARDED_BY(mutex_);
  std::map<std::string, std::int64_t> not_kept_until_ms_ COFFER_GUARDED_BY(mutex_);
  std::size_t idle_count_ COFFER_GUARDED_BY(mutex_) = 0;
  std::size_t opened_ COFFER_GUARDED_BY(mutex_) = 0;
};

}  // namespace coffer::http
