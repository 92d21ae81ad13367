// Config: every setting of coffer, complete and valid, fixed for the life of the process.
//
// default < command default < file < environment < flag. One name rule: `listen_http` in the file
// (TOML), `COFFER_LISTEN_HTTP`, `--listen-http`. The table of options is in config_options.h.
//
// A command uses it like this:
//   ConfigFlags flags;                                         // outlives the parse
//   add_config_options(*command, ConfigScope::server, flags);  // config_options.h
//   CLI11_PARSE...
//   auto config = load_config({.flags = flags});
//   if (!config) { print(config_error_text(config.error())); return config_exit_code(...); }
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "base/strong.h"
#include "base/telemetry/log.h"
#include "domain/identity/four_eyes.h"
#include "domain/identity/quota.h"

namespace coffer {

namespace outbound {
struct ArchiveSettings;
}

struct HostPort {
  std::string host;  // an IPv6 address without brackets
  int port = 0;      // 0 selects a free port
  bool operator==(const HostPort&) const = default;
  std::string to_string() const;
  bool is_loopback() const;  // decided by its text; of names, only localhost is
};

/// The address at which a client on this machine reaches a listener: a wildcard becomes a loopback
/// address. `port`, if not 0, replaces the listener's port.
HostPort connectable(HostPort listener, int port = 0);

/// The content of the request log (docs/operating.md#request-log). Bodies are always redacted.
enum class RequestLogging {
  off,
  metadata,  // no bodies
  sandbox,   // bodies of sandbox requests only
  bodies,
};

/// The initial values are the defaults; no other place defines them.
struct Config {
  std::string config;           // path of the file that was read, or empty
  std::string db;               // path of the SQLite file; never empty after load_config
  std::string db_link;          // the configured path if it is a symbolic link to `db`
  Secret master_key;            // from variable or credential; empty: master_key_file is used
  std::string master_key_file;  // read by auth/master_key.h, which may create the file

  HostPort listen_http{"127.0.0.1", 8080};
  HostPort admin_listen{"127.0.0.1", 8081};  // equal to listen_http: same listener
  bool admin_off = false;
  bool admin_plain_http = false;         // accepts an admin page on the network without TLS
  std::vector<std::string> admin_hosts;  // accepted host names in addition to localhost
  // The first operator, created at startup if the file has no operators and a password is set.
  std::string admin_user = "admin";
  // From variable, credential or the file below.
  Secret admin_password;
  std::string admin_password_file;
  FourEyes four_eyes;    // operator actions that require a second operator
  Secret metrics_token;  // permits remote access to /metrics; from the same sources
  std::string metrics_token_file;
  std::string tls_cert;  // PEM files; both or neither; empty: plain HTTP
  std::string tls_key;
  std::string tls_client_ca;                 // PEM; empty: no client certificates are requested
  std::vector<std::string> trusted_proxies;  // CIDRs of peers whose X-Forwarded-For is trusted
  int workers = 64;
  int max_connections = 4'096;
  int idle_timeout_s = 660;  // of a client connection between requests
  int drain_s = 20;

  LogLevel log_level = LogLevel::info;
  std::optional<LogFormat> log_format;  // nullopt: default_log_format()
  std::string log_file;                 // empty: standard error
  int log_max_mib = 64;                 // size at which the file is rotated, in MiB
  int log_keep = 5;                     // number of rotated files

  RequestLogging request_log = RequestLogging::sandbox;
  int request_log_days = 14;
  int request_log_mib = 256;

  std::string backup_dir;   // empty: no scheduled backups
  int backup_every_h = 24;  // age of the last backup at which the next is made, in hours
  int backup_keep = 14;     // number of scheduled backups to keep

  std::string archive;                // URL; empty: no archive
  int archive_keep_days = 30;         // any moment of these can be restored
  int archive_snapshot_every_h = 24;  // of the file
  int archive_prove_every_h = 24;     // restores on trial; 0: none

  int token_lifetime_s = 3'600;
  int rate_limit_production_per_s = 100;  // rates: 0 disables
  int rate_limit_production_burst = 200;
  int rate_limit_sandbox_per_s = 50;
  int rate_limit_sandbox_burst = 100;
  int rate_limit_login_per_min = 10;

  // For associations without their own limits.
  QuotaLimits quota_sandbox = default_quotas(Environment::sandbox);
  QuotaLimits quota_production = default_quotas(Environment::production);

  int readers = 4;
  int queue_max = 1'024;
  int disk_floor_mib = 256;  // with less free space, writes are rejected
  std::uint64_t disk_floor_bytes() const {
    return static_cast<std::uint64_t>(disk_floor_mib) << 20;
  }
  bool allow_network_filesystem = false;
  std::string replicate;  // URL of the shared log; empty: the file stands alone
  Secret replicate_password;
  std::string replicate_password_file;
  bool replicate_unsafe = false;      // the log may lose acknowledged payments
  int replicate_keep_h = 24;          // for which the log keeps its entries
  std::vector<std::string> replicas;  // the other machines: http://HOST:PORT

