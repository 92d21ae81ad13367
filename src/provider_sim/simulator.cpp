#include "provider_sim/simulator.h"

#include "outbound/wire/address_trial.h"

namespace coffer::provider_sim {
namespace {

constexpr std::size_t kWorkers = 32;  // the maximum number of requests that may hang at once
constexpr int kDrainMs = 1'000;
constexpr int kCallbackTimeoutMs = 10'000;

/// The path of the base URL, without a trailing slash.
std::string base_path(const std::optional<outbound::Url>& url) {
  if (!url) return {};
  return url->path.ends_with('/') ? url->path.substr(0, url->path.size() - 1) : url->path;
}

}  // namespace

Simulator::Simulator(SimulatorOptions options, const Clock& clock, Random& random)
    : options_(std::move(options)), clock_(clock), random_(random), client_(options_.ca_bundle) {}

Simulator::~Simulator() { stop(); }

Result<void> Simulator::start() {
  if (options_.tls_cert_file.empty() != options_.tls_key_file.empty()) {
    return unexpected(Slug::malformed_request,
                      "--tls-cert and --tls-key require each other. Set both.");
  }
  COFFER_TRY(const FaultPlan plan, FaultPlan::parse(options_.faults));
  COFFER_TRY(tariff_, Tariff::parse(options_.rates));
  if (!options_.callback_url.empty()) {
    callback_url_ = outbound::parse_url(options_.callback_url);
    if (!callback_url_ || !callback_url_->query.empty()) {
      return unexpected(Slug::malformed_request,
                        "The callback URL " + options_.callback_url + " is not a valid URL.");
    }
  }
  if (options_.seed) seeded_chance_ = std::make_unique<SeededRandom>(*options_.seed);
  Random& chance = seeded_chance_ ? static_cast<Random&>(*seeded_chance_) : os_chance_;
  dice_ = std::make_unique<FaultDice>(plan, chance);
  state_ = std::make_unique<SimulatorState>(clock_, random_, options_.delay_ms);
  if (!options_.file.empty()) COFFER_TRY_VOID(state_->open(options_.file));

  const bool calls_back = callback_url_ || options_.deliver;
  if (calls_back) {
    Deliver deliver = options_.deliver;
    if (!deliver)
      deliver = [this](const SignedCallback& callback) { return this->deliver(callback); };
    sender_ = std::make_unique<CallbackSender>(*state_, *dice_, clock_, random_, options_.secret,
                                               base_path(callback_url_), std::move(deliver));
  }
  if (calls_back && options_.background_callbacks) {
    worker_ = std::make_unique<WorkerThread>("callbacks", [this] { return sender_->step(); });
  }
  provider_ = std::make_unique<Provider>(ProviderParts{*state_, *dice_, tariff_, clock_, random_,
                                                       options_.secret, options_.hang_ms, [this] {
                                                         if (worker_) worker_->wake();
                                                       }});
  http::ServerOptions listener;
  listener.host = options_.host;
  listener.port = options_.port;
  listener.workers = kWorkers;
  listener.tls_cert_file = options_.tls_cert_file;
  listener.tls_key_file = options_.tls_key_file;
  server_ = std::make_unique<http::Server>(
      listener, random_, [this](http::Request& request) { return provider_->handle(request); });
  COFFER_TRY_VOID(server_->start());
  if (worker_) worker_->start();
  return {};
}

int Simulator::port() const { return server_ ? server_->port() : 0; }

std::string Simulator::url() const {
  const bool v6 = options_.host.find(':') != std::string::npos;
  const std::string scheme = options_.tls_cert_file.empty() ? "http://" : "https://";
  return scheme + (v6 ? "[" + options_.host + "]" : options_.host) + ":" + std::to_string(port());
}

void Simulator::send_callbacks() {
  if (sender_ && !worker_) sender_->step();
}

Result<void> Simulator::reload_tls() { return server_->reload_tls(); }

void Simulator::stop() {
  if (provider_) provider_->stop();
  if (server_) server_->stop(kDrainMs);
  if (worker_) worker_->stop();
}

Result<int> Simulator::deliver(const SignedCallback& callback) {
  COFFER_TRY(const auto addresses, resolver_.resolve(callback_url_->host, kCallbackTimeoutMs));
  const outbound::Deadline deadline(kCallbackTimeoutMs);
  http::ClientRequest request = outbound::request_to(*callback_url_);
  request.method = "POST";
  request.target = callback.path;
  request.headers = callback.headers;
  request.headers.emplace_back("Content-Type", "application/json");
  request.body = callback.body;
  const auto send = [this](const http::ClientRequest& attempt) { return client_.send(attempt); };
  COFFER_TRY(const auto response,
             outbound::send_to_any(std::move(request), addresses, deadline, send));
  return response.status;
}

}  // namespace coffer::provider_sim
