// A complete simulated provider: listener, protocol, state and callbacks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "base/strong.h"
#include "base/telemetry/worker_thread.h"
#include "http/client.h"
#include "http/wire/server.h"
#include "outbound/wire/resolver.h"
#include "outbound/wire/url.h"
#include "provider_sim/callbacks.h"
#include "provider_sim/fault_plan.h"
#include "provider_sim/provider.h"
#include "provider_sim/simulator_state.h"
#include "provider_sim/tariff.h"

namespace coffer::provider_sim {

struct SimulatorOptions {
  std::string host = "127.0.0.1";
  int port = 0;  // 0 selects a free port
  Secret secret;
  std::string callback_url;                // coffer's base URL; empty: no callbacks
  std::string ca_bundle = {};              // trusted roots for an https callback URL
  std::string faults = {};                 // FaultPlan::parse
  std::string rates = {};                  // Tariff::parse
  std::string file = {};                   // empty: in memory
  std::optional<std::uint64_t> seed = {};  // of the fault dice
  int delay_ms = 0;                        // how long a payout stays pending
  int hang_ms = 30'000;                    // how long requests for an account ending in 1401 wait
  std::string tls_cert_file = {};          // PEM; both or neither; empty: plain HTTP
  std::string tls_key_file = {};
  /// If false, only `send_callbacks` sends callbacks, for tests with a manual clock.
  bool background_callbacks = true;
  Deliver deliver = {};  // replaces HTTP to `callback_url` in tests
};

class Simulator {
 public:
  /// `clock` and `random` must outlive the simulator.
  Simulator(SimulatorOptions options, const Clock& clock, Random& random);
  ~Simulator();  // stops
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  /// `malformed-request`: an invalid option; `unexpected-error`: the file or address is not
  /// available.
  Result<void> start();
  /// "http://127.0.0.1:8090"; https with a certificate.
  std::string url() const;
  int port() const;
  SimulatorState& state() { return *state_; }
  FaultDice& dice() { return *dice_; }
  /// Sends the callbacks that are due now.
  void send_callbacks();
  /// Reloads certificate and key. If this fails, the old pair stays in use.
  Result<void> reload_tls();
  void stop();

 private:
  Result<int> deliver(const SignedCallback& callback);

  const SimulatorOptions options_;
  const Clock& clock_;
  Random& random_;
  OsRandom os_chance_;
  std::unique_ptr<SeededRandom> seeded_chance_;
  std::optional<outbound::Url> callback_url_;
  Tariff tariff_;
  outbound::CaresResolver resolver_;
  http::Client client_;
  std::unique_ptr<FaultDice> dice_;
  std::unique_ptr<SimulatorState> state_;
  std::unique_ptr<CallbackSender> sender_;
  std::unique_ptr<WorkerThread> worker_;
  std::unique_ptr<Provider> provider_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace coffer::provider_sim
