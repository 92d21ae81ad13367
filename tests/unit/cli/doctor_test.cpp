#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>

#include "base/environment.h"
#include "cli/admin/site.h"
#include "cli/doctor/checks.h"
#include "cli/serve/control_socket.h"
#include "http/wire/listener.h"
#include "store/file/lock_file.h"
#include "store/operations/copies.h"
#include "store/schema.h"
#include "unit/cli/open_file.h"

using namespace coffer;
using namespace coffer::cli;
using coffer::cli::test::Folder;
using coffer::cli::test::OpenFile;

namespace doctor_test {
namespace {

/// The findings of one check, worst first; an ok one without findings.
cli::Finding worst(const Findings& findings, const std::string& check) {
  cli::Finding out{check, Grade::ok, {}};
  for (const cli::Finding& finding : findings) {
    INFO(finding.check << ": " << finding.found);
    CHECK((finding.grade == Grade::ok) == finding.remedy.empty());
    CHECK_FALSE(finding.found.empty());
    if (finding.check == check && (out.found.empty() || finding.grade > out.grade)) out = finding;
  }
  return out;
}

/// Settings of an existing, cleanly closed file with its key.
struct ClosedFile {
  ClosedFile() {
    config.origins = {{"listen_http", "default"}, {"admin_listen", "default"}};
    config.db = folder.file("coffer.db");
    config.master_key_file = folder.file("master.key");
    config.readers = 1;
    StartError error;
    redirect_log([](std::string_view) {});
    REQUIRE(App::open(config, clock, random, error, App::Missing::create));
    redirect_log(nullptr);
  }
  Folder folder;
  Config config;
  ManualClock clock;
  SeededRandom random{7};
};

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

bool names(const cli::Finding& finding, const std::string& part) {
  return finding.found.find(part) != std::string::npos ||
         finding.remedy.find(part) != std::string::npos;
}

class FixedNames final : public outbound::Resolver {
 public:
  Result<std::vector<std::string>> resolve(const std::string& name, int) override {
    asked.push_back(name);
    if (name == "known.example") return std::vector<std::string>{"192.0.2.1"};
    return unexpected(Slug::provider_timeout, "The name " + name + " was not resolved in time.");
  }
  std::vector<std::string> asked;
};

}  // namespace

TEST_CASE("doctor: a valid closed file", "[cli]") {
  const ClosedFile file;
  const Owner owner = find_owner(file.config.db);
  CHECK_FALSE(owner.locked);
  CHECK_FALSE(owner.commanded);
  const Findings findings = examine_database(file.config, owner);
  CHECK(worst(findings, "database").grade == Grade::ok);
  CHECK(worst(findings, "permissions").grade == Grade::ok);
  CHECK(findings.size() == 2);
}

TEST_CASE("doctor changes nothing: no new file, no changed time", "[cli]") {
  const ClosedFile file;
  const auto seen = [&] {
    std::map<std::string, std::filesystem::file_time_type> out;
    for (const auto& entry : std::filesystem::directory_iterator(file.folder.file(""))) {
      out[entry.path()] = entry.last_write_time();
    }
    return out;
  };
  const auto before = seen();
  const Owner owner = find_owner(file.config.db);
  examine_database(file.config, owner);
  examine_disks(file.config);
  examine_server(file.config, owner, {}, 100);
  CHECK(seen() == before);
}

TEST_CASE("doctor: a missing file, and a file of another program", "[cli]") {
  const Folder folder;
  Config config;
  config.db = folder.file("new/coffer.db");
  config.master_key_file = folder.file("new/master.key");
  const auto database = [&] { return worst(examine_database(config, {}), "database"); };
  CHECK(database().grade == Grade::warning);
  CHECK(names(database(), "coffer init"));
  CHECK_FALSE(std::filesystem::exists(folder.file("new")));
  config.disk_floor_mib = 1 << 30;  // a pebibyte
  CHECK(database().grade == Grade::failed);
  CHECK(names(database(), "disk_floor_mib"));
  config.disk_floor_mib = 0;

  write(config.db = folder.file("text.db"), std::string(5'000, 'x'));
  CHECK(database().grade == Grade::failed);
  CHECK(names(database(), "is not a coffer file"));
  config.db = folder.file("");
  CHECK(database().grade == Grade::failed);
}

TEST_CASE("doctor: a ledger that was moved away, as the start reports it", "[cli]") {
  const ClosedFile file;
  std::filesystem::rename(file.config.db, file.folder.file("elsewhere.db"));
  const cli::Finding found = worst(examine_database(file.config, {}), "database");
  CHECK(found.grade == Grade::failed);
  CHECK(names(found, "contained a ledger"));
}

TEST_CASE("doctor: permissions of the file, its folder, its companions and its key", "[cli]") {
  const ClosedFile file;
  const std::string& db = file.config.db;
  const auto database = [&] {
    return worst(examine_database(file.config, {}), "permissions").grade;
  };
  ::chmod(db.c_str(), 0640);
  CHECK(database() == Grade::warning);
  ::chmod(db.c_str(), 0604);
  CHECK(database() == Grade::failed);
  ::chmod(db.c_str(), 0600);
  ::chmod(file.folder.file("").c_str(), 0770);
  CHECK(database() == Grade::failed);
  ::chmod(file.folder.file("").c_str(), 01777);  // like /tmp: users cannot remove files of others
  CHECK(database() == Grade::ok);
  write(db + ".demo.json", "{}");
  ::chmod((db + ".demo.json").c_str(), 0644);
  CHECK(database() == Grade::failed);
  ::chmod(file.config.master_key_file.c_str(), 0644);
  const cli::Finding key = worst(examine_database(file.config, {}), "database");
  CHECK(key.grade == Grade::failed);
  CHECK(names(key, file.config.master_key_file));
}

TEST_CASE("doctor: a missing, damaged or different master key", "[cli]") {
  const ClosedFile file;
  const auto key = [&] { return worst(examine_database(file.config, {}), "database"); };
  write(file.config.master_key_file, "short\n");
  CHECK(key().grade == Grade::failed);
  write(file.config.master_key_file, std::string(64, '0') + "\n");
  CHECK(key().grade == Grade::failed);
  CHECK(names(key(), "the master key is not the key of"));
  std::filesystem::remove(file.config.master_key_file);
  CHECK(key().grade == Grade::failed);
  CHECK(names(key(), file.config.master_key_file));
}

TEST_CASE("doctor: a file of a newer version, and of a version before the first release", "[cli]") {
  const ClosedFile file;
  const auto schema_with = [&](unsigned char version) {
    std::fstream out(file.config.db, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(63);  // last byte of user_version in the header of every SQLite file
    out.put(static_cast<char>(version));
    out.close();
    return worst(examine_database(file.config, {}), "database").grade;
  };
  CHECK(schema_with(99) == Grade::failed);
  CHECK(schema_with(store::kFirstSchema - 1) == Grade::failed);
  CHECK(schema_with(store::kFirstSchema) == Grade::ok);
}

TEST_CASE("doctor: an open file is not examined from another process", "[cli]") {
  OpenFile file;
  const Owner owner = find_owner(file.path());
  CHECK(owner.locked);
  CHECK(owner.process == ::getpid());
  CHECK_FALSE(owner.commanded);
  Config config = file.app().config();
  config.origins = {{"listen_http", "default"}, {"admin_listen", "default"}};
  CHECK(worst(examine_server(config, owner, {}, 100), "server").grade == Grade::warning);
  CHECK(worst(examine_database(file.app().config(), owner), "database").found.empty());

  ControlSocket control([](const auto&...) { return 0; });
  REQUIRE(control.start(file.path()));
  CHECK(find_owner(file.path()).commanded);
  control.stop();
}

TEST_CASE("doctor: free ports, and a port in use", "[cli]") {
  const Folder folder;
  Config config;
  config.origins = {{"listen_http", "default"}, {"admin_listen", "COFFER_ADMIN_LISTEN"}};
  config.db = folder.file("coffer.db");
  http::Listener other;
  REQUIRE(other.bind("127.0.0.1", 0));
  config.listen_http = {"127.0.0.1", other.port()};
  config.admin_listen = {"127.0.0.1", 0};
  const auto api = [&](const Owner& owner) {
    return worst(examine_server(config, owner, {}, 100), "api");
  };
  CHECK(api({}).grade == Grade::failed);
  CHECK(names(api({}), "listen_http"));
  std::swap(config.listen_http, config.admin_listen);
  CHECK(names(api({}), "COFFER_ADMIN_LISTEN"));
  std::swap(config.listen_http, config.admin_listen);
  other.close();
  CHECK(api({}).grade == Grade::ok);
  config.listen_http = {"0.0.0.0", 0};
  CHECK(api({}).grade == Grade::warning);
  config.listen_http = {"192.0.2.77", 8080};
  CHECK(api({}).grade == Grade::failed);
  // Another user's server: a request is sent first, and only then is the port tested.
  CHECK(worst(examine_server(config, {.told = false}, {}, 100), "server").grade == Grade::warning);
  // A server that accepts commands, but is not at the address of the settings.
  config.listen_http = {"127.0.0.1", 1};
  CHECK(api({true, true, 0, true}).grade == Grade::failed);
}

TEST_CASE("doctor: a server is checked at the address that it reports, not the one in the settings",
          "[cli]") {
  http::Listener other;  // these addresses belong to another server
  REQUIRE(other.bind("127.0.0.1", 0));
  OpenFile file([](Config& config) {
    config.listen_http = config.admin_listen = {"127.0.0.1", 0};
    config.workers = 2;
  });
  StartError error;
  REQUIRE(file.app().serve(error, {[](http::Request&) { return http::Response(); },
                                   [](const http::Request&, std::uint64_t) {
                                     return Result<http::Admission>(http::Admission());
                                   },
                                   AdminSite::owns}));
  ControlSocket control([&](const ControlRequest& request, std::ostream& out, std::ostream& err,
                            Interruption& interruption) {
    return run_request(file.app(), request, out, err, interruption);
  });
  REQUIRE(control.start(file.path()));
  Config settings = file.app().config();
  settings.listen_http = {"127.0.0.1", other.port()};
  settings.admin_listen = {"127.0.0.1", 1};
  const Findings findings =
      examine_server(settings, find_owner(file.path()), server_overview(file.path(), 2'000), 2'000);
  CHECK(worst(findings, "server").grade != Grade::failed);
  CHECK(worst(findings, "api").grade == Grade::ok);
  CHECK(names(worst(findings, "api"),
              ":" + std::to_string(file.app().listeners().port()) + " is healthy"));
  CHECK(worst(findings, "admin page").found.empty());  // on the same listener
  control.stop();
}

TEST_CASE("doctor asks the running server once", "[cli]") {
  OpenFile file;
  std::atomic<int> asked{0};
  ControlSocket control([&](const ControlRequest& request, std::ostream& out, std::ostream& err,
                            Interruption& interruption) {
    ++asked;
    return run_request(file.app(), request, out, err, interruption);
  });
  REQUIRE(control.start(file.path()));
  std::ostringstream out;
  std::ostringstream err;
  const auto& doctor = std::get<OwnCommand>(find_command("doctor")->run);
  const Arguments arguments{{{"resolve", "localhost"}, {"timeout-ms", "2000"}}, true};
  doctor({out, err}, arguments, {{"db", file.path()}, {"listen_http", "127.0.0.1:1"}});
  CHECK(asked == 1);
  control.stop();
}

TEST_CASE("doctor: a command has the database open, or a server without its control socket",
          "[cli]") {
  const Folder folder;
  Config config;
  config.db = folder.file("coffer.db");
  config.listen_http = config.admin_listen = {"127.0.0.1", 0};
  store::LockState holder;
  const auto server = [&] {
    return worst(examine_server(config, find_owner(config.db), {}, 100), "server");
  };
  {
    const auto lock = store::LockFile::take(config.db, "verify", holder);
    CHECK(names(server(), "coffer verify"));
    CHECK(names(server(), "when that command is complete"));
  }
  const auto lock = store::LockFile::take(config.db, "", holder);
  CHECK(names(server(), "control socket"));
}

TEST_CASE("doctor: reads and keeps the log of a killed process", "[cli]") {
  Folder folder;
  Config config;
  {
    OpenFile file;
    std::filesystem::copy_file(file.path(), folder.file("coffer.db"));
    std::filesystem::copy_file(file.path() + "-wal", folder.file("coffer.db-wal"));
  }
  config.db = folder.file("coffer.db");
  config.master_key_file = {};
  CHECK(names(worst(examine_database(config, {}), "database"), "master key"));  // the only fault
  CHECK(std::filesystem::file_size(config.db + "-wal") > 0);
  CHECK_FALSE(std::filesystem::exists(config.db + "-shm"));
}

TEST_CASE("doctor: names are resolved, including those in the settings", "[cli]") {
  Config config;
  FixedNames names_known;
  CHECK(worst(examine_names(config, names_known, "known.example", 10), "names").grade == Grade::ok);
  CHECK(worst(examine_names(config, names_known, "no.example", 10), "names").grade ==
        Grade::warning);
  config.notify_gateway_url = "https://gateway.example/send";
  const cli::Finding finding =
      worst(examine_names(config, names_known, "known.example", 10), "names");
  CHECK(finding.grade == Grade::failed);
  CHECK(names(finding, "notify_gateway_url"));
}

TEST_CASE("doctor: trusted roots", "[cli]") {
  const Folder folder;
  Config config;
  config.ca_bundle = folder.file("none.pem");
  CHECK(examine_trusted_roots(config).grade == Grade::failed);
  write(config.ca_bundle, "no certificate\n");
  CHECK(examine_trusted_roots(config).grade == Grade::failed);
}

TEST_CASE("doctor: conditions of the running server, not of these settings", "[cli]") {
  const Folder folder;
  OpenFile file([&](Config& config) {
    config.backup_dir = folder.file("of the server");
    config.backup_every_h = 1;
  });
  ControlSocket control([&](const ControlRequest& request, std::ostream& out, std::ostream& err,
                            Interruption& interruption) {
    return run_request(file.app(), request, out, err, interruption);
  });
  REQUIRE(control.start(file.path()));
  const auto found = [&] {
    return worst(examine_server(file.app().config(), find_owner(file.path()),
                                server_overview(file.path(), 2'000), 100),
                 "backups");
  };
  CHECK(found().grade == Grade::warning);
  CHECK(names(found(), "no backup"));
  REQUIRE(file.run("backup").code == 0);
  CHECK(found().found.empty());
  file.clock().advance_ms(2 * kHourMs + 1);
  CHECK(found().grade == Grade::failed);
  CHECK(names(found(), "too old"));
  REQUIRE(file.app().queue().run([](store::WriteTx& tx) -> Result<void> {
    store::record_backup_failure(tx, "no space");
    return {};
  }));
  CHECK(found().grade == Grade::failed);
  CHECK(names(found(), "backupFailure"));
  control.stop();
}

TEST_CASE("doctor: secrets in readable files, and an unwritable log", "[cli]") {
  const Folder folder;
  Config config;
  const Timestamp now = SystemClock().now();
  config.metrics_token_file = folder.file("token");
  write(config.metrics_token_file, "x");
  ::chmod(config.metrics_token_file.c_str(), 0644);
  CHECK(worst(examine_named_files(config, now), "secrets").grade == Grade::failed);
  ::chmod(config.metrics_token_file.c_str(), 0600);
  CHECK(worst(examine_named_files(config, now), "secrets").grade == Grade::ok);
  config.log_file = folder.file("missing/coffer.log");
  CHECK(worst(examine_named_files(config, now), "log file").grade == Grade::failed);
  config.log_file = folder.file("coffer.log");
  CHECK(worst(examine_named_files(config, now), "log file").grade == Grade::ok);
}

TEST_CASE("doctor: free disk space", "[cli]") {
  const ClosedFile file;
  Config config = file.config;
  config.disk_floor_mib = 0;
  CHECK(worst(examine_disks(config), "disk").grade != Grade::failed);
  const auto free_mib =
      static_cast<int>(std::filesystem::space(file.folder.file("")).available >> 20);
  config.disk_floor_mib = free_mib / 3 * 2;
  const auto near = worst(examine_disks(config), "disk");
  CHECK(near.grade == Grade::warning);
  CHECK(names(near, "disk_floor_mib"));
  config.disk_floor_mib = 1 << 30;  // a pebibyte
  CHECK(worst(examine_disks(config), "disk").grade == Grade::failed);
}

}  // namespace doctor_test
