#include "config/config.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "auth/challenge.h"
#include "base/digest.h"
#include "base/files/folders.h"
#include "base/limits/address_range.h"
#include "base/text/ascii.h"
#include "config/config_file.h"
#include "config/config_options.h"
#include "domain/contact.h"
#include "outbound/archive/archive_place.h"
#include "outbound/identity_provider.h"
#include "outbound/key_set.h"
#include "outbound/operations/messenger.h"
#include "outbound/operations/replicas.h"
#include "outbound/wire/target_guard.h"

namespace coffer {
namespace {

namespace fs = std::filesystem;

constexpr int kExitUsage = 2;
constexpr int kExitConfiguration = 78;
constexpr std::size_t kFileBytesMax = 1 << 20;
constexpr const char* kServiceFile = "/etc/coffer/coffer.toml";
constexpr const char* kServiceData = "/var/lib/coffer";

// If it returns nullopt, `errno` contains the reason.
std::optional<std::string> read_file(const std::string& path) {
  errno = 0;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    errno = EISDIR;
    return std::nullopt;
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text(kFileBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return std::nullopt;
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kFileBytesMax) {
    errno = EFBIG;
    return std::nullopt;
  }
  return text;
}

std::string reason() { return errno != 0 ? std::strerror(errno) : "it cannot be read"; }

constexpr const char* kNoToken =
    "it contains a character that is not valid in a token, such as a space or a line end";

bool is_token_text(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c > 0x20 && c < 0x7f; });
}

/// Checks of the values together. Adds all errors.
struct Checks {
  const Config& config;
  std::vector<FieldError>& errors;
  const std::set<std::string>& unread;  // secrets

  void run() {
    const bool cert = !config.tls_cert.empty();
    check_pair("tls_cert", cert, "tls_key", !config.tls_key.empty(),
               "Set both for TLS, or neither for plain HTTP");
    check_readable("tls_cert", config.tls_cert);
    check_readable("tls_key", config.tls_key);
    if (!config.tls_client_ca.empty() && !cert) {
      fault("tls_client_ca",
            "tls_client_ca is set and tls_cert is not. Client certificates require TLS in coffer. "
            "Set tls_cert and tls_key");
    }
    check_readable("tls_client_ca", config.tls_client_ca);
    std::error_code ignored;
    if (fs::is_directory(config.db, ignored)) {
      fault("db", config.db + " is a folder. Set a file in it");
    }
    check_domain("home_domain", config.home_domain, auth::kHomeDomainBytesMax);
    check_domain("web_auth_domain", config.web_auth_domain, auth::kWebAuthDomainBytesMax);
    check_admin_listener();
    check_external_issuer();
    check_sign_in_provider();
    check_seconds("webhook_retry_s", config.webhook_retry_s);
    check_seconds("webhook_sandbox_retry_s", config.webhook_sandbox_retry_s);
    check_notifications();
    check_alerts();
    const auto allowed = outbound::AllowedTargets::parse(config.webhook_allow_targets);
    const auto ports = outbound::AllowedTargets::parse({}, config.webhook_allow_ports);
    if (!ports) fault("webhook_allow_ports", ports.error().detail);
    if (!allowed) fault("webhook_allow_targets", allowed.error().detail);
    for (const std::string& url : config.replicas) check("replicas", outbound::check_replica(url));
    const auto is_log = [&](std::string_view begin) { return config.replicate.starts_with(begin); };
    if (!config.replicate.empty() && !is_log("folder:/") && !is_log("postgres://") &&
        !is_log("postgresql://")) {
      fault("replicate", "\"" + config.replicate +
                             "\" is not a log. Use postgres://USER@HOST:PORT/DATABASE, or "
                             "folder:PATH with an absolute path");
    }
    check_archive();
    const auto proxies = AddressList::parse(config.trusted_proxies);
    if (!proxies) fault("trusted_proxies", proxies.error().detail);
  }

  void fault(std::string_view name, std::string what) {
    errors.push_back({config.origins.at(std::string(name)), std::move(what)});
  }

  void check(std::string_view name, std::string wrong) {
    if (!wrong.empty()) fault(name, std::move(wrong));
  }

