#include "config/config.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "config/config_file.h"
#include "config/config_options.h"

using namespace coffer;
namespace fs = std::filesystem;

namespace {

/// A separate folder and environment.
struct World {
  World() {
    std::string name = (fs::temp_directory_path() / "coffer-config-XXXXXX").string();
    folder = mkdtemp(name.data());
    environment["HOME"] = path("home");
  }
  ~World() { fs::remove_all(folder); }

  std::string path(const std::string& name) const { return folder / name; }
  std::string write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
    return path(name);
  }
  Result<Config> load() const {
    return load_config({.flags = flags,
                        .command_defaults = command_defaults,
                        .environment = [this](const std::string& name) {
                          const auto found = environment.find(name);
                          return found == environment.end() ? std::nullopt
                                                            : std::optional(found->second);
                        }});
  }
  /// The errors as `WHERE: WHAT` lines.
  std::string errors() const {
    const auto config = load();
    return config ? "" : config_error_text(config.error());
  }
  int exit_code() const {
    const auto config = load();
    return config ? 0 : config_exit_code(config.error());
  }

  fs::path folder;
  std::map<std::string, std::string> environment;
  std::map<std::string, std::string> command_defaults;
  ConfigFlags flags;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string setting(const Config& config, const std::string& name) {
  for (const auto& s : effective_settings(config)) {
    if (s.name == name) return s.value + " <- " + s.origin;
  }
  return "no such setting";
}

}  // namespace

