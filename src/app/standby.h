// The listener of the API while this machine follows the leader of a replicated ledger.
#pragma once

#include <memory>
#include <string>

#include "base/mutex.h"
#include "config/config.h"
#include "http/wire/server.h"
#include "store/replication/joining.h"

namespace coffer {

/// The file beside a database that tells its follower to lead.
inline constexpr const char* kPromoteEnding = ".promote";

/// Tells load balancers that this machine follows, and clients which machine leads.
class Standby {
 public:
  /// Both must outlive this object.
  Standby(const Config& config, Random& random);
  /// A Problem: the address is not available, or the certificate cannot be used.
  Result<void> start() { return server_.start(); }
  /// The state that it reports. Also keeps the supervisor content. Call it regularly from one
  /// thread.
  void note(const store::Following& state);

 private:
  http::Response respond(const http::Request& request) const;
  http::Response health(bool of_follower) const;

  mutable Mutex mutex_;
  store::Following state_ COFFER_GUARDED_BY(mutex_);
  std::int64_t notified_ms_ = 0;
  http::Server server_;
};

}  // namespace coffer
