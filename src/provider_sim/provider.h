// The protocol routes of the simulated provider (docs/provider-protocol.md), and its control
// routes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/strong.h"
#include "http/message.h"
#include "http/router.h"
#include "provider_sim/fault_plan.h"
#include "provider_sim/simulator_state.h"
#include "provider_sim/tariff.h"

namespace coffer::provider_sim {

/// The parts of the provider, which must outlive it.
struct ProviderParts {
  SimulatorState& state;
  FaultDice& dice;
  const Tariff& tariff;
  const Clock& clock;
  Random& ids;
  const Secret& secret;
  int hang_ms = 0;                        // how long requests for an account ending in 1401 wait
  std::function<void()> changed = [] {};  // called when a callback may be due
};

/// Handles requests on the calling threads. Thread-safe.
class Provider {
 public:
  explicit Provider(const ProviderParts& parts);

  /// Protocol routes require a signature. Routes below /control do not: they are for the operator
  /// of the simulator, which listens on loopback by default.
  http::Response handle(http::Request& request);
  /// Ends all waits of `late` and `hang`, now and in the future.
  void stop();

 private:
  struct Call {
    const http::Request& request;
    std::string id;  // from the path
    Json body;
    Kind kind = Kind::payout;
  };
  struct Route {
    std::string method;
    std::string pattern;
    http::Response (Provider::*run)(const Call&);
    bool control = false;
    Kind kind = Kind::payout;
  };
  static const std::vector<Route>& routes();

  http::Response run(const Route& route, const Call& call);
  http::Response run_with_faults(const Route& route, const Call& call);
  http::Response silent(int ms);
  void pause(int ms);

  http::Response quote(const Call& call);
  http::Response place_payout(const Call& call);
  http::Response list_payouts(const Call& call);
  http::Response place_collection(const Call& call);
  http::Response place_refund(const Call& call);
  http::Response read(const Call& call);
  http::Response close(const Call& call);
  http::Response issue_reference(const Call& call);
  http::Response place(const Call& call, std::string fault);

  // provider_control.cpp
  http::Response show_faults(const Call& call);
  http::Response change_faults(const Call& call);
  http::Response show(const Call& call);
  http::Response settle(const Call& call);
  http::Response return_payout(const Call& call);
  http::Response pay_collection(const Call& call);
  http::Response pay_reference(const Call& call);

  const ProviderParts parts_;
  http::Router router_;
  Mutex mutex_;
  Condition stopped_changed_;
  bool stopped_ COFFER_GUARDED_BY(mutex_) = false;
};

/// JSON responses of the protocol: an object, or `{code, message}`.
http::Response json_response(int status, const Json& body);
http::Response rejection(int status, std::string_view code, std::string_view message);

}  // namespace coffer::provider_sim