  void check_archive() {
    const auto place = outbound::parse_archive_url(config.archive);
    std::error_code ignored;
    if (!config.archive.empty() && !place) {
      fault("archive", place.error().detail);
    } else if (place && fs::exists(place->folder, ignored) &&
               !fs::is_directory(place->folder, ignored)) {
      fault("archive", place->folder + " is not a folder. Set a folder on another disk");
    } else if (place && !place->folder.empty() &&
               fs::weakly_canonical(place->folder, ignored) ==
                   fs::weakly_canonical(directory_of(config.db), ignored)) {
      fault("archive", place->folder +
                           " is the folder of the database, and would be lost with it. "
                           "Set a folder on another disk");
    } else if (place && !place->bucket.empty() && config.archive_access_key.empty()) {
      fault("archive", "a bucket needs a key. Set archive_access_key and archive_secret_key");
    }
    if (!config.archive_endpoint.empty())
      check("archive_endpoint", outbound::check_archive_endpoint(config.archive_endpoint));
    check_pair("archive_access_key", !config.archive_access_key.empty(), "archive_secret_key",
               !config.archive_secret_key.empty());
    const auto is_part = [](char c) { return ascii::is_letter_or_digit(c) || c == '-'; };
    const std::string& region = config.archive_region;
    if (region.empty() || !std::ranges::all_of(region, is_part)) {
      fault("archive_region", "\"" + region + "\" is not the name of a region");
    }
    const std::array<std::pair<const char*, std::string_view>, 3> tokens{
        {{"archive_access_key", config.archive_access_key},
         {"archive_secret_key", config.archive_secret_key.reveal()},
         {"archive_session_token", config.archive_session_token.reveal()}}};
    for (const auto& [name, text] : tokens) {
      if (!is_token_text(text)) fault(name, kNoToken);
    }
  }

  void check_seconds(std::string_view name, const std::vector<std::string>& list) {
    constexpr std::size_t kDigitsMax = 6;
    for (const std::string& text : list) {
      const bool whole = !text.empty() && text.size() <= kDigitsMax &&
                         text.find_first_not_of("0123456789") == std::string::npos;
      if (whole) continue;
      fault(name, "\"" + text + "\" is not valid. Write whole seconds, such as 5,300");
    }
  }

  void check_domain(std::string_view name, const std::string& domain, std::size_t bytes_max) {
    const bool fits =
        domain.size() <= bytes_max && std::ranges::all_of(domain, [](unsigned char c) {
          return c > 0x20 && c < 0x7f && c != '/' && c != '"' && c != '\\';
        });
    if (fits) return;
    fault(name, "\"" + domain + "\" is not valid. Write a host name, optionally with a " +
                    "port, of at most " + std::to_string(bytes_max) + " characters");
  }

  void check_admin_listener() {
    const bool is_plain = config.tls_cert.empty() && !config.admin_plain_http;
    if (config.admin_off || !is_plain || config.admin_listen.is_loopback()) return;
    fault("admin_listen",
          config.admin_listen.to_string() +
              " is reachable from other machines, and without TLS, passwords cross the network in "
              "clear text. Set tls_cert and tls_key, listen on 127.0.0.1 and use a tunnel, or "
              "accept the risk with admin_plain_http = true");
  }

  void check_external_issuer() {
    constexpr std::array<std::pair<std::string_view, std::string Config::*>, 3> kParts = {{
        {"oauth_issuer", &Config::oauth_issuer},
        {"oauth_audience", &Config::oauth_audience},
        {"oauth_jwks", &Config::oauth_jwks},
    }};
    std::string_view there;
    std::string missing;
    for (const auto& [name, member] : kParts) {
      if (!(config.*member).empty()) {
        there = name;
      } else {
        missing += (missing.empty() ? "" : " and ") + std::string(name);
      }
    }
    if (there.empty()) return;
    if (!missing.empty()) {
      return fault(there, std::string(there) + " is set and " + missing +
                              " is not. Set all three for external tokens");
    }
    check("oauth_jwks", outbound::check_key_source(config.oauth_jwks));
  }

  void check_sign_in_provider() {
    check_pair("oidc_issuer", !config.oidc_issuer.empty(), "oidc_client_id",
               !config.oidc_client_id.empty());
    if (config.oidc_issuer.empty()) return;
    check("oidc_issuer", outbound::check_issuer(config.oidc_issuer));
  }

  void check_pair(std::string_view first, bool has_first, std::string_view second, bool has_second,
                  const char* remedy = "Set both") {
    if (has_first == has_second) return;
    const std::string there(has_first ? first : second);
    const std::string missing(has_first ? second : first);
    if (unread.contains(missing)) return;  // its file was reported
    fault(there, there + " is set and " + missing + " is not. " + remedy);
  }

