#include "config/config_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/files/durable_file.h"
#include "base/text/ascii.h"
#include "base/text/join.h"
#include "base/text/nearest.h"
#include "base/text/next_part.h"
#include "base/text/whole_number.h"

namespace coffer {
namespace {

constexpr auto kFile = ConfigScope::file;
constexpr auto kServer = ConfigScope::server;
constexpr int kRateMax = 1'000'000;

constexpr ConfigOption path(std::string_view name, ConfigTarget target, ConfigScope scope,
                            std::string_view help, std::string_view default_note = {}) {
  return {.name = name,
          .target = target,
          .scope = scope,
          .placeholder = "FILE",
          .help = help,
          .default_note = default_note,
          .path = true};
}

constexpr ConfigOption number(std::string_view name, int Config::*target,
                              std::string_view placeholder, std::string_view help, int min,
                              int max) {
  return {.name = name,
          .target = target,
          .scope = kServer,
          .placeholder = placeholder,
          .help = help,
          .min = min,
          .max = max};
}

constexpr ConfigOption word(std::string_view name, ConfigTarget target, ConfigScope scope,
                            std::string_view placeholder, std::string_view help,
                            std::string_view default_note = {}) {
  return {.name = name,
          .target = target,
          .scope = scope,
          .placeholder = placeholder,
          .help = help,
          .default_note = default_note};
}

constexpr auto kOptions = std::to_array<ConfigOption>({
    path("config", &Config::config, kFile, "Configuration file (TOML)",
         "coffer/coffer.toml in $XDG_CONFIG_HOME; in /etc for the service"),
    path("db", &Config::db, kFile, "Database file",
         "coffer/coffer.db in $XDG_DATA_HOME; in /var/lib for the service"),
    word("master_key", &Config::master_key, kFile, "KEY", "Master key that seals stored secrets"),
    path("master_key_file", &Config::master_key_file, kFile, "File with the master key",
         "master.key next to the database"),
    word("allow_network_filesystem", &Config::allow_network_filesystem, kFile, "",
         "Allow a database on NFS, SMB or FUSE, where file locks may not work"),
    word("replicate", &Config::replicate, kFile, "URL",
         "Log that the machines of one ledger share: postgres://USER@HOST:PORT/DATABASE or "
         "folder:PATH; without it, this machine is the only one"),
    word("replicate_password", &Config::replicate_password, kFile, "PASSWORD",
         "Password at the server of the log"),
    path("replicate_password_file", &Config::replicate_password_file, kFile,
         "File with the password at the server of the log"),
    word("replicate_unsafe", &Config::replicate_unsafe, kFile, "",
         "Accept a log that can lose acknowledged payments; only for trials"),
    number("replicate_keep_h", &Config::replicate_keep_h, "HOURS",
           "Time for which the log keeps its entries; a machine that was away for longer needs a "
           "seed",
           1, 8'760),
    word("replicas", &Config::replicas, kServer, "URL,...",
         "Addresses of the API on the other machines, which the leader asks for their state"),
    word("archive", &Config::archive, kFile, "URL",
         "Place of the archive, from which any moment can be restored: file:///FOLDER or "
         "s3://BUCKET[/PREFIX]"),
    word("archive_endpoint", &Config::archive_endpoint, kFile, "URL",
         "Store with S3's interface that has the archive: https://HOST:PORT", "AWS"),
    word("archive_region", &Config::archive_region, kFile, "NAME",
         "Region of the archive's bucket"),
    word("archive_access_key", &Config::archive_access_key, kFile, "KEY",
         "Access key of the archive's bucket"),
    word("archive_secret_key", &Config::archive_secret_key, kFile, "KEY",
         "Secret key that belongs to the access key"),
    path("archive_secret_key_file", &Config::archive_secret_key_file, kFile,
         "File with the secret key of the archive's bucket"),
    word("archive_session_token", &Config::archive_session_token, kFile, "TOKEN",
         "Session token of temporary keys of the archive's bucket"),
    path("archive_session_token_file", &Config::archive_session_token_file, kFile,
         "File with the session token of temporary keys"),
    word("log_level", &Config::log_level, kFile, "LEVEL",
         "Log level: debug, info, warning, error or off"),
    word("log_format", &Config::log_format, kFile, "FORMAT", "Log format: text, json or auto",
         "auto: text on a terminal, otherwise json"),
    path("log_file", &Config::log_file, kServer, "Log file", "standard error"),
    number("log_max_mib", &Config::log_max_mib, "MIB",
           "Maximum size of the log file before rotation", 1, 65'536),
    number("log_keep", &Config::log_keep, "N", "Number of rotated log files to keep", 0, 1'000),
    word(
        "request_log", &Config::request_log, kServer, "WHAT",
        "Request log: off, metadata, sandbox (with redacted bodies of sandbox requests) or bodies"),
    number("request_log_days", &Config::request_log_days, "DAYS", "Retention of the request log", 1,
           3'650),
    number("request_log_mib", &Config::request_log_mib, "MIB",
           "Maximum size of the request log; beyond it, the oldest requests are removed", 1,
           65'536),
    path("backup_dir", &Config::backup_dir, kServer,
         "Folder for scheduled backups; without it, no backups are scheduled"),
    number("backup_every_h", &Config::backup_every_h, "HOURS", "Interval of scheduled backups", 1,
           8'760),
    number("backup_keep", &Config::backup_keep, "N", "Number of scheduled backups to keep", 1,
           10'000),
    number("archive_keep_days", &Config::archive_keep_days, "DAYS",
           "Time for which any moment can be restored from the archive", 1, 36'500),
    number("archive_snapshot_every_h", &Config::archive_snapshot_every_h, "HOURS",
           "Interval of the snapshots in the archive", 1, 8'760),
    number("archive_prove_every_h", &Config::archive_prove_every_h, "HOURS",
           "Interval at which a restore from the archive is proven; 0 means never", 0, 8'760),

    word("listen_http", &Config::listen_http, kServer, "HOST:PORT",
         "Address of the API; port 0 selects a free one"),
    word("admin_listen", &Config::admin_listen, kServer, "HOST:PORT",
         "Address of the admin page and of /metrics"),
    word("admin_off", &Config::admin_off, kServer, "", "Turn off the admin page and /metrics"),
    word("admin_hosts", &Config::admin_hosts, kServer, "NAME,...",
         "Host names accepted for the admin page and /metrics, in addition to localhost and IP "
         "addresses"),
    word("admin_plain_http", &Config::admin_plain_http, kServer, "",
         "Serve the admin page to other machines without TLS; passwords cross the network in clear "
         "text"),
    word("admin_user", &Config::admin_user, kServer, "NAME",
         "Name of the first operator, created at startup if no operator exists and a password is "
         "set"),
    word("admin_password", &Config::admin_password, kServer, "PASSWORD",
         "Password of the first operator; without it, coffer prints a one-time link at startup"),
    path("admin_password_file", &Config::admin_password_file, kServer,
         "File with the password of the first operator"),
    word("four_eyes", &Config::four_eyes, kServer, "off|all|CODE=AMOUNT,...",
         "Actions on the admin page that require a second operator; amounts up to a limit are "
         "exempt"),
    word("metrics_token", &Config::metrics_token, kServer, "TOKEN",
         "Bearer token for access to /metrics from other machines"),
    path("metrics_token_file", &Config::metrics_token_file, kServer,
         "File with the token for /metrics"),
    path("tls_cert", &Config::tls_cert, kServer, "TLS certificate chain (PEM)"),
    path("tls_key", &Config::tls_key, kServer, "TLS private key (PEM)"),
    path("tls_client_ca", &Config::tls_client_ca, kServer,
         "CAs whose certificates clients may present (PEM); requires tls_cert and tls_key"),
    word("trusted_proxies", &Config::trusted_proxies, kServer, "CIDR,...",
         "Proxies whose X-Forwarded-For, X-Forwarded-Proto and X-Forwarded-Host are trusted"),
    number("workers", &Config::workers, "N",
           "Concurrent payments and other writes; by default 512 with replicate", 1, 1'024),
    number("max_connections", &Config::max_connections, "N", "Maximum number of client connections",
           1, 1'000'000),
    number("idle_timeout_s", &Config::idle_timeout_s, "SECONDS",
           "Idle time after which a client connection is closed; longer than in a proxy", 2,
           86'400),
    number("readers", &Config::readers, "N",
           "Number of database connections for single reads and lists", 1, 256),
    number("queue_max", &Config::queue_max, "N",
           "Maximum number of waiting writes; beyond it, 503 overloaded", 1, 65'536),
    number("drain_s", &Config::drain_s, "SECONDS",
           "Time to finish requests in progress when the server stops", 0, 3'600),
    number("disk_floor_mib", &Config::disk_floor_mib, "MIB",
           "Minimum free disk space; below it, writes are rejected", 0, 1'048'576),
    number("token_lifetime_s", &Config::token_lifetime_s, "SECONDS", "Lifetime of a bearer token",
           1, 604'800),
    number("rate_limit_production_per_s", &Config::rate_limit_production_per_s, "N",
           "Requests per second of a production application; 0 means no limit", 0, kRateMax),
    number("rate_limit_production_burst", &Config::rate_limit_production_burst, "N",
           "Burst of requests of a production application", 1, kRateMax),
    number("rate_limit_sandbox_per_s", &Config::rate_limit_sandbox_per_s, "N",
           "Requests per second of a sandbox application; 0 means no limit", 0, kRateMax),
    number("rate_limit_sandbox_burst", &Config::rate_limit_sandbox_burst, "N",
           "Burst of requests of a sandbox application", 1, kRateMax),
    number("rate_limit_login_per_min", &Config::rate_limit_login_per_min, "N",
           "Logins per minute and client, and failed logins per source before delays begin; 0 "
           "means no limit",
           0, kRateMax),
    word("quota_production", &Config::quota_production, kServer, "NAME=LIMIT,...",
         "Quotas of each association in production; omitted ones keep their defaults"),
    word("quota_sandbox", &Config::quota_sandbox, kServer, "NAME=LIMIT,...",
         "Quotas of each association in the sandbox; omitted ones keep their defaults"),
    path("ca_bundle", &Config::ca_bundle, kServer,
         "Trusted root certificates (PEM) for calls to other machines",
         "the system's root certificates"),
    word("network_name", &Config::network_name, kServer, "NAME",
         "Name of the embedded ledger, returned as networkName"),
    word("network_passphrase", &Config::network_passphrase, kServer, "TEXT",
         "Network passphrase of the challenge login", "network_name and \" ; embedded ledger\""),
    word("home_domain", &Config::home_domain, kServer, "DOMAIN",
         "Domain that serves stellar.toml, which clients of the challenge login use",
         "the address of the API"),
    word("web_auth_domain", &Config::web_auth_domain, kServer, "DOMAIN",
         "Domain that serves the challenge login", "the home domain"),
    word("oauth_issuer", &Config::oauth_issuer, kServer, "URL",
         "Issuer (iss) of external tokens for the business routes"),
    word("oauth_audience", &Config::oauth_audience, kServer, "TEXT",
         "Audience (aud) of external tokens"),
    word("oauth_jwks", &Config::oauth_jwks, kServer, "FILE|URL",
         "JWK set with the public keys of the issuer: a file or an https URL"),
    number("oauth_timeout_ms", &Config::oauth_timeout_ms, "MS",
           "Timeout for fetching the JWK set; then 504 token-verification-timeout", 1, 60'000),
    word("oidc_issuer", &Config::oidc_issuer, kServer, "URL",
         "OpenID provider with which operators may sign in to the admin page"),
    word("oidc_client_id", &Config::oidc_client_id, kServer, "ID",
         "Client ID of coffer at this provider"),
    word("oidc_client_secret", &Config::oidc_client_secret, kServer, "SECRET",
         "Client secret at this provider; without it, coffer is a public client"),
    path("oidc_client_secret_file", &Config::oidc_client_secret_file, kServer,
         "File with the client secret"),
    number("settle_delay_ms", &Config::settle_delay_ms, "MS",
           "Delay before settlement, for tests and demos", 0, 3'600'000),
    number("webhook_attempts", &Config::webhook_attempts, "N",
           "Number of attempts per delivery, including the first", 1, 20),
    word("webhook_retry_s", &Config::webhook_retry_s, kServer, "SECONDS,...",
         "Delays before the second, third, ... attempt; the last one repeats"),
    word("webhook_sandbox_retry_s", &Config::webhook_sandbox_retry_s, kServer, "SECONDS,...",
         "The same delays in the sandbox"),
    number("webhook_retry_after_max_s", &Config::webhook_retry_after_max_s, "SECONDS",
           "Maximum honoured Retry-After of an endpoint", 0, 86'400),
    number("webhook_timeout_ms", &Config::webhook_timeout_ms, "MS", "Timeout of a delivery attempt",
           1, 300'000),
    number("webhook_body_max_kib", &Config::webhook_body_max_kib, "KIB",
           "Maximum size of a delivered event", 1, 1'024),
    number("webhook_in_flight", &Config::webhook_in_flight, "N", "Concurrent attempts per endpoint",
           1, 256),
    number("webhook_senders", &Config::webhook_senders, "N",
           "Number of threads that deliver events", 1, 256),
    number(
        "webhook_grace_s", &Config::webhook_grace_s, "SECONDS",
        "Time during which the old secret also signs after a rotation; a request can override it",
        0, 604'800),
    number("webhook_body_days", &Config::webhook_body_days, "DAYS",
           "Retention of event bodies for redelivery", 1, 3'650),
    number("webhook_log_days", &Config::webhook_log_days, "DAYS", "Retention of the delivery log",
           1, 3'650),
    word("webhook_allow_targets", &Config::webhook_allow_targets, kServer, "HOST|CIDR,...",
         "Hosts or networks allowed as endpoints even if their addresses are not public"),
    word("webhook_allow_ports", &Config::webhook_allow_ports, kServer, "PORT,...",
         "Ports allowed at public addresses in addition to 443, and 80 in the sandbox"),
    word("notify_smtp", &Config::notify_smtp, kServer, "URL",
         "Mail server for e-mails to recipients of payments, smtps://HOST:465 or smtp://HOST:587; "
         "without it and notify_sendmail, they are only recorded"),
    word("notify_smtp_user", &Config::notify_smtp_user, kServer, "USER",
         "User name at the mail server"),
    word("notify_smtp_password", &Config::notify_smtp_password, kServer, "PASSWORD",
         "Password at the mail server"),
    path("notify_smtp_password_file", &Config::notify_smtp_password_file, kServer,
         "File with the password at the mail server"),
    path("notify_sendmail", &Config::notify_sendmail, kServer,
         "sendmail program for these e-mails, instead of notify_smtp"),
    word("notify_from", &Config::notify_from, kServer, "ADDRESS",
         "Sender address of these e-mails"),
    word(
        "notify_gateway_url", &Config::notify_gateway_url, kServer, "URL",
        "URL of the HTTP gateway for messages to recipients of payments; without it, they are only "
        "recorded"),
    word("notify_gateway_token", &Config::notify_gateway_token, kServer, "TOKEN",
         "Bearer token for the HTTP gateway"),
    path("notify_gateway_token_file", &Config::notify_gateway_token_file, kServer,
         "File with the token for the HTTP gateway"),
    word("alert_webhook_url", &Config::alert_webhook_url, kServer, "URL",
         "URL that receives alerts as signed webhooks; https, or http on this machine"),
    word("alert_webhook_secret", &Config::alert_webhook_secret, kServer, "SECRET",
         "Secret that signs alerts: whsec_ and at least 24 bytes in base64"),
    path("alert_webhook_secret_file", &Config::alert_webhook_secret_file, kServer,
         "File with the secret that signs alerts"),
    word("alert_email", &Config::alert_email, kServer, "ADDRESS",
         "Recipient of alerts by e-mail; requires notify_smtp or notify_sendmail"),
});

constexpr std::array<std::pair<std::string_view, LogLevel>, 6> kLevels = {{
    {"debug", LogLevel::debug},
    {"info", LogLevel::info},
    {"warning", LogLevel::warning},
    {"warn", LogLevel::warning},
    {"error", LogLevel::error},
    {"off", LogLevel::off},
}};

constexpr std::array<std::pair<std::string_view, RequestLogging>, 4> kRequestLogging = {{
    {"off", RequestLogging::off},
    {"metadata", RequestLogging::metadata},
    {"sandbox", RequestLogging::sandbox},
    {"bodies", RequestLogging::bodies},
}};

Unexpected bad_value(std::string_view text, const std::string& wanted) {
  return unexpected(Slug::validation_failed,
                    "\"" + std::string(text) + "\" is not valid: " + wanted);
}

std::optional<HostPort> parse_host_port(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const auto port = whole_number<int>(text.substr(colon + 1));
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return std::nullopt;  // a bare IPv6 address, in which the start of the port is ambiguous
  }
  const bool bad_host = host.empty() || host.find_first_of(" \t[]/@") != std::string_view::npos;
  if (bad_host || !port || *port < 0 || *port > 65'535) return std::nullopt;
  return HostPort{std::string(host), *port};
}

Result<void> read_value(const ConfigOption& option, std::string_view text, std::string& out) {
  if (text.empty()) return bad_value(text, "it is empty");
  if (ascii::has_control(text)) {
    return unexpected(Slug::validation_failed, "it contains a control character");
  }
  if (option.path && text.starts_with("~")) {
    return bad_value(text, "~ is not supported; write the whole path");
  }
  if (option.path && (text == ":memory:" || text.starts_with("file:"))) {
    return bad_value(text, "write the path of a file");
  }
  if (option.path && text.ends_with(kPartialEnding)) {
    return bad_value(text, "this ending is reserved for incomplete files; choose another name");
  }
  out = text;
  return {};
}

Result<void> read_value(const ConfigOption& option, std::string_view text, int& out) {
  const auto value = whole_number<int>(text);
  if (!value || *value < option.min || *value > option.max) {
    return bad_value(text, "write a whole number from " + std::to_string(option.min) + " to " +
                               std::to_string(option.max));
  }
  out = *value;
  return {};
}

Result<void> read_value(const ConfigOption&, std::string_view text, bool& out) {
  if (text != "true" && text != "false") return bad_value(text, "write true or false");
  out = text == "true";
  return {};
}

Result<void> read_value(const ConfigOption&, std::string_view text, HostPort& out) {
  auto value = parse_host_port(text);
  if (!value) {
    return bad_value(text, "write HOST:PORT, as in 127.0.0.1:8080, [::1]:8080, or 0.0.0.0:8080 " +
                               std::string("for all addresses"));
  }
  out = std::move(*value);
  return {};
}

Result<void> read_value(const ConfigOption&, std::string_view text, LogLevel& out) {
  for (const auto& [name, level] : kLevels) {
    if (name == text) {
      out = level;
      return {};
    }
  }
  return bad_value(text, "write debug, info, warning, error or off");
}

Result<void> read_value(const ConfigOption&, std::string_view text, RequestLogging& out) {
  for (const auto& [name, what] : kRequestLogging) {
    if (name == text) {
      out = what;
      return {};
    }
  }
  return bad_value(text, "write off, metadata, sandbox or bodies");
}

Result<void> read_value(const ConfigOption&, std::string_view text, std::optional<LogFormat>& out) {
  if (text == "auto") {
    out = std::nullopt;
  } else if (text == "text") {
    out = LogFormat::text;
  } else if (text == "json") {
    out = LogFormat::json;
  } else {
    return bad_value(text, "write text, json or auto");
  }
  return {};
}

Result<void> read_value(const ConfigOption& option, std::string_view text,
                        std::vector<std::string>& out) {
  std::vector<std::string> items;
  while (!text.empty()) {
    std::string one;
    COFFER_TRY_VOID(read_value(option, next_part(text, ','), one));
    items.push_back(std::move(one));
  }
  if (items.empty()) return bad_value(text, "write one or more values, separated by commas");
  out = std::move(items);
  return {};
}

// As with every setting, only the source with the highest precedence is used.
Result<void> read_value(const ConfigOption& option, std::string_view text, QuotaLimits& out) {
  const QuotaLimits defaults = Config{}.*std::get<QuotaLimits Config::*>(option.target);
  COFFER_TRY(out, parse_quota_limits(text, defaults));
  return {};
}

Result<void> read_value(const ConfigOption&, std::string_view text, FourEyes& out) {
  COFFER_TRY(out, FourEyes::parse(text));
  return {};
}

// Does not use bad_value, which would print the secret.
Result<void> read_value(const ConfigOption&, std::string_view text, Secret& out) {
  if (text.empty()) return unexpected(Slug::validation_failed, "it is empty");
  out = Secret(std::string(text));
  return {};
}

std::string show_value(const std::string& value) { return value; }
std::string show_value(int value) { return std::to_string(value); }
std::string show_value(bool value) { return value ? "true" : "false"; }
std::string show_value(const HostPort& value) { return value.to_string(); }
std::string show_value(const Secret& value) { return value.empty() ? "(not set)" : "(set)"; }
std::string show_value(const std::vector<std::string>& value) { return join(value, ","); }
std::string show_value(const QuotaLimits& value) { return quota_limits_text(value); }
std::string show_value(const FourEyes& value) { return value.text(); }
std::string show_value(LogLevel value) {
  for (const auto& [name, level] : kLevels) {
    if (level == value) return std::string(name);
  }
  return {};
}
std::string show_value(RequestLogging value) {
  for (const auto& [name, what] : kRequestLogging) {
    if (what == value) return std::string(name);
  }
  return {};
}
std::string show_value(std::optional<LogFormat> value) {
  if (!value) return "auto";
  return *value == LogFormat::json ? "json" : "text";
}

std::string help_text(const ConfigOption& option) {
  const std::string fallback = option.default_text();
  std::string text(option.help);
  if (!fallback.empty() && !option.placeholder.empty()) text += " [" + fallback + "]";
  return text;
}

}  // namespace

std::string HostPort::to_string() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

bool HostPort::is_loopback() const {
  return host.starts_with("127.") || host == "::1" || host == "localhost";
}

HostPort connectable(HostPort listener, int port) {
  if (listener.host == "0.0.0.0") listener.host = "127.0.0.1";
  if (listener.host == "::") listener.host = "::1";
  if (port != 0) listener.port = port;
  return listener;
}

std::string ConfigOption::flag() const {
  std::string text = "--" + std::string(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

std::string ConfigOption::variable() const {
  std::string text = "COFFER_" + std::string(name);
  for (char& c : text) c = ascii::to_upper(c);
  return text;
}

std::string ConfigOption::default_text() const {
  if (!default_note.empty()) return std::string(default_note);
  return secret() ? std::string() : config_value_text(*this, Config{});
}

std::span<const ConfigOption> config_options() { return kOptions; }

const ConfigOption* find_config_option(std::string_view name) {
  const auto found = std::ranges::find(kOptions, name, &ConfigOption::name);
  return found == kOptions.end() ? nullptr : &*found;
}

std::string_view nearest_config_option(std::string_view name) {
  std::vector<std::string_view> names;
  for (const ConfigOption& option : kOptions) names.push_back(option.name);
  return nearest(name, names).value_or("");
}

Result<void> set_config_value(const ConfigOption& option, std::string_view text, Config& config) {
  return std::visit([&](auto member) { return read_value(option, text, config.*member); },
                    option.target);
}

std::string config_value_text(const ConfigOption& option, const Config& config) {
  return std::visit([&](auto member) { return show_value(config.*member); }, option.target);
}

void add_config_options(CLI::App& command, ConfigScope scope, ConfigFlags& flags) {
  for (const ConfigOption& option : kOptions) {
    const bool other_scope = option.scope == ConfigScope::server && scope == ConfigScope::file;
    if (other_scope || option.secret()) continue;
    const std::string name(option.name);
    CLI::Option* added = nullptr;
    if (option.placeholder.empty()) {
      const auto store = [&flags, name](std::int64_t count) {
        flags[name] = count > 0 ? "true" : "false";
      };
      added = command.add_flag_function(option.flag(), store, help_text(option));
      added->check([](const std::string& value) {
        const bool known = value == "true" || value == "false";
        return known ? std::string() : "\"" + value + "\" must be true or false";
      });
    } else {
      const auto store = [&flags, name](const std::string& text) { flags[name] = text; };
      added = command.add_option_function<std::string>(option.flag(), store, help_text(option));
      added->type_name(std::string(option.placeholder));
    }
    added->group("Settings");
  }
  command.footer(
      "Each setting is also a variable (COFFER_LOG_LEVEL) and a key of the file (log_level = "
      "\"info\").\nA flag takes precedence over the variable, the variable over the file.");
}

}  // namespace coffer
