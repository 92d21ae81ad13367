// What the pipeline and the handlers work with. Built once by `app`; safe from every worker thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/pipeline/authenticate.h"
#include "api/pipeline/cursor.h"
#include "api/pipeline/rate_limiter.h"
#include "flows/context.h"

namespace coffer::api {

/// The truth for /healthz; each check is a name and whether it holds. A detail is what an operator
/// should know of although payments can be taken.
struct Health {
  struct Check {
    std::string name;
    bool ok = false;
  };
  std::vector<Check> checks;
  std::vector<std::pair<std::string, std::string>> details = {};  // name, sentence
  bool ok() const;
};

struct Services {
  const flows::Context& flows;
  Authenticator authenticator;
  mutable RateLimiter limiter;  // synchronised in itself
  CursorCodec cursors;
  std::function<Health()> health;
};

}  // namespace coffer::api