  void check_mail() {
    const bool by_smtp = !config.notify_smtp.empty();
    const std::string& program = config.notify_sendmail;
    if (by_smtp && !program.empty()) {
      fault("notify_sendmail", "notify_smtp and notify_sendmail are both set. Set one");
    }
    check_pair(by_smtp ? "notify_smtp" : "notify_sendmail", by_smtp || !program.empty(),
               "notify_from", !config.notify_from.empty());
    check_pair("notify_smtp_user", !config.notify_smtp_user.empty(), "notify_smtp_password",
               !config.notify_smtp_password.empty());
    if (!config.notify_smtp_user.empty() && !by_smtp)
      fault("notify_smtp_user", "notify_smtp_user is set and notify_smtp is not. Set both");
    if (by_smtp) check("notify_smtp", outbound::check_smtp_url(config.notify_smtp));
    if (!program.empty() && ::access(program.c_str(), X_OK) != 0) {
      fault("notify_sendmail", program + ": " + reason() + ". Set an executable program");
    }
    if (!config.notify_from.empty() && !is_email(config.notify_from)) {
      fault("notify_from", "\"" + config.notify_from + "\" is not an e-mail address");
    }
  }

  void check_notifications() {
    check_mail();
    check_pair("notify_gateway_url", !config.notify_gateway_url.empty(), "notify_gateway_token",
               !config.notify_gateway_token.empty());
    if (!config.notify_gateway_url.empty())
      check("notify_gateway_url", outbound::check_gateway_url(config.notify_gateway_url));
    if (!is_token_text(config.notify_gateway_token.reveal()))
      fault("notify_gateway_token", kNoToken);
  }

  void check_alerts() {
    check_pair("alert_webhook_url", !config.alert_webhook_url.empty(), "alert_webhook_secret",
               !config.alert_webhook_secret.empty());
    if (!config.alert_webhook_url.empty())
      check("alert_webhook_url", outbound::check_alert_url(config.alert_webhook_url));
    constexpr std::string_view kPrefix = "whsec_";
    constexpr std::size_t kKeyBytesMin = 24;
    const std::string& secret = config.alert_webhook_secret.reveal();
    const bool has_prefix = secret.starts_with(kPrefix);
    const auto key = from_base64(has_prefix ? secret.substr(kPrefix.size()) : std::string());
    if (!secret.empty() && (!has_prefix || !key || key->size() < kKeyBytesMin)) {
      fault("alert_webhook_secret",
            "it is not a webhook secret. Set whsec_ and at least 24 bytes in base64");
    }
    if (config.alert_email.empty()) return;
    if (!is_email(config.alert_email)) {
      fault("alert_email", "\"" + config.alert_email + "\" is not an e-mail address");
    }
    if (config.notify_sendmail.empty() && config.notify_smtp.empty()) {
      fault("alert_email",
            "alert_email is set, but neither notify_smtp nor notify_sendmail is. Set one of them");
    }
  }

  void check_readable(std::string_view name, const std::string& path) {
    if (path.empty() || read_file(path)) return;
    fault(name, path + ": " + reason() + "; " + std::string(name) + " must be a readable PEM file");
  }
};

/// Collects values in increasing order of precedence, and all errors.
class Loader {
 public:
  explicit Loader(const ConfigInputs& inputs) : inputs_(inputs) {}

  ConfigReading read() {
    for (const ConfigOption& option : config_options()) {
      config_.origins[std::string(option.name)] = "default";
    }
    for (const auto& [name, text] : inputs_.command_defaults) set_named(name, text, "command");
    find_file();
    if (!config_.config.empty()) apply_file();
    apply_environment();
    for (const auto& [name, text] : inputs_.flags) {
      if (name != "config") set_named(name, text, "");  // find_file has handled `config`
    }
    complete_places();
    find_secret(*find_config_option("master_key"), *find_config_option("master_key_file"));
    for (const ConfigOption& option : config_options()) {
      if (!option.secret() || option.name == "master_key") continue;
      find_token(option, *find_config_option(std::string(option.name) + "_file"));
    }
    Checks{config_, errors_, unread_}.run();
    return {std::move(config_), std::move(errors_)};
  }

 private:
  void fault(std::string where, std::string what) {
    errors_.push_back({std::move(where), std::move(what)});
  }

  /// An empty variable counts as not set, as in compose files.
  std::optional<std::string> variable(const std::string& name) const {
    auto value = inputs_.environment(name);
    if (value && value->empty()) return std::nullopt;
    return value;
  }

  std::string origin(std::string_view name) const { return config_.origins.at(std::string(name)); }
  bool given(std::string_view name) const { return origin(name) != "default"; }

  // `prefix` contains the key if `where` does not.
  void set(const ConfigOption& option, std::string_view text, const std::string& where,
           const std::string& prefix = {}) {
    const auto done = set_config_value(option, text, config_);
    if (!done) fault(where, prefix + done.error().detail);
    config_.origins[std::string(option.name)] = where;
  }

