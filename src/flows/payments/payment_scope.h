// Adds a payment's ID and the request ID of its submission to log lines.
#pragma once

#include <cstdint>
#include <string>

#include "base/telemetry/log_scope.h"
#include "flows/context.h"

namespace coffer::flows {

/// Reads both from the file; adds nothing if reading fails. Not for a hot path.
class PaymentScope {
 public:
  PaymentScope(const Context& context, std::int64_t payment);

 private:
  struct Names {
    std::string id;
    std::string request_id;
  };
  explicit PaymentScope(Names names);
  static Names read(const Context& context, std::int64_t payment);

  const Names names_;
  LogScope request_scope_;
  LogScope id_scope_;
};

}  // namespace coffer::flows