TEST_CASE("without settings, the defaults apply", "[config]") {
  World world;
  const auto config = world.load();
  REQUIRE(config);
  CHECK(config->db == world.path("home/.local/share/coffer/coffer.db"));
  CHECK(config->master_key_file == world.path("home/.local/share/coffer/master.key"));
  CHECK(config->master_key.empty());
  CHECK(config->listen_http == HostPort{"127.0.0.1", 8080});
  CHECK(config->workers == 64);
  CHECK(config->token_lifetime_s == 3'600);
  CHECK(config->log_level == LogLevel::info);
  CHECK_FALSE(config->log_format);
  CHECK(config->network_name == "COFFER");
  CHECK(config->config.empty());
  CHECK(setting(*config, "workers") == "64 <- default");
}

TEST_CASE("with a shared log, more payments may wait for a commit", "[config]") {
  World world;
  world.environment["COFFER_REPLICATE"] = "folder:/srv/log";
  CHECK(setting(*world.load(), "workers") == "512 <- default");
  world.flags["workers"] = "64";
  CHECK(setting(*world.load(), "workers") == "64 <- --workers");
}

TEST_CASE("default < command < file < environment < flag", "[config]") {
  World world;
  world.command_defaults["workers"] = "1";
  CHECK(world.load()->workers == 1);
  CHECK(setting(*world.load(), "workers") == "1 <- command");

  const auto file = world.write("home/.config/coffer/coffer.toml", "# ours\nworkers = 2\n");
  CHECK(world.load()->workers == 2);
  CHECK(world.load()->config == file);
  CHECK(setting(*world.load(), "workers") == "2 <- " + file + ":2");

  world.environment["COFFER_WORKERS"] = "3";
  CHECK(setting(*world.load(), "workers") == "3 <- COFFER_WORKERS");

  world.flags["workers"] = "4";
  CHECK(world.load()->workers == 4);
  CHECK(setting(*world.load(), "workers") == "4 <- --workers");
}

TEST_CASE("quotas: limits that are not listed have their defaults, regardless of other sources",
          "[config]") {
  World world;
  world.command_defaults["quota_sandbox"] = "file_bytes=unlimited";
  CHECK(world.load()->quota_sandbox.of(Quota::file_bytes) == kUnlimited);
  world.environment["COFFER_QUOTA_SANDBOX"] = "wallets=7";
  QuotaLimits expected = default_quotas(Environment::sandbox);
  expected.limits[0] = 7;
  CHECK(world.load()->quota_sandbox == expected);
  CHECK(world.load()->quota_production == default_quotas(Environment::production));
  world.environment["COFFER_QUOTA_SANDBOX"] = "wallets=some";
  CHECK(
      contains(world.errors(), "COFFER_QUOTA_SANDBOX: \"some\" is not a valid limit for wallets"));
}

TEST_CASE("every option can be set by environment, and by file and flag unless it is a secret",
          "[config]") {
  for (const ConfigOption& option : config_options()) {
    INFO(option.name);
    CHECK(option.flag().starts_with("--"));
    CHECK_FALSE(option.help.empty());
    if (option.secret()) CHECK(find_config_option(std::string(option.name) + "_file") != nullptr);
    Config config;
    // The default survives a round trip as text.
    const std::string text = config_value_text(option, config);
    if (!text.empty() && !option.secret()) CHECK(set_config_value(option, text, config));
  }
}

TEST_CASE("an empty variable counts as not set", "[config]") {
  World world;
  world.environment["COFFER_WORKERS"] = "";
  world.environment["COFFER_MASTER_KEY"] = "";
  REQUIRE(world.load());
  CHECK(world.load()->workers == 64);
}

TEST_CASE("the service has its own folders, a user the XDG folders", "[config]") {
  World world;
  world.environment["XDG_DATA_HOME"] = world.path("data");
  world.environment["XDG_CONFIG_HOME"] = world.path("conf");
  const auto file = world.write("conf/coffer/coffer.toml", "workers = 2\n");
  CHECK(world.load()->db == world.path("data/coffer/coffer.db"));
  CHECK(world.load()->config == file);

  world.environment["XDG_DATA_HOME"] = "relative";
  CHECK(world.load()->db == world.path("home/.local/share/coffer/coffer.db"));

  world.environment["STATE_DIRECTORY"] = world.path("state") + ":/var/lib/other";
  world.environment["CONFIGURATION_DIRECTORY"] = world.path("etc");
  const auto service_file = world.write("etc/coffer.toml", "workers = 3\n");
  CHECK(world.load()->db == world.path("state/coffer.db"));
  CHECK(world.load()->config == service_file);
  CHECK(world.load()->workers == 3);
}

TEST_CASE("without a home, the database must be given", "[config]") {
  World world;
  world.environment.clear();
  CHECK(contains(world.errors(), "db: HOME is not set"));
  CHECK(world.exit_code() == 78);
  world.flags["db"] = "x.db";
  CHECK(world.load()->db == "x.db");
  CHECK(world.load()->master_key_file == "master.key");
}

TEST_CASE("an unknown key names file, line and the nearest known key", "[config]") {
  World world;
  const auto file = world.write("c.toml", "workers = 2\n\nlisten_htp = \"x\"\nzebra = 1\n");
  world.flags["config"] = file;
  CHECK(world.errors() ==
        "coffer: " + file + ":3: unknown key listen_htp; did you mean listen_http?\n" + "coffer: " +
            file + ":4: unknown key zebra; remove it (coffer serve --help lists all settings)\n");
  CHECK(world.exit_code() == 78);
}

TEST_CASE("an invalid value is reported with its place and remedy", "[config]") {
  World world;
  const auto file = world.write("c.toml", "workers = 0\nlog_level = \"loud\"\n");
  world.flags["config"] = file;
  world.environment["COFFER_LISTEN_HTTP"] = "8080";
  world.flags["drain_s"] = "soon";
  const auto faults = world.errors();
  CHECK(contains(faults, file + ":1: workers: \"0\" is not valid: write a whole number from 1 to"));
  CHECK(contains(faults, file + ":2: log_level: \"loud\" is not valid: write debug, info,"));
  CHECK(contains(faults, "COFFER_LISTEN_HTTP: \"8080\" is not valid: write HOST:PORT"));
  CHECK(contains(faults, "--drain-s: \"soon\" is not valid"));
  CHECK(world.exit_code() == 78);
}

TEST_CASE("only errors in flags are wrong usage, all others are configuration errors", "[config]") {
  World world;
  world.flags["workers"] = "many";
  CHECK(world.exit_code() == 2);
  world.environment["COFFER_READERS"] = "many";
  CHECK(world.exit_code() == 78);
  world.flags.clear();
  CHECK(world.exit_code() == 78);
}

TEST_CASE("a missing file in a setting is an error of that setting", "[config]") {
  World world;
  world.flags["config"] = world.path("none.toml");
  CHECK(contains(world.errors(), "--config: " + world.path("none.toml") + ": No such file"));
  world.flags["config"] = "";
  CHECK(world.errors() == "coffer: --config: \"\" is not valid: it is empty\n");
  world.flags.clear();
  world.environment["COFFER_CONFIG"] = world.folder.string();
  CHECK(contains(world.errors(), "COFFER_CONFIG: "));
  CHECK(contains(world.errors(), "Is a directory"));
}

TEST_CASE("a path in the file is relative to the file", "[config]") {
  World world;
  world.flags["config"] = world.write("etc/c.toml", "db = \"data/x.db\"\n");
  CHECK(world.load()->db == world.path("etc/data/x.db"));
  world.flags["db"] = "y.db";
  CHECK(world.load()->db == "y.db");
}

TEST_CASE("ambiguous paths are rejected", "[config]") {
  World world;
  for (const auto* bad : {"~/x.db", ":memory:", "file:x?mode=ro", "", "a\nb"}) {
    INFO(bad);
    world.flags["db"] = bad;
    CHECK(world.exit_code() == 2);
  }
  world.flags["db"] = world.folder;
  CHECK(contains(world.errors(), "is a folder"));
}

TEST_CASE("addresses", "[config]") {
  World world;
  struct Case {
    std::string text;
    HostPort expected;
  };
  const std::vector<Case> good = {{"127.0.0.1:0", {"127.0.0.1", 0}},
                                  {"0.0.0.0:65535", {"0.0.0.0", 65'535}},
                                  {"[::1]:8080", {"::1", 8080}},
                                  {"localhost:80", {"localhost", 80}}};
  for (const auto& c : good) {
    world.flags["listen_http"] = c.text;
    REQUIRE(world.load());
    CHECK(world.load()->listen_http == c.expected);
    CHECK(world.load()->listen_http.to_string() == c.text);
  }
  for (const auto* bad : {"8080", ":8080", "::1:8080", "a:65536", "a:-1", "a:", "a:+1", "a b:1",
                          "http://a:1", "[]:1"}) {
    INFO(bad);
    world.flags["listen_http"] = bad;
    CHECK_FALSE(world.load());
  }
}

TEST_CASE("the admin page beyond loopback needs TLS or admin_plain_http", "[config]") {
  World world;
  const auto cert = world.write("cert.pem", "cert");
  const auto key = world.write("key.pem", "key");
  world.flags["admin_listen"] = "[::1]:8081";
  CHECK(world.load());
  for (const char* other : {"0.0.0.0:8081", "[::]:8081", "192.0.2.1:8081", "admin.internal:8081"}) {
    INFO(other);
    world.flags = {{"admin_listen", other}};
    CHECK(contains(world.errors(), "--admin-listen: " + std::string(other)));
    world.flags["admin_plain_http"] = "true";
    CHECK(world.load());
    world.flags = {{"admin_listen", other}, {"tls_cert", cert}, {"tls_key", key}};
    CHECK(world.load());
  }
}

TEST_CASE("proxies and ports are checked when settings are read", "[config]") {
  World world;
  world.flags["trusted_proxies"] = "127.0.0.1,10.0.0.0/8,fd00::/8";
  world.flags["webhook_allow_ports"] = "8443,9443";
  REQUIRE(world.load());
  CHECK(world.load()->trusted_proxies.size() == 3);
  for (const char* bad : {"proxy.internal", "10.0.0.0/40"}) {
    world.flags["trusted_proxies"] = bad;
    CHECK(contains(world.errors(), "--trusted-proxies: \"" + std::string(bad) + "\""));
  }
  world.flags = {{"webhook_allow_ports", "65536"}};
  CHECK(contains(world.errors(), "--webhook-allow-ports: \"65536\""));
}

TEST_CASE("TLS needs a readable certificate and key", "[config]") {
  World world;
  const auto cert = world.write("cert.pem", "cert");
  const auto key = world.write("key.pem", "key");
  world.flags["tls_cert"] = cert;
  CHECK(contains(world.errors(), "--tls-cert: tls_cert is set and tls_key is not"));
  world.environment["COFFER_TLS_KEY"] = key;
  CHECK(world.load());
  world.environment["COFFER_TLS_KEY"] = world.path("none.pem");
  CHECK(contains(world.errors(), "COFFER_TLS_KEY: " + world.path("none.pem") + ": No such file"));
  world.flags = {{"tls_client_ca", cert}};
  CHECK(contains(world.errors(), "--tls-client-ca: tls_client_ca is set and tls_cert is not"));
}

TEST_CASE("an external issuer needs all three settings, and domains must be valid", "[config]") {
  World world;
  world.flags["oauth_issuer"] = "https://issuer.example";
  CHECK(contains(world.errors(),
                 "--oauth-issuer: oauth_issuer is set and oauth_audience and oauth_jwks is not"));
  world.flags["oauth_audience"] = "coffer";
  world.flags["oauth_jwks"] = "http://issuer.example/keys";
  CHECK(contains(world.errors(), "--oauth-jwks: "));
  world.flags["oauth_jwks"] = "https://issuer.example/keys";
  CHECK(world.load());
  world.flags["oauth_jwks"] = world.write("keys.json", "{}");
  CHECK(world.load());
  world.flags["home_domain"] = "https://pay.example";
  CHECK(contains(world.errors(), "--home-domain: "));
  world.flags["home_domain"] = std::string(60, 'a');
  CHECK(contains(world.errors(), "--home-domain: "));
  world.flags["home_domain"] = "pay.example:8443";
  CHECK(world.load());
}

TEST_CASE("the master key: file by flag > variable > credential > file by file", "[config]") {
  World world;
  world.flags["config"] = world.write("c.toml", "master_key_file = \"k1\"\n");
  CHECK(world.load()->master_key.empty());
  CHECK(world.load()->master_key_file == world.path("k1"));
  CHECK(setting(*world.load(), "master_key") == "(not set) <- default");

  world.environment["CREDENTIALS_DIRECTORY"] = world.path("credentials");
  CHECK(world.load()->master_key.empty());
  world.write("credentials/master_key", "raw bytes end\n");
  CHECK(world.load()->master_key.reveal() == "raw bytes end\n");
  CHECK(setting(*world.load(), "master_key") == "(set) <- " + world.path("credentials/master_key"));

  world.environment["COFFER_MASTER_KEY_FILE"] = world.path("k2");
  CHECK(world.load()->master_key.empty());
  CHECK(world.load()->master_key_file == world.path("k2"));
  world.environment["COFFER_MASTER_KEY"] = "from variable";
  CHECK(contains(world.errors(), "COFFER_MASTER_KEY: COFFER_MASTER_KEY_FILE is also set"));
  world.environment.erase("COFFER_MASTER_KEY_FILE");
  CHECK(world.load()->master_key.reveal() == "from variable");
  CHECK(setting(*world.load(), "master_key") == "(set) <- COFFER_MASTER_KEY");

  world.flags["master_key_file"] = world.path("k3");
  CHECK(world.load()->master_key.empty());
  CHECK(world.load()->master_key_file == world.path("k3"));
}

TEST_CASE("the gateway's token: variable > credential > file, which may end with a newline",
          "[config]") {
  World world;
  world.environment["COFFER_NOTIFY_GATEWAY_URL"] = "https://gateway.example/messages";
  world.environment["COFFER_NOTIFY_GATEWAY_TOKEN_FILE"] = world.write("token", "from-file\n");
  CHECK(world.load().value().notify_gateway_token.reveal() == "from-file");
  CHECK(setting(*world.load(), "notify_gateway_token") == "(set) <- " + world.path("token"));
  world.write("token", "from-file");
  CHECK(world.load().value().notify_gateway_token.reveal() == "from-file");
  for (const char* text : {"two\n\n", "two\r\n", "two\nlines", " blank\n"}) {
    INFO(text);
    world.write("token", text);
    CHECK(contains(world.errors(), "it contains a character that is not valid in a token"));
  }

  world.environment["CREDENTIALS_DIRECTORY"] = world.path("credentials");
  world.write("credentials/notify_gateway_token", "from-credential\n");
  CHECK(world.load().value().notify_gateway_token.reveal() == "from-credential");
  world.environment["COFFER_NOTIFY_GATEWAY_TOKEN"] = "from-variable";
  CHECK(world.load().value().notify_gateway_token.reveal() == "from-variable");
  world.environment["COFFER_NOTIFY_GATEWAY_TOKEN"] = "from-variable\n";
  CHECK(contains(world.errors(), "it contains a character that is not valid in a token"));
}

TEST_CASE("an empty credential is an error", "[config]") {
  World world;
  world.environment["CREDENTIALS_DIRECTORY"] = world.folder;
  const auto file = world.write("master_key", "");
  CHECK(contains(world.errors(), file + ": it is empty"));
  CHECK(world.exit_code() == 78);
}

TEST_CASE("secrets are neither in the file nor in the output", "[config]") {
  World world;
  const auto file = world.write("c.toml", "master_key = \"sesame\"\n");
  world.flags["config"] = file;
  CHECK(contains(world.errors(), file + ":1: master_key is a secret"));
  CHECK_FALSE(contains(world.errors(), "sesame"));
  world.flags.clear();
  world.environment["COFFER_MASTER_KEY"] = "sesame";
  for (const auto& s : effective_settings(*world.load())) {
    CHECK_FALSE(contains(s.value + s.origin, "sesame"));
  }
}

TEST_CASE("the file distinguishes types but accepts a quoted number", "[config]") {
  World world;
  const auto with = [&](const std::string& text) {
    world.flags["config"] = world.write("c.toml", text);
    return world.errors();
  };
  CHECK(with("workers = \"8\"\nqueue_max = 1_000\nallow_network_filesystem = true\n"
             "log_format = \"json\"\nnetwork_name = 'My \\ Net' # one\n")
            .empty());
  CHECK(world.load()->workers == 8);
  CHECK(world.load()->queue_max == 1'000);
  CHECK(world.load()->allow_network_filesystem);
  CHECK(world.load()->log_format == LogFormat::json);
  CHECK(world.load()->network_name == "My \\ Net");
  CHECK(contains(with("log_level = debug\n"), ":1: "));
  CHECK(contains(with("log_level = debug\n"),
                 "log_level: put the value in quotes: log_level = \"debug\""));
  CHECK(contains(with("# x\nadmin_listen = 127.0.0.1:8081\n"),
                 "admin_listen: put the value in quotes: admin_listen = \"127.0.0.1:8081\""));
  CHECK(contains(with("idle_timeout_s = 12:30\n"),
                 "\"12:30\" is not a value of idle_timeout_s. Write idle_timeout_s = 660"));
  CHECK(contains(with("admin_off = yes\n"), "Write admin_off = true"));
  CHECK(contains(with("log_level = \"debug\n"), "with strings in quotes: log_level = \"info\""));
  CHECK(contains(with("network_name = 12\n"), "put the value in quotes: network_name = \"12\""));
  CHECK(contains(with("allow_network_filesystem = \"yes\"\n"), "write true or false"));
  CHECK(contains(with("config = \"other.toml\"\n"), "unknown key config"));
}

TEST_CASE("TOML: accepted values, and rejected ones with their names", "[config]") {
  const auto good = parse_config_file(
      "\xef\xbb\xbf# comment\r\n a-b_1 = \"q\\\"\\\\\\t\\u00e9\\U0001f642\" # "
      "c\r\n\nn=-5\nlast='x'");
  CHECK(good.errors.empty());
  REQUIRE(good.entries.size() == 3);
  CHECK(good.entries[0].key == "a-b_1");
  CHECK(good.entries[0].value == "q\"\\\t\u00e9\U0001f642");
  CHECK(good.entries[0].line == 2);
  CHECK(good.entries[1].value == "-5");
  CHECK_FALSE(good.entries[1].quoted);
  CHECK(good.entries[2].line == 5);

  for (const auto* bad :
       {"[table]",     "key",           "key =",           "= 1",       "a.b = 1",
        "a = [1]",     "a = {b = 1}",   "a = \"\"\"x",     "a = 'open", "a = \"open",
        "a = \"\\q\"", "a = \"\\u00\"", "a = \"\\ud800\"", "a = 1 2",   "a = \"x\" y",
        "a = 1.5",     "a = 1\na = 2",  "a = \"\\",        "a = _",     "a = +_",
        "a = 1__0",    "a = _1",        "a = 1_",          "a = -"}) {
    INFO(bad);
    CHECK(parse_config_file(bad).errors.size() == 1);
  }
  CHECK(parse_config_file("a = 1\n\na = 2").errors[0].line == 3);
}

TEST_CASE("flags: one per option of the scope, values kept as text", "[config]") {
  CLI::App app;
  ConfigFlags flags;
  add_config_options(app, ConfigScope::server, flags);
  app.parse("--workers 8 --listen-http [::1]:0 --allow-network-filesystem --config c.toml");
  CHECK(flags == ConfigFlags{{"workers", "8"},
                             {"listen_http", "[::1]:0"},
                             {"allow_network_filesystem", "true"},
                             {"config", "c.toml"}});
  CHECK_FALSE(contains(app.help(), "--master-key "));
  for (const ConfigOption& option : config_options()) {
    if (!option.secret()) CHECK(contains(app.help(), option.flag()));
  }

  CLI::App again;
  add_config_options(again, ConfigScope::server, flags);
  again.parse("--allow-network-filesystem=false");
  CHECK(flags["allow_network_filesystem"] == "false");
  CHECK_THROWS_AS(again.parse("--workers 1 --workers 2"), CLI::ParseError);
  CHECK_THROWS_AS(again.parse("--master-key x"), CLI::ParseError);

  CLI::App file_command;
  add_config_options(file_command, ConfigScope::file, flags);
  CHECK(contains(file_command.help(), "--db"));
  CHECK_THROWS_AS(file_command.parse("--workers 1"), CLI::ParseError);
}

TEST_CASE("the suggested name differs by a typo, not by a word", "[config]") {
  CHECK(nearest_config_option("worker") == "workers");
  CHECK(nearest_config_option("listen_https") == "listen_http");
  CHECK(nearest_config_option("rate_limit_sandbox_per_sec") == "rate_limit_sandbox_per_s");
  CHECK(nearest_config_option("colour").empty());
}

TEST_CASE("a list is comma-separated, and every item is checked", "[config]") {
  World world;
  world.environment["COFFER_WEBHOOK_ALLOW_TARGETS"] = "10.0.0.0/8, hooks.internal";
  world.environment["COFFER_WEBHOOK_RETRY_S"] = "5,60,600";
  const auto config = world.load();
  REQUIRE(config);
  CHECK(config->webhook_allow_targets == std::vector<std::string>{"10.0.0.0/8", "hooks.internal"});
  CHECK(config->webhook_retry_s == std::vector<std::string>{"5", "60", "600"});
  CHECK(setting(*config, "webhook_retry_s") == "5,60,600 <- COFFER_WEBHOOK_RETRY_S");
  CHECK(Config{}.webhook_allow_targets.empty());

  world.environment["COFFER_WEBHOOK_RETRY_S"] = "5,soon";
  CHECK(contains(world.errors(), "COFFER_WEBHOOK_RETRY_S: \"soon\" is not valid"));
  world.environment["COFFER_WEBHOOK_RETRY_S"] = "5,,6";
  CHECK(contains(world.errors(), "COFFER_WEBHOOK_RETRY_S"));
  world.environment.erase("COFFER_WEBHOOK_RETRY_S");
  world.environment["COFFER_WEBHOOK_ALLOW_TARGETS"] = "10.0.0.0/40";
  CHECK(contains(world.errors(), "COFFER_WEBHOOK_ALLOW_TARGETS: \"10.0.0.0/40\""));
}
