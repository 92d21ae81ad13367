// The objects that the pipeline and the handlers use. `app` builds them once. Thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "api/json/cursor.h"
#include "api/pipeline/authenticate.h"
#include "api/pipeline/rate_limiter.h"
#include "base/limits/guess_table.h"
#include "flows/context.h"
#include "http/client_address.h"

namespace coffer::api {

/// The result of /healthz: each check has a name and a result. Details inform the operator even if
/// the server can accept payments.
struct Health {
  struct Check {
    std::string name;
    bool ok = false;
  };
  std::vector<Check> checks;
  std::vector<std::pair<std::string, std::string>> details = {};  // name, sentence
  struct Leads {
    std::int64_t position = 0;
    std::int64_t epoch = 0;
  };
  std::optional<Leads> leads = {};  // with replication: the end of the log
  bool ok() const;
};

class RequestLog;  // api/pipeline/request_log.h

struct Services {
  const flows::Context& flows;
  Authenticator authenticator;
  mutable RateLimiter limiter;  // synchronises itself
  GuessTable& guesses;
  const http::TrustedProxies& proxies;
  CursorCodec cursors;
  std::function<Health()> health;
  RequestLog* request_log = nullptr;  // set before the first request, if at all
  bool has_admin_page = false;        // on the API's address; set before the first request
  bool offers_trial = false;  // the API reference can call operations; set before the first request
};

}  // namespace coffer::api
