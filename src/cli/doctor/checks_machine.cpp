#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <map>
#include <sstream>

#include "base/text/join.h"
#include "base/text/whole_number.h"
#include "cli/control_wire.h"
#include "cli/doctor/checks.h"
#include "cli/serve/serving.h"
#include "domain/operations/condition.h"
#include "http/certificate.h"
#include "outbound/operations/mail.h"
#include "store/file/held_file.h"
#include "store/file/lock_file.h"
#include "store/replication/joining.h"

namespace coffer::cli {
namespace {

/// Host -> the setting that contains it.
std::map<std::string, std::string> named_hosts(const Config& config) {
  std::map<std::string, std::string> out;
  const std::array<std::pair<const char*, std::string>, 3> settings = {{
      {"oauth_jwks", config.oauth_jwks},
      {"notify_gateway_url", config.notify_gateway_url},
      {"alert_webhook_url", config.alert_webhook_url},
  }};
  for (const auto& [setting, text] : settings) {
    if (const auto url = outbound::parse_url(text)) out.emplace(url->host, setting);
  }
  const std::string mail_host = outbound::smtp_host(config.notify_smtp);
  if (!mail_host.empty()) out.emplace(mail_host, "notify_smtp");
  return out;
}

std::string text_of(const http::JsonValue& object, const char* member) {
  const http::JsonValue* value = object.find(member);
  return value == nullptr ? std::string() : value->scalar_text().value_or("");
}

/// A condition of the machine or the file that the server finds itself. `coffer overview` has the
/// others, which are about payments.
struct ServerCondition {
  AlertCondition condition;
  const char* check;
  Grade grade;
  const char* remedy;
};
constexpr auto kConditions = std::to_array<ServerCondition>({
    {AlertCondition::ledger_damaged, "ledger", Grade::failed,
     "Run coffer verify, which names the errors."},
    {AlertCondition::backup_failed, "backups", Grade::failed,
     "Read backupFailure in coffer overview, and make a backup now with coffer backup."},
    {AlertCondition::backup_missing, "backups", Grade::warning,
     "Make one now with coffer backup. Set backup_dir to a folder on another disk for a schedule."},
    {AlertCondition::backup_old, "backups", Grade::failed,
     "Search the server log for `backup`, and make a backup now with coffer backup."},
    {AlertCondition::clock_wrong, "clock", Grade::warning,
     "Synchronise the clock with chrony or systemd-timesyncd. Until then, new payments may get "
     "timestamps ahead of the clock."},
    {AlertCondition::clock_unknown, "clock", Grade::warning,
     "Permit the system calls adjtimex and clock_adjtime, which only read without a privilege."},
    {AlertCondition::checkpoints_missing, "checkpoints", Grade::warning,
     "Check that the server can write to the archive. It retries every minute."},
    {AlertCondition::archive_behind, "archive", Grade::failed,
     "Run coffer archive status, and search the server log for `archive`."},
    {AlertCondition::restore_unproven, "archive", Grade::failed,
     "Run coffer archive prove, which names what is wrong."},
    {AlertCondition::replica_missing, "replicas", Grade::warning,
     "Start the server at each of replicas. Until then, no machine takes over from this one."},
    {AlertCondition::replica_lagging, "replicas", Grade::warning,
     "Read the log of the server at each of replicas. It names what it cannot apply."},
    {AlertCondition::log_unreachable, "log", Grade::failed,
     "Check the engine or the disk of the shared log. Payments wait for it."},
});

void judge_conditions(Findings& out, const http::JsonValue& overview) {
  const http::JsonValue* attention = overview.find("attention");
  if (attention == nullptr || attention->array() == nullptr) return;
  for (const http::JsonValue& row : *attention->array()) {
    const std::string condition = text_of(row, "condition");
    const std::string reason = text_of(row, "reason");
    const std::string found = text_of(row, "summary") + (reason.empty() ? "" : ": " + reason);
    for (const auto& [known, check, grade, remedy] : kConditions) {
      if (name(known) == condition) out.push_back({check, grade, found, remedy});
    }
  }
}

/// Names of the failed checks in the body of /healthz.
std::string failed_checks(const std::string& body) {
  const auto json = http::parse_json(body);
  const http::JsonValue* checks = json ? json->find("checks") : nullptr;
  if (checks == nullptr || checks->object() == nullptr) return "the response is not from coffer";
  auto found = *checks->object();
  std::erase_if(found, [](const auto& check) { return check.second.scalar_text() == "ok"; });
  return join(found, ", ", [](const auto& check) { return check.first; });
}

/// nullopt if the body of /healthz is not that of a follower.
std::optional<Finding> judge_follower(const std::string& check, const std::string& address,
                                      const std::string& body) {
  const auto json = http::parse_json(body);
  if (!json || text_of(*json, "role") != "follower") return std::nullopt;
  const std::string found = address + " follows " + text_of(*json, "leader") + ", " +
                            text_of(*json, "lagMs") + " ms behind";
  const auto lag_ms = whole_number<std::int64_t>(text_of(*json, "lagMs"));
  if (lag_ms && *lag_ms < store::kLagMaxMs) return good(check, found);
  return failed(check, found, "Read the server log for what it cannot read or apply.");
}

Finding judge_health(const HostPort& listener, const std::string& tls_cert, int timeout_ms) {
  const std::string check = "api";
  const std::string address = listener.to_string();
  if (listener.port == 0) return good(check, "on a port selected by the server");
  const auto result = ask_health(health_target(listener, tls_cert), timeout_ms);
  if (!result) {
    // The port responds, but the certificate in the settings is not that of the server.
    if (!tls_cert.empty() && result.error().slug == Slug::provider_error) {
      return good(check, address + " responds, with TLS");
    }
    return failed(check, "a server runs, but there is no response at " + address,
                  "Run coffer doctor with the server's settings, or read the server log.");
  }
  if (result->status == 200) return good(check, address + " is healthy");
  if (const auto follower = judge_follower(check, address, result->body)) return *follower;
  return failed(check,
                address + " is not healthy (" + std::to_string(result->status) +
                    "): " + failed_checks(result->body),
                "Read the server log for the reason, or find out which program listens there.");
}

Finding judge_owner(const Owner& owner) {
  if (!owner.told) {
    return warning("server", "this user cannot see whether a server runs",
                   "Run coffer doctor as the user of the server.");
  }
  const std::string process =
      owner.process == 0 ? "another process" : "process " + std::to_string(owner.process);
  if (owner.commanded) return good("server", process + " serves the database");
  if (!owner.command.empty()) {
    return warning("server", process + ", coffer " + owner.command + ", has the database open",
                   "Run coffer doctor again when that command is complete.");
  }
  if (owner.locked) {
    return warning("server", process + " has the database open and accepts no commands",
                   "If the server is starting, wait. Otherwise, restart it: its control socket was "
                   "removed, or it hangs.");
  }
  return warning("server", "no server runs on this database",
                 "Start one with systemctl start coffer, or coffer serve.");
}

}  // namespace

Owner find_owner(const std::string& database) {
  const store::LockState lock = store::lock_state(database);
  Owner owner{.told = lock.readable, .process = lock.process, .command = lock.command};
  // The lock file may have been removed.
  owner.locked = lock.locked || store::is_held(database);
  const int control = open_control_socket(control_socket_path(database), SocketRole::connect);
  if (control >= 0) ::close(control);
  owner.commanded = control >= 0;
  return owner;
}

std::optional<http::JsonValue> server_overview(const std::string& database, int timeout_ms) {
  std::ostringstream said;
  std::ostringstream ignored;
  const ControlRequest request{.command = "overview", .arguments = {}, .json = true};
  if (run_in_server(database, request, {said, ignored}, timeout_ms) != 0) return std::nullopt;
  auto parsed = http::parse_json(said.str());
  return parsed ? std::optional(*std::move(parsed)) : std::nullopt;
}

Findings examine_names(const Config& config, outbound::Resolver& resolver, const std::string& probe,
                       int timeout_ms) {
  Findings out;
  for (const auto& [host, setting] : named_hosts(config)) {
    const auto found = resolver.resolve(host, timeout_ms);
    if (found) continue;
    out.push_back(failed("names", found.error().detail,
                         "Correct " + setting + ", or the name servers in /etc/resolv.conf."));
  }
  const auto found = resolver.resolve(probe, timeout_ms);
  if (found && out.empty()) out.push_back(good("names", probe + " resolves"));
  if (found) return out;
  out.push_back(warning("names", found.error().detail,
                        "Correct /etc/resolv.conf, because webhooks and provider calls depend on "
                        "it, or set a name that this network resolves with --resolve."));
  return out;
}

Finding examine_trusted_roots(const Config& config) {
  const std::string check = "trusted roots";
  const std::string remedy =
      "Install ca-certificates, or set ca_bundle to a PEM file. Without trusted roots, coffer "
      "sends nothing over TLS.";
  const auto path = http::find_ca_bundle(config.ca_bundle);
  if (!path) return failed(check, path.error().detail, remedy);
  const auto file = http::read_certificate_file(*path);
  if (!file) return failed(check, file.error().detail, remedy);
  if (file->count == 0) return failed(check, *path + " contains no certificate", remedy);
  return good(check, *path + ", " + std::to_string(file->count));
}

Findings examine_server(const Config& config, const Owner& owner,
                        const std::optional<http::JsonValue>& overview, int timeout_ms) {
  Findings out = {judge_owner(owner)};
  // A running server reports its address, because flags may have set it.
  const auto served = overview ? outbound::parse_url(text_of(*overview, "listen")) : std::nullopt;
  const bool tls = served ? served->tls : !config.tls_cert.empty();
  const HostPort api = served ? HostPort{served->host, served->port} : config.listen_http;
  Finding health{"api", Grade::failed, {}, {}};
  const bool asks = owner.commanded || owner.locked || !owner.told;
  if (asks) health = judge_health(api, tls ? config.tls_cert : std::string(), timeout_ms);
  // If this user cannot see a server, either result is accepted.
  if (!owner.commanded && health.grade != Grade::ok) {
    const StartError fault = why_not_listening(config);
    health = fault.message.empty() ? good("api", api.to_string() + " is free")
                                   : fails_start("api", fault.message);
  }
  out.push_back(std::move(health));
  // Loopback traffic stays on the machine. On any other address, tokens and passwords need TLS.
  if (!tls && !api.is_loopback()) {
    out.push_back(
        warning("api", api.to_string() + " is reachable from other machines without TLS",
                "Set tls_cert and tls_key, or listen on 127.0.0.1 behind a proxy with TLS."));
  }
  struct stat socket {};
  if (owner.commanded && ::stat(control_socket_path(config.db).c_str(), &socket) == 0 &&
      socket.st_uid == 0) {
    out.push_back(warning("user", "the server runs as root",
                          "Run the server as a separate user, as the packaged unit does."));
  }
  if (overview) judge_conditions(out, *overview);
  if (overview && !config.admin_off && text_of(*overview, "adminListen").empty()) {
    out.push_back(warning("admin page",
                          "the server does not serve it, because its address is in use",
                          "Set admin_listen to a free address, and restart the server."));
  }
  return out;
}

}  // namespace coffer::cli
