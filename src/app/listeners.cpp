#include "app/listeners.h"

#include "app/service/supervisor.h"
#include "base/platform/exit_code.h"
#include "base/platform/processors.h"
#include "base/telemetry/log.h"
#include "base/thread.h"
#include "http/problem_json.h"
#include "http/tls.h"
#include "http/wire/listener.h"

namespace coffer {
namespace {

/// Whether the admin page is served on the listener of the API.
bool shares_listener(const Config& config) {
  return !config.admin_off && config.admin_listen == config.listen_http;
}

/// A certificate error is a complete message. To an address error, cli/serve/serving adds the
/// source of the value. An address in use may be free after a restart.
StartError cannot_listen(const Problem& problem, const std::string& setting,
                         const std::string& what) {
  if (problem.slug == Slug::validation_failed) return {exit_code::kConfiguration, what};
  return {problem.slug == Slug::conflict ? exit_code::kBusy : exit_code::kFailed, what, setting};
}

StartError cannot_listen_admin(const Problem& problem) {
  return cannot_listen(problem, "admin_listen", "the admin page cannot listen: " + problem.detail);
}

/// The admin page is optional: if its default address is in use, the server starts without it.
bool requires_admin(const Config& config) {
  const auto origin = config.origins.find("admin_listen");
  return origin != config.origins.end() && origin->second != "default";
}

/// RFC 6797: a client that has used TLS uses only TLS from then on. The header is set only on TLS
/// connections, which coffer or a trusted proxy terminates.
http::Response with_strict_transport(const http::TrustedProxies& proxies,
                                     const http::Request& request, http::Response response,
                                     bool tls) {
  if (tls || proxies.has_tls(request)) {
    response.header("Strict-Transport-Security", "max-age=31536000");
  }
  return response;
}

}  // namespace

http::ServerOptions api_listener_options(const Config& config) {
  http::ServerOptions options;
  options.host = config.listen_http.host;
  options.port = config.listen_http.port;
  options.listen_fd = kept_socket(config.listen_http);
  options.lanes = lane_table(config.workers, processors());
  options.workers = static_cast<std::size_t>(total_width(options.lanes));
  options.tls_cert_file = config.tls_cert;
  options.tls_key_file = config.tls_key;
  options.tls_client_ca_file = config.tls_client_ca;
  options.limits.connections_max = static_cast<std::size_t>(config.max_connections);
  options.limits.connections_per_network_max = (options.limits.connections_max + 1) / 2;
  options.limits.idle_ms = config.idle_timeout_s * 1'000;
  return options;
}

bool can_serve(const Config& config, StartError& error) {
  http::TlsIdentity identity;
  http::Listener api;
  http::Listener admin;
  Result<void> usable;
  if (!config.tls_cert.empty()) {
    usable = identity.load(config.tls_cert, config.tls_key, config.tls_client_ca);
  }
  if (usable && kept_socket(config.listen_http) < 0) {
    usable = api.bind(config.listen_http.host, config.listen_http.port);
  }
  if (!usable) {
    error = cannot_listen(usable.error(), "listen_http", usable.error().detail);
    return false;
  }
  if (config.admin_off || shares_listener(config) || !requires_admin(config)) return true;
  usable = admin.bind(config.admin_listen.host, config.admin_listen.port);
  if (!usable) error = cannot_listen_admin(usable.error());
  return usable.has_value();
}

bool Listeners::start(StartError& error, const AdminPages& admin) {
  http::ServerOptions options = api_listener_options(config_);
  options.render_problem = [this](const Problem& problem, const http::Request& request) {
    return pipeline_.render(problem, request);
  };
  const bool shared = admin.handle && shares_listener(config_);
  services_.has_admin_page = shared;
  const auto is_admin = [shared, owns = admin.owns](const http::Request& request) {
    return shared && owns(request.path);
  };
  options.admit = [this, is_admin, admin](const http::Request& head, std::uint64_t body_bytes) {
    return is_admin(head) ? admin.admit(head, body_bytes) : pipeline_.admit(head, body_bytes);
  };
  const bool tls = !config_.tls_cert.empty();
  api_ = std::make_unique<http::Server>(
      options, random_, [this, is_admin, admin, tls](http::Request& request) {
        http::Response response =
            is_admin(request) ? admin.handle(request) : pipeline_.handle(request);
        return with_strict_transport(services_.proxies, request, std::move(response), tls);
      });
  if (const auto started = api_->start(); !started) {
    error = cannot_listen(started.error(), "listen_http", started.error().detail);
    return false;
  }
  keep_socket(api_->listen_fd());
  return !admin.handle || shared || config_.admin_off || start_admin(error, admin);
}

bool Listeners::start_admin(StartError& error, const AdminPages& admin) {
  constexpr std::size_t kConnections = 256;
  http::ServerOptions options;
  options.host = config_.admin_listen.host;
  options.port = config_.admin_listen.port;
  // Creates every lane, because the page selects the lane of a request, and large bodies use
  // `bulk`.
  options.lanes = lane_table(1, processors());
  options.workers = static_cast<std::size_t>(total_width(options.lanes));
  options.admit = admin.admit;
  options.limits.connections_max = kConnections;
  options.limits.idle_ms = config_.idle_timeout_s * 1'000;
  options.render_problem = [this](const Problem& problem, const http::Request& request) {
    return http::problem_response(problem, request.path, request.request_id,
                                  flows::public_base_url(services_.flows));
  };
  if (!config_.admin_listen.is_loopback()) {
    options.tls_cert_file = config_.tls_cert;
    options.tls_key_file = config_.tls_key;
  }
  admin_ = std::make_unique<http::Server>(
      options, random_,
      [this, admin, tls = !options.tls_cert_file.empty()](http::Request& request) {
        return with_strict_transport(services_.proxies, request, admin.handle(request), tls);
      });
  const auto started = admin_->start();
  if (started) return true;
  admin_.reset();
  if (requires_admin(config_)) {
    error = cannot_listen_admin(started.error());
    return false;
  }
  log_warning("admin", "the admin page cannot listen: " + started.error().detail,
              {{"remedy", "set admin_listen to a free address"}});
  return true;
}

void Listeners::stop(int drain_ms) {
  const Thread page("admin-stop", [this] {
    if (admin_) admin_->stop(0);
  });
  if (api_) api_->stop(drain_ms);
}

std::optional<ListenAddress> Listeners::api_address() const {
  if (!api_) return std::nullopt;
  return ListenAddress{{config_.listen_http.host, api_->port()}, !config_.tls_cert.empty()};
}

std::optional<ListenAddress> Listeners::admin_address() const {
  if (shares_listener(config_)) return api_address();
  if (!admin_) return std::nullopt;
  return ListenAddress{{config_.admin_listen.host, admin_->port()}, admin_has_tls()};
}

bool Listeners::admin_has_tls() const {
  return !config_.tls_cert.empty() &&
         (shares_listener(config_) || !config_.admin_listen.is_loopback());
}

std::string Listeners::admin_origin() const {
  const bool shared = shares_listener(config_);
  const bool tls = admin_has_tls();
  const int port = shared ? this->port() : admin_ ? admin_->port() : 0;
  return (tls ? "https://" : "http://") + connectable(config_.admin_listen, port).to_string();
}

Result<void> Listeners::reload_tls() {
  for (const auto* server : {&api_, &admin_}) {
    if (*server) COFFER_TRY_VOID((*server)->reload_tls());
  }
  return {};
}

}  // namespace coffer
