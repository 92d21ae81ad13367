// The listener of the API while this machine follows the leader of a replicated ledger.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "app/app.h"
#include "base/mutex.h"
#include "config/config.h"
#include "http/wire/server.h"
#include "store/replication/joining.h"

namespace coffer {

/// The file beside a database that tells its follower to lead.
inline constexpr const char* kPromoteEnding = ".promote";

/// Responds to reads from the file of the follower, and to all else with `not-leader`. Each
/// response to a read has the header `X-Coffer-Position`: the entry of the log up to which the file
/// had it.
class Standby {
 public:
  /// All must outlive this object.
  Standby(const Config& config, const Clock& clock, Random& random);
  /// A Problem: the address is not available, or the certificate cannot be used.
  Result<void> start() { return server_.start(); }
  int port() const { return server_.port(); }
  /// The state that it reports. Also keeps the supervisor content, and opens the file for reading
  /// when it can be read. Without a file, the end: it stops. Call it regularly from one thread.
  void note(const store::Following& state);

 private:
  http::Response respond(http::Request& request) const;
  http::Response read(App& app, http::Request& request) const;
  http::Response health(bool of_follower) const;
  Result<http::Admission> admit(const http::Request& head, std::uint64_t body_bytes) const;
  void look_at_file(const store::Following& state);
  void log_lag(const store::Following& state);
  std::string leader() const;

  const Config config_;
  const Clock& clock_;
  Random& random_;
  mutable Mutex mutex_;
  store::Following state_ COFFER_GUARDED_BY(mutex_);
  std::int64_t notified_ms_ = 0;
  std::int64_t looked_ms_ = 0;
  bool is_lagging_ = true;               // as logged
  std::unique_ptr<App> file_;            // only reads; null until it could
  std::atomic<App*> readable_{nullptr};  // `file_`, while the leader's version has the same schema
  http::Server server_;
};

}  // namespace coffer