  // For defaults in code. A name that is not in the table is a bug.
  void set_named(const std::string& name, std::string_view text, const std::string& where) {
    const ConfigOption* option = find_config_option(name);
    COFFER_CHECK(option != nullptr && !option->secret());
    set(*option, text, where.empty() ? option->flag() : where);
  }

  bool as_service() const { return variable("STATE_DIRECTORY").has_value(); }

  // systemd separates several folders with colons; use the first.
  std::optional<std::string> service_folder(const std::string& name) const {
    auto folders = variable(name);
    if (folders) folders->resize(std::min(folders->size(), folders->find(':')));
    return folders;
  }

  // As the XDG specification requires, a relative path in the variable is ignored.
  std::optional<fs::path> user_folder(const std::string& name, const char* below_home) const {
    if (const auto folder = variable(name); folder && fs::path(*folder).is_absolute()) {
      return fs::path(*folder) / "coffer";
    }
    const auto home = variable("HOME");
    if (!home || !fs::path(*home).is_absolute()) return std::nullopt;
    return fs::path(*home) / below_home / "coffer";
  }

  void find_file() {
    const ConfigOption& option = *find_config_option("config");
    if (const auto path = variable(option.variable())) set(option, *path, option.variable());
    if (const auto flag = inputs_.flags.find("config"); flag != inputs_.flags.end()) {
      set(option, flag->second, option.flag());
    }
    if (given("config")) return;
    const auto folder =
        as_service() ? fs::path(service_folder("CONFIGURATION_DIRECTORY").value_or("/etc/coffer"))
                     : user_folder("XDG_CONFIG_HOME", ".config");
    std::error_code ignored;
    if (folder && fs::exists(*folder / "coffer.toml", ignored)) {
      config_.config = *folder / "coffer.toml";
    } else if (folder && keeps_service()) {
      config_.config = kServiceFile;
    }
  }

  // Commands run as root or as the service's user use the service's database, unless the user has
  // their own settings.
  bool keeps_service() const {
    struct stat data {};
    const bool own =
        ::geteuid() == 0 || (::stat(kServiceData, &data) == 0 && data.st_uid == ::geteuid());
    return own && ::access(kServiceFile, F_OK) == 0;
  }

  void apply_file() {
    const auto text = read_file(config_.config);
    if (!text) {
      const std::string where = given("config") ? origin("config") : config_.config;
      return fault(where,
                   config_.config + ": " + reason() + ". Set a file that exists and is readable");
    }
    const ConfigFileText file = parse_config_file(*text);
    for (const ConfigFileFault& found : file.errors) fault(at_line(found.line), found.message);
    for (const ConfigFileEntry& entry : file.entries) apply_entry(entry);
  }

  std::string at_line(int line) const { return config_.config + ":" + std::to_string(line); }

  void apply_entry(const ConfigFileEntry& entry) {
    const std::string where = at_line(entry.line);
    const ConfigOption* option = find_config_option(entry.key);
    if (option == nullptr || option->name == "config") {
      return fault(where, unknown_key(entry.key));
    }
    if (option->secret()) {
      return fault(where, entry.key + " is a secret and must not be in this file. Put it in a " +
                              "separate file and write " + entry.key + "_file = \"FILE\"");
    }
    if (!option->is_bare() && !entry.quoted) {
      return fault(where, "put the value in quotes: " + entry.key + " = \"" + entry.value + "\"");
    }
    std::string value = entry.value;
    if (option->path && !value.empty() && fs::path(value).is_relative() && value.front() != '~') {
      value = fs::path(config_.config).parent_path() / value;
    }
    set(*option, value, where, entry.key + ": ");
  }

  static std::string unknown_key(const std::string& key) {
    if (key == "checkpoint_witnesses") {
      return key + " was removed; set archive, which also keeps the signed checkpoints";
    }
    const std::string_view nearest = nearest_config_option(key);
    const std::string start = "unknown key " + key + "; ";
    if (nearest.empty() || nearest == "config" || find_config_option(nearest)->secret()) {
      return start + "remove it (coffer serve --help lists all settings)";
    }
    return start + "did you mean " + std::string(nearest) + "?";
  }

  void apply_environment() {
    for (const ConfigOption& option : config_options()) {
      if (option.secret() || option.name == "config") continue;
      if (const auto text = variable(option.variable())) set(option, *text, option.variable());
    }
  }

