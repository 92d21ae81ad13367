// GET /metrics for Prometheus: counters (base/telemetry/metrics.h) and current figures. Clients on
// this machine need no token; other clients need the one from the settings. A request that came
// through a proxy never counts as local.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "base/result.h"
#include "base/telemetry/metrics.h"
#include "domain/operations/condition.h"
#include "flows/identity/quotas.h"
#include "http/message.h"
#include "store/operations/backlog.h"

namespace coffer {
class App;
}

namespace coffer::cli {

class MetricsPage {
 public:
  static constexpr std::string_view kPath = "/metrics";

  /// Figures from the file.
  struct Stored {
    store::Backlog backlog;
    std::vector<flows::QuotaState> quotas;  // of all tenants
    std::int64_t alerts_open = 0;
    ConditionFacts archive = {};  // only its own
  };

  /// `app` must outlive the page.
  explicit MetricsPage(App& app) : app_(app) {}

  /// Called on worker threads. 401 without the token, 404 if no token is set, 405 for other
  /// methods.
  Result<http::Response> handle(const http::Request& request);

 private:
  Result<void> admit(const http::Request& request) const;
  std::string render();
  std::optional<Stored> stored();

  App& app_;
  Mutex mutex_;
  std::optional<Stored> stored_ COFFER_GUARDED_BY(mutex_);  // at most kKeptMs old
  bool reading_ COFFER_GUARDED_BY(mutex_) = false;
  std::int64_t read_ms_ COFFER_GUARDED_BY(mutex_) = 0;  // monotonic
};

}  // namespace coffer::cli
