// The listeners of the API and of the admin page, which may be one.
#pragma once

#include "api/pipeline/pipeline.h"
#include "app/opening.h"
#include "http/wire/server.h"

namespace coffer {

/// The address of a listener as bound, so a wildcard stays a wildcard.
struct ListenAddress {
  HostPort address;
  bool tls = false;
  std::string url() const { return (tls ? "https://" : "http://") + address.to_string(); }
};

/// The admin page as served by a listener.
struct AdminPages {
  http::Handler handle;
  http::Admit admit;
  // Whether a path on a shared listener belongs to the admin page.
  bool (*owns)(std::string_view path) = nullptr;
};

/// What the settings say of the listener of the API, whatever serves it: without `admit`.
http::ServerOptions api_listener_options(const Config& config);

/// Whether `Listeners::start` could now use the addresses and the certificate. Returns false with
/// `error` filled otherwise. Call it before App::open creates a file that would be left behind.
bool can_serve(const Config& config, StartError& error);

class Listeners {
 public:
  /// All arguments must outlive this object.
  Listeners(const Config& config, Random& random, api::Services& services, api::Pipeline& pipeline)
      : config_(config), random_(random), services_(services), pipeline_(pipeline) {}

  /// Returns false with `error` filled if an address is not available. `admin` gets its own
  /// listener, or shares that of the API if both have the same address.
  bool start(StartError& error, const AdminPages& admin);
  /// Responds to the accepted requests, for at most `drain_ms`.
  void stop(int drain_ms);
  /// 0 while not served.
  int port() const { return api_ ? api_->port() : 0; }
  /// The address of the API, and of the admin page, which may be the same; nullopt while not
  /// served.
  std::optional<ListenAddress> api_address() const;
  std::optional<ListenAddress> admin_address() const;
  /// The origin of the admin page for a browser on this machine, such as `http://127.0.0.1:8081`;
  /// while not served, derived from the settings.
  std::string admin_origin() const;
  /// Figures of the API listener, and of the admin listener if there is one; nullopt while not
  /// served.
  std::optional<http::ServerStats> api_stats() const {
    return api_ ? std::optional(api_->stats()) : std::nullopt;
  }
  std::optional<http::ServerStats> admin_stats() const {
    return admin_ ? std::optional(admin_->stats()) : std::nullopt;
  }
  /// Reloads certificate and key, for SIGHUP.
  Result<void> reload_tls();

 private:
  bool start_admin(StartError& error, const AdminPages& admin);
  bool admin_has_tls() const;

  const Config& config_;
  Random& random_;
  api::Services& services_;
  api::Pipeline& pipeline_;
  std::unique_ptr<http::Server> api_;
  std::unique_ptr<http::Server> admin_;  // null if shared, disabled, or its address was in use
};

}  // namespace coffer
