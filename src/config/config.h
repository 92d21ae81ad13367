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
#include "base/log.h"
#include "base/result.h"
#include "base/strong.h"
#include "domain/identity/quota.h"

namespace coffer {

struct HostPort {
  std::string host;  // an IPv6 address stands without its brackets
  int port = 0;      // 0 picks a free one
  bool operator==(const HostPort&) const = default;
  std::string to_string() const;
};

/// Where a client on this machine reaches a listener: "all addresses" becomes a loopback address.
/// `port`, when not 0, is the one that was picked for it.
HostPort connectable(HostPort listener, int port = 0);

/// The initial values here are the defaults, and the only place that states them.
struct Config {
  std::string config;           // path of the file that was read; empty: none
  std::string db;               // path of the SQLite file; never empty after load_config
  Secret master_key;            // text from variable or credential; empty: master_key_file counts
  std::string master_key_file;  // not read here: auth/master_key.h does, and may create it

  HostPort listen_http{"127.0.0.1", 8080};
  HostPort admin_listen{"127.0.0.1", 8081};  // equal to listen_http: on the same listener
  bool admin_off = false;
  std::string admin_user = "admin";  // the first operator, made at the start of a file without one:
  Secret admin_password;             // only with this; from variable, credential or the file below
  std::string admin_password_file;
  Secret metrics_token;  // opens /metrics to others than this machine; likewise
  std::string metrics_token_file;
  std::string tls_cert;  // PEM files; both or neither; empty: plain HTTP
  std::string tls_key;
  int workers = 64;
  int max_connections = 4'096;
  int drain_s = 20;

  LogLevel log_level = LogLevel::info;
  std::optional<LogFormat> log_format;  // nullopt: default_log_format()
  std::string log_file;                 // empty: standard error
  int log_max_mib = 64;                 // the file is rotated when it is as large
  int log_keep = 5;                     // rotated files

  std::string backup_dir;   // empty: no scheduled backups
  int backup_every_h = 24;  // age of the last one at which the next is taken
  int backup_keep = 14;     // of the scheduled ones, the latest

  int token_lifetime_s = 3'600;
  int rate_limit_production_per_s = 100;  // rates: 0 is off
  int rate_limit_production_burst = 200;
  int rate_limit_sandbox_per_s = 50;
  int rate_limit_sandbox_burst = 100;
  int rate_limit_login_per_min = 10;

  QuotaLimits quota_sandbox = default_quotas(Environment::sandbox);  // of associations without own
  QuotaLimits quota_production = default_quotas(Environment::production);

  int readers = 4;
  int queue_max = 1'024;
  int disk_floor_mib = 256;  // less free space than this: no writes
  bool allow_network_filesystem = false;

  std::string ca_bundle;  // PEM file of trusted roots; empty: the system's
  std::string network_name = "COFFER";
  std::string network_passphrase;  // empty: made from network_name
  std::string home_domain;         // of the challenge login; empty: where the server listens
  std::string web_auth_domain;     // empty: the home domain
  std::string oauth_issuer;        // external tokens: these three or none
  std::string oauth_audience;
  std::string oauth_jwks;  // path of a file, or an address
  int oauth_timeout_ms = 3'000;
  int settle_delay_ms = 0;  // artificial, for tests and demos

  int webhook_attempts = 3;                                 // per delivery
  std::vector<std::string> webhook_retry_s = {"5", "300"};  // before the 2nd, 3rd, ... attempt
  std::vector<std::string> webhook_sandbox_retry_s = {"1", "10"};  // the last repeats
  int webhook_retry_after_max_s = 3'600;
  int webhook_timeout_ms = 15'000;  // of one attempt, everything included
  int webhook_body_max_kib = 128;
  int webhook_in_flight = 1;  // concurrent attempts per endpoint
  int webhook_senders = 16;
  int webhook_grace_s = 86'400;  // an old secret signs too, unless the caller says how long
  int webhook_body_days = 30;
  int webhook_log_days = 90;
  std::vector<std::string> webhook_allow_targets;  // host names and CIDRs beyond public addresses

  std::string notify_sendmail;     // path of the program; empty: e-mails are only recorded
  std::string notify_from;         // with it: the sender's address
  std::string notify_gateway_url;  // empty: messages are only recorded
  Secret notify_gateway_token;     // with it; from variable, credential or the file below
  std::string notify_gateway_token_file;

  /// Option name -> where its value came from: `default`, `command`, `PATH:LINE`, `COFFER_X`,
  /// `--x`. Every option is in it.
  std::map<std::string, std::string> origins;
};

/// Option name -> text, as given on the command line.
using ConfigFlags = std::map<std::string, std::string>;

struct ConfigInputs {
  ConfigFlags flags = {};
  /// Another command's own defaults (`demo`: rates 0), in the syntax of the environment.
  std::map<std::string, std::string> command_defaults = {};
  std::function<std::optional<std::string>(const std::string&)> environment = environment_variable;
};

/// Reads and validates everything and creates nothing. A Problem lists every fault found, one
/// FieldError per fault: `field` is where (`/etc/coffer/coffer.toml:3`, `COFFER_WORKERS`,
/// `--workers`), `message` what is wrong and what to write instead. Only for the operator's eyes.
Result<Config> load_config(const ConfigInputs& inputs);

/// What could be read, with the faults of the rest, whose settings have their defaults. For
/// `doctor`; nothing may be opened with a Config that has faults, and its `db` may be empty then.
struct ConfigReading {
  Config config;
  std::vector<FieldError> errors;  // as above
};
ConfigReading read_config(const ConfigInputs& inputs);

/// `coffer: WHERE: WHAT`, one line per fault, each with a newline.
std::string config_error_text(const Problem& problem);
/// 2 if only flags are wrong, otherwise 78; a supervisor restarts on neither.
int config_exit_code(const Problem& problem);

struct EffectiveSetting {
  std::string name;
  std::string value;   // a secret reads `(set)` or `(not set)`
  std::string origin;  // as in Config::origins
};
/// Every option in table order, for `check` and `doctor`.
std::vector<EffectiveSetting> effective_settings(const Config& config);

}  // namespace coffer
