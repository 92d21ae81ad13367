// Reports results of payouts, collections and references to coffer, signed and with a few retries.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "base/strong.h"
#include "outbound/providers/provider_signature.h"
#include "provider_sim/fault_plan.h"
#include "provider_sim/simulator_state.h"

namespace coffer::provider_sim {

/// A POST request that is ready to be sent.
struct SignedCallback {
  std::string path;  // from the root of the host
  outbound::ProviderHeaders headers;
  std::string body;
};
/// Sends the callback and returns the HTTP status, or a Problem without a response.
using Deliver = std::function<Result<int>(const SignedCallback&)>;

class CallbackSender {
 public:
  static constexpr int kAttempts = 6;
  static constexpr std::int64_t kFirstRetryMs = 500;

  /// `base_path` is the path of coffer's base URL, without a trailing slash. All references must
  /// outlive the sender.
  CallbackSender(SimulatorState& state, FaultDice& dice, const Clock& clock, Random& ids,
                 const Secret& secret, std::string base_path, Deliver deliver)
      : state_(state),
        dice_(dice),
        clock_(clock),
        ids_(ids),
        secret_(secret),
        base_path_(std::move(base_path)),
        deliver_(std::move(deliver)) {}

  /// Sends due callbacks. Returns the milliseconds until the next may be due; negative if none is
  /// due before a change. For one thread at a time.
  std::int64_t step();

 private:
  struct Progress {
    int attempts = 0;
    std::int64_t next_ms = 0;  // monotonic
    bool held_back = false;
  };
  bool send(const Callback& callback, const std::string& id);
  void attempt(const Callback& callback, Progress& progress);

  SimulatorState& state_;
  FaultDice& dice_;
  const Clock& clock_;
  Random& ids_;
  const Secret& secret_;
  const std::string base_path_;
  const Deliver deliver_;
  std::map<std::string, Progress> progress_;  // by callback ID, until delivered
};

}  // namespace coffer::provider_sim
