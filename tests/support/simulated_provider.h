// A simulated provider in this process, with the clock of the app, and connectors that use it.
#pragma once

#include <memory>
#include <string>

#include "provider_sim/simulator.h"
#include "support/connectors.h"
#include "support/test_app.h"

namespace coffer::test {

/// Signs with the secret "shared", like the connectors of tests. Sends no callbacks.
class SimulatedProvider {
 public:
  /// Uses TLS if given a certificate.
  explicit SimulatedProvider(TestApp& app, const std::string& tls_cert_file = {},
                             const std::string& tls_key_file = {}) {
    provider_sim::SimulatorOptions options;
    options.tls_cert_file = tls_cert_file;
    options.tls_key_file = tls_key_file;
    options.secret = Secret("shared");
    options.rates = "USDC:KES=129.5,KES:USDC=0.0075";
    options.background_callbacks = false;
    simulator_ = std::make_unique<provider_sim::Simulator>(options, app.clock, random_);
    simulator_->start().value();
  }

  std::string url() const { return simulator_->url(); }
  /// In the syntax of the command line: "lose-response=1"; empty: none.
  void faults(const std::string& plan) {
    simulator_->dice().replace(provider_sim::FaultPlan::parse(plan).value());
  }
  /// How often a payment was submitted here.
  int submissions(const std::string& id) { return simulator_->state().submissions(id); }
  provider_sim::SimulatorState& state() { return simulator_->state(); }
  void stop() { simulator_->stop(); }

 private:
  OsRandom random_;
  std::unique_ptr<provider_sim::Simulator> simulator_;
};

/// An http connector at `url` with the secret "shared".
inline std::string add_connector_at(TestApp& app, const std::string& url,
                                    flows::NewConnector connector) {
  constexpr int kTimeoutMs = 5'000;
  connector.terms.driver = DriverKind::http;
  connector.terms.endpoint = ProviderEndpoint{url, Secret("shared"), kTimeoutMs};
  return add_connector(app, connector);
}

}  // namespace coffer::test