  void complete_places() {
    if (!given("db")) {
      const auto service = service_folder("STATE_DIRECTORY");
      const auto folder =
          service ? fs::path(*service) : user_folder("XDG_DATA_HOME", ".local/share");
      if (!folder)
        return fault("db", "HOME is not set, so there is no default. Set --db or COFFER_DB");
      config_.db = *folder / "coffer.db";
    }
    if (config_.master_key_file.empty()) {
      config_.master_key_file = default_master_key_file(config_.db);
    }
    // A slow log must not limit how many payments share a commit. None of them occupies a thread.
    if (!config_.replicate.empty() && !given("workers")) config_.workers = 512;
  }

  // A variable contains the secret itself; a systemd credential is a file with the secret. A file
  // that a flag or a variable selects overrides both.
  void find_secret(const ConfigOption& option, const ConfigOption& file_option) {
    const std::string file_origin = origin(file_option.name);
    const bool file_by_flag = file_origin == file_option.flag();
    const bool file_by_variable = file_origin == file_option.variable();
    const auto text = variable(option.variable());
    if (text && file_by_variable) {
      return fault(option.variable(), file_origin + " is also set. Unset one of them");
    }
    if (!file_by_flag && !file_by_variable) find_text(option);
  }

  // A token takes precedence over its file, regardless of which source selects the file. Removes
  // the newline that editors append to files.
  void find_token(const ConfigOption& option, const ConfigOption& file_option) {
    Secret& token = config_.*std::get<Secret Config::*>(option.target);
    const std::string& file = config_.*std::get<std::string Config::*>(file_option.target);
    find_text(option);
    if (token.empty() && !file.empty()) read_credential(option, file, &file_option);
    const std::string& text = token.reveal();
    const bool from_file = origin(option.name) != option.variable();
    if (from_file && text.ends_with('\n')) token = Secret(text.substr(0, text.size() - 1));
  }

  void find_text(const ConfigOption& option) {
    if (const auto text = variable(option.variable())) return set(option, *text, option.variable());
    if (const auto folder = variable("CREDENTIALS_DIRECTORY")) {
      read_credential(option, fs::path(*folder) / option.name);
    }
  }

  // Keeps the content unchanged, because a raw key may end in a newline byte. `named`: the option
  // that names the file, which must then exist.
  void read_credential(const ConfigOption& option, const std::string& path,
                       const ConfigOption* named = nullptr) {
    const auto text = read_file(path);
    if (text) return set(option, *text, path);
    if (errno == ENOENT && named == nullptr) return;
    unread_.insert(std::string(option.name));
    if (errno != ENOENT) return fault(path, reason() + ". Make the credential readable");
    fault(origin(named->name), path + ": " + reason() + ". Set a file that exists");
  }

  const ConfigInputs& inputs_;
  Config config_;
  std::vector<FieldError> errors_;
  std::set<std::string> unread_;  // secrets whose file was reported
};

}  // namespace

ConfigReading read_config(const ConfigInputs& inputs) { return Loader(inputs).read(); }

Result<Config> load_config(const ConfigInputs& inputs) {
  ConfigReading reading = read_config(inputs);
  if (reading.errors.empty()) return std::move(reading.config);
  return unexpected(
      Problem(Slug::validation_failed, "the configuration has errors", std::move(reading.errors)));
}

outbound::ArchiveSettings archive_settings(const Config& config, std::string url) {
  return {.url = std::move(url),
          .endpoint = config.archive_endpoint,
          .keys = {.access_key = config.archive_access_key,
                   .secret_key = config.archive_secret_key,
                   .session_token = config.archive_session_token,
                   .region = config.archive_region}};
}

std::string config_error_text(const Problem& problem) {
  std::string text;
  for (const FieldError& fault : problem.fields) {
    const bool sentences = fault.message.find(". ") != std::string::npos;
    text += "coffer: " + fault.field + ": " + fault.message + (sentences ? ".\n" : "\n");
  }
  return text;
}

int config_exit_code(const Problem& problem) {
  const bool only_flags = std::ranges::all_of(
      problem.fields, [](const FieldError& fault) { return fault.field.starts_with("--"); });
  return only_flags ? kExitUsage : kExitConfiguration;
}

std::string default_master_key_file(const std::string& database) {
  return std::filesystem::path(database).parent_path() / "master.key";
}

std::vector<EffectiveSetting> effective_settings(const Config& config) {
  std::vector<EffectiveSetting> settings;
  for (const ConfigOption& option : config_options()) {
    std::string name(option.name);
    const auto origin = config.origins.find(name);
    settings.push_back({name, config_value_text(option, config),
                        origin == config.origins.end() ? "default" : origin->second});
  }
  return settings;
}

}  // namespace coffer