  std::string archive_endpoint;  // of a store with S3's interface; empty: AWS
  std::string archive_region = "us-east-1";
  std::string archive_access_key;  // set both keys or neither
  Secret archive_secret_key;
  std::string archive_secret_key_file;
  Secret archive_session_token;  // of temporary keys
  std::string archive_session_token_file;

  std::string ca_bundle;  // PEM file of trusted roots; empty: the system's
  std::string network_name = "COFFER";
  std::string network_passphrase;  // empty: derived from network_name
  std::string home_domain;         // of the challenge login; empty: the address of the server
  std::string web_auth_domain;     // empty: the home domain
  std::string oauth_issuer;        // external tokens: set all three or none
  std::string oauth_audience;
  std::string oauth_jwks;  // path of a file, or a URL
  int oauth_timeout_ms = 3'000;
  std::string oidc_issuer;  // sign-in of operators with a provider: set with oidc_client_id
  std::string oidc_client_id;
  Secret oidc_client_secret;
  std::string oidc_client_secret_file;
  int settle_delay_ms = 0;  // artificial delay for tests and demos

  int webhook_attempts = 3;                                 // per delivery
  std::vector<std::string> webhook_retry_s = {"5", "300"};  // before the 2nd, 3rd, ... attempt
  std::vector<std::string> webhook_sandbox_retry_s = {"1", "10"};  // the last value repeats
  int webhook_retry_after_max_s = 3'600;
  int webhook_timeout_ms = 15'000;  // for a whole attempt
  int webhook_body_max_kib = 128;
  int webhook_in_flight = 1;  // concurrent attempts per endpoint
  int webhook_senders = 16;
  // How long an old secret also signs, unless the caller sends another value.
  int webhook_grace_s = 86'400;
  int webhook_body_days = 30;
  int webhook_log_days = 90;
  // Permitted host names and CIDR ranges in addition to public addresses.
  std::vector<std::string> webhook_allow_targets;
  std::vector<std::string> webhook_allow_ports;  // of public addresses, in addition to 443 and 80

  std::string notify_smtp;       // smtp://HOST:PORT or smtps://HOST:PORT; empty: not by SMTP
  std::string notify_smtp_user;  // empty: without authentication
  Secret notify_smtp_password;   // required with it; from variable, credential or the file below
  std::string notify_smtp_password_file;
  std::string notify_sendmail;     // path of the program; without either, e-mails are only recorded
  std::string notify_from;         // required with either: the sender's address
  std::string notify_gateway_url;  // empty: messages are only recorded
  Secret notify_gateway_token;     // used with it; from variable, credential or the file below
  std::string notify_gateway_token_file;

  std::string alert_webhook_url;  // empty: no alerts by webhook
  Secret alert_webhook_secret;    // required with it: `whsec_...`
  std::string alert_webhook_secret_file;
  std::string alert_email;  // recipient; empty: no alerts by e-mail; requires notify_smtp or
                            // notify_sendmail

  /// Option name -> source of its value: `default`, `command`, `PATH:LINE`, `COFFER_X`, `--x`.
  /// Contains every option.
  std::map<std::string, std::string> origins;
};

/// Option name -> text, as given on the command line.
using ConfigFlags = std::map<std::string, std::string>;

struct ConfigInputs {
  ConfigFlags flags = {};
  /// Defaults of a command (`demo`: rates 0), in the syntax of the environment.
  std::map<std::string, std::string> command_defaults = {};
  std::function<std::optional<std::string>(const std::string&)> environment = environment_variable;
};

/// Reads and validates all settings and creates nothing. A Problem lists all errors, one FieldError
/// per error: `field` is the location (`/etc/coffer/coffer.toml:3`, `COFFER_WORKERS`, `--workers`),
/// `message` the error and its remedy. For the operator only.
Result<Config> load_config(const ConfigInputs& inputs);

/// The valid settings, and the errors of the others, which keep their defaults. For `doctor`. Do
/// not open a database with a Config that has errors; its `db` may be empty.
struct ConfigReading {
  Config config;
  std::vector<FieldError> errors;  // as in load_config()
};
ConfigReading read_config(const ConfigInputs& inputs);

/// The archive at `url`, with the settings that apply to every archive.
outbound::ArchiveSettings archive_settings(const Config& config, std::string url);

/// `coffer: WHERE: WHAT`, one line per error, each with a newline.
std::string config_error_text(const Problem& problem);
/// 2 if all errors are in flags, otherwise 78. A supervisor should restart on neither.
int config_exit_code(const Problem& problem);

/// Where the master key of the database at this path is, unless the settings contain it.
std::string default_master_key_file(const std::string& database);

struct EffectiveSetting {
  std::string name;
  std::string value;   // `(set)` or `(not set)` for a secret
  std::string origin;  // as in Config::origins
};
/// All options in table order, for `check` and `doctor`.
std::vector<EffectiveSetting> effective_settings(const Config& config);

}  // namespace coffer
