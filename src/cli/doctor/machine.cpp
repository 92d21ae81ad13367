#include "cli/doctor/machine.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "base/environment.h"
#include "base/text/join.h"
#include "cli/control_wire.h"
#include "cli/serving.h"
#include "http/certificate.h"
#include "http/client.h"
#include "http/json_body.h"
#include "http/wire/listener.h"
#include "outbound/operations/mail.h"
#include "outbound/url.h"

namespace coffer::cli {
namespace {

namespace fs = std::filesystem;

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

/// A Problem's sentence without its full stop.
std::string clause(std::string text) {
  if (text.ends_with('.')) text.pop_back();
  return text;
}

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

/// The texts of an object in the body of a /healthz response; nullopt if it has no such object.
std::optional<NamedTexts> texts_of(const std::string& body, const char* member) {
  const auto json = http::parse_json(body);
  const http::JsonValue* found = json ? json->find(member) : nullptr;
  if (found == nullptr || found->object() == nullptr) return std::nullopt;
  NamedTexts out;
  for (const auto& [name, value] : *found->object()) {
    if (value.string() != nullptr) out.emplace_back(name, *value.string());
  }
  return out;
}

/// Names of the failed checks in /healthz.
std::string failed_checks(const std::string& body) {
  auto checks = texts_of(body, "checks");
  if (!checks) return "the response is not from coffer";
  std::erase_if(*checks, [](const auto& check) { return check.second == "ok"; });
  return join(*checks, ", ", [](const auto& check) { return check.first; });
}

/// What to do about a detail of a healthy /healthz response.
std::string remedy_of(std::string_view detail) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kRemedies{{
      {"clock",
       "Synchronise the clock with chrony or systemd-timesyncd. Until then, new payments get "
       "timestamps ahead of the clock."},
      {"checkpoints",
       "Check that the server can write to each of checkpoint_witnesses. It retries every minute."},
  }};
  for (const auto& [name, remedy] : kRemedies) {
    if (name == detail) return std::string(remedy);
  }
  return "Read the server log for the reason.";
}

struct Door {
  std::string check;    // `api`
  std::string setting;  // `listen_http`
  HostPort address;
  std::string path;  // a path that responds
  bool tls = false;
};

std::vector<Door> doors_of(const Config& config) {
  const bool tls = !config.tls_cert.empty();
  std::vector<Door> out = {{"api", "listen_http", config.listen_http, "/healthz", tls}};
  if (!config.admin_off && config.admin_listen != config.listen_http) {
    const bool admin_tls = tls && !config.admin_listen.is_loopback();
    out.push_back({"admin page", "admin_listen", config.admin_listen, "/admin/", admin_tls});
  }
  return out;
}

/// The addresses that a running server reports, because flags may have set them; otherwise those in
/// the settings.
std::vector<Door> served_doors(const Config& config,
                               const std::optional<http::JsonValue>& overview) {
  const auto url = [&](const char* member) -> std::optional<outbound::Url> {
    const http::JsonValue* value = overview ? overview->find(member) : nullptr;
    const std::string* text = value == nullptr ? nullptr : value->string();
    return text == nullptr ? std::nullopt : outbound::parse_url(*text);
  };
  const auto api = url("listen");
  if (!api) return doors_of(config);
  std::vector<Door> out = {{"api", "listen_http", {api->host, api->port}, "/healthz", api->tls}};
  const auto admin = url("adminListen");
  if (admin && (admin->host != api->host || admin->port != api->port)) {
    out.push_back(
        {"admin page", "admin_listen", {admin->host, admin->port}, "/admin/", admin->tls});
  }
  return out;
}

Finding judge_free(const Door& door) {
  if (door.address.port == 0) return good(door.check, "any free port on " + door.address.host);
  http::Listener listener;
  if (const auto bound = listener.bind(door.address.host, door.address.port); !bound) {
    return failed(door.check, clause(bound.error().detail),
                  "Stop the program that uses it, or set " + door.setting + " to a free address.");
  }
  return good(door.check, door.address.to_string() + " is free");
}

Result<http::ClientResponse> ask(const Door& door, int timeout_ms) {
  http::ClientRequest request;
  request.tls = false;
  request.host = connectable(door.address).host;
  request.address = request.host == "localhost" ? "127.0.0.1" : request.host;
  request.port = door.address.port;
  request.target = door.path;
  request.connect_timeout_ms = timeout_ms;
  request.total_timeout_ms = timeout_ms;
  return http::Client({}).send(request);
}

Finding judge_answer(const Door& door, int timeout_ms) {
  const std::string address = door.address.to_string();
  if (door.address.port == 0) return good(door.check, "on a port selected by the server");
  const auto result = ask(door, timeout_ms);
  // The check sends plain HTTP. A TLS port rejects it, which shows that the port responds.
  if (door.tls && (result || result.error().slug == Slug::provider_error)) {
    return good(door.check, address + " responds, with TLS");
  }
  if (!result) {
    return failed(door.check, "a server runs, but there is no response at " + address,
                  "Run coffer doctor with the server's settings, or read the server log.");
  }
  if (result->status == 503 && door.path == "/healthz") {
    return failed(door.check, address + " is not healthy: " + failed_checks(result->body),
                  "Read the server log for the reason.");
  }
  if (result->status >= 400) {
    return failed(
        door.check, address + " responds with " + std::to_string(result->status),
        "Find out which program listens there, or set " + door.setting + " to another address.");
  }
  if (door.path != "/healthz") return good(door.check, address + " responds");
  return judge_health(door.check, address, result->body);
}

/// Checks that a running server responds, or that the address is free if none runs. If this user
/// cannot see whether one runs, either is accepted.
Finding judge_door(const Door& door, const Owner& owner, int timeout_ms) {
  if (owner.commanded) return judge_answer(door, timeout_ms);
  if (owner.told) return judge_free(door);
  Finding result = judge_answer(door, timeout_ms);
  return result.grade == Grade::ok ? result : judge_free(door);
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

/// Loopback traffic stays on the machine. On any other address, tokens and passwords need TLS.
std::optional<Finding> judge_exposure(const Door& door) {
  if (door.tls || door.address.is_loopback()) return std::nullopt;
  return warning(door.check,
                 door.address.to_string() + " is reachable from other machines without TLS",
                 "Set tls_cert and tls_key, or listen on 127.0.0.1 behind a proxy with TLS.");
}

/// Whether systemd runs, but the process is not one of its services.
bool is_stray([[maybe_unused]] int process) {
#if defined(__linux__)
  std::error_code ignored;
  if (!fs::exists("/run/systemd/system", ignored)) return false;
  std::ifstream file("/proc/" + std::to_string(process) + "/cgroup", std::ios::binary);
  const std::string group(std::istreambuf_iterator<char>(file), {});
  return file.is_open() && group.find(".service") == std::string::npos;
#else
  return false;
#endif
}

}  // namespace

Finding judge_health(const std::string& check, const std::string& address,
                     const std::string& body) {
  const NamedTexts found = texts_of(body, "details").value_or(NamedTexts());
  const std::string details = join(found, ". ", [](const auto& one) { return clause(one.second); });
  const std::string remedies =
      join(found, " ", [](const auto& one) { return remedy_of(one.first); });
  if (details.empty()) return good(check, address + " is healthy");
  return warning(check, address + " is healthy, but: " + details, remedies);
}

Findings examine_clock(Timestamp now, Timestamp not_before, std::optional<bool> synchronised) {
  constexpr Timestamp kEarliest{1'767'225'600'000};  // 2026, the year of coffer's first release
  constexpr Timestamp kLatest{4'102'444'800'000};    // 2100
  constexpr std::int64_t kSlackMs = 2'000;           // file times have a resolution of seconds
  const std::string check = "clock";
  const std::string remedy = "Set the clock, and synchronise it with chrony or systemd-timesyncd.";
  if (now < kEarliest || now > kLatest)
    return {failed(check, "the time is " + now.to_string(), remedy)};
  if (now.plus_ms(kSlackMs) < not_before) {
    return {warning(check,
                    "the time is " + now.to_string() + ", but the database was written at " +
                        not_before.to_string() + ": the clock is slow, or was fast then",
                    remedy)};
  }
  if (!synchronised) {
    return {warning(check,
                    "the time is " + now.to_string() +
                        ", but the system does not tell whether the clock is synchronised",
                    "Permit the system calls adjtimex and clock_adjtime, which only read without a "
                    "privilege.")};
  }
  if (!*synchronised) return {warning(check, "the clock is not synchronised", remedy)};
  return {good(check, "synchronised")};
}

Findings examine_names(const Config& config, outbound::Resolver& resolver, const std::string& probe,
                       int timeout_ms) {
  Findings out;
  for (const auto& [host, setting] : named_hosts(config)) {
    const auto found = resolver.resolve(host, timeout_ms);
    if (found) continue;
    out.push_back(failed("names", clause(found.error().detail),
                         "Correct " + setting + ", or the name servers in /etc/resolv.conf."));
  }
  const auto found = resolver.resolve(probe, timeout_ms);
  if (found && out.empty()) out.push_back(good("names", probe + " resolves"));
  if (found) return out;
  out.push_back(warning("names", clause(found.error().detail),
                        "Correct /etc/resolv.conf, because webhooks and provider calls depend on "
                        "it, or set a name that this network resolves with --resolve."));
  return out;
}

Findings examine_trusted_roots(const Config& config) {
  const std::string check = "trusted roots";
  const std::string remedy =
      "Install ca-certificates, or set ca_bundle to a PEM file. Without trusted roots, coffer "
      "sends nothing over TLS.";
  const auto path = http::find_ca_bundle(config.ca_bundle);
  if (!path) return {failed(check, clause(path.error().detail), remedy)};
  const auto file = http::read_certificate_file(*path);
  if (!file) return {failed(check, file.error().detail, remedy)};
  if (file->count == 0) return {failed(check, *path + " contains no certificate", remedy)};
  return {good(check, *path + ", " + std::to_string(file->count))};
}

Findings examine_descriptors(const Config& config, const Owner& owner) {
  const std::string check = "open files";
  const int process = owner.commanded ? owner.process : 0;
  const auto limit = descriptor_limit(process);
  if (!limit) return {good(check, "the limit of the server process is not known")};
  const long needed = descriptors_needed(config);
  const std::string found = std::to_string(*limit) + " allowed, " + std::to_string(needed) +
                            " needed for max_connections";
  if (*limit >= needed) return {good(check, found)};
  return {warning(check, found,
                  "Raise the limit with LimitNOFILE=65536 in the unit or ulimit -n, or lower "
                  "max_connections.")};
}

Findings examine_supervision(const Config& config) {
  Findings out;
  // The socket belongs to the user of the running server.
  struct stat socket {};
  const bool serves = ::stat(control_socket_path(config.db).c_str(), &socket) == 0;
  if (serves && socket.st_uid == 0) {
    out.push_back(warning("user", "the server runs as root",
                          "Run the server as a separate user, as the packaged unit does."));
  }
  if (const auto folder = environment_variable("CREDENTIALS_DIRECTORY")) {
    const bool readable = ::access(folder->c_str(), R_OK | X_OK) == 0;
    out.push_back(readable ? good("credentials", *folder)
                           : failed("credentials", *folder + " cannot be read",
                                    "Check LoadCredential= and User= in the unit."));
  }
  return out;
}

Findings examine_listeners(const Config& config, const Owner& owner,
                           const std::optional<http::JsonValue>& overview, int timeout_ms) {
  Findings out = {judge_owner(owner)};
  for (const Door& door : served_doors(config, overview)) {
    out.push_back(judge_door(door, owner, timeout_ms));
    if (auto exposure = judge_exposure(door)) out.push_back(*std::move(exposure));
  }
  // A server that was started in a terminal stops with the terminal, and nothing restarts it.
  if (!owner.commanded || owner.process == 0 || !is_stray(owner.process)) return out;
  out.push_back(warning("server", "the server is not a systemd service",
                        "Install the packaged unit, which restarts the server after a failure."));
  return out;
}

}  // namespace coffer::cli
