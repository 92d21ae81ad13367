// The files that commands create next to those of the operator, and what they leave.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <set>

#include "base/platform/exit_code.h"
#include "cli/operations/verify.h"
#include "flows/operations/backup_plan.h"
#include "flows/operations/backups.h"
#include "http/wire/listener.h"
#include "unit/cli/open_file.h"
#include "unit/cli/own_command.h"

using namespace coffer;
using namespace coffer::cli;
using coffer::cli::test::content_of;
using coffer::cli::test::Folder;
using coffer::cli::test::OpenFile;
using coffer::cli::test::put;
using coffer::cli::test::Ran;
using coffer::cli::test::run_own;
namespace fs = std::filesystem;

namespace left_files_test {
namespace {

using Values = std::map<std::string, std::string>;

/// What makes the command create a missing database.
Values creating(const std::string& command) {
  return command == "serve" ? Values{{"init", "true"}} : Values{};
}

/// Runs a command for a new database, which must fail and leave no file and no folder.
Ran rejected_without_files(const std::string& command, const Values& values, ConfigFlags flags) {
  const Folder folder;
  flags["db"] = folder.file(command == "serve" ? "new.db" : "new/folder/new.db");
  Ran ran = run_own(command, values, flags, false);
  INFO(command << " " << ran.err);
  CHECK(ran.code != 0);
  CHECK_FALSE(ran.err.empty());
  CHECK(fs::is_empty(folder.file("")));
  return ran;
}

}  // namespace

TEST_CASE("verify: works beside an export of the same server; a second export does not", "[cli]") {
  OpenFile file([](Config& config) {
    config.listen_http = {"127.0.0.1", 0};
    config.admin_off = true;
    config.workers = 2;
  });
  StartError error;
  REQUIRE(file.app().serve(error));
  std::ostringstream out;
  const Console console{out, out};
  Interruption interruption;
  const Actor actor = command_line_actor(0);
  const Session session{file.app(), console, interruption, actor};
  Ran second;
  const auto first = with_consistent_copy(
      session, "export", [](const Progress&) {},
      [&](auto& copy) {
        CHECK(run_own("verify", {{"FILE", copy}}, {}, false).code == 0);
        CHECK(file.run("verify").code == 0);
        second = file.run("export", {{"FILE", "-"}}, false);
      });
  CHECK(first);
  INFO(second.err);
  CHECK(second.code == exit_code::kBusy);
  CHECK(second.err.find(file.path() + ".") != std::string::npos);
  CHECK(second.err.find("copy-export") == std::string::npos);
  CHECK(second.err.find("Try again") != std::string::npos);
  CHECK(file.run("export", {{"FILE", "-"}}, false).code == 0);
}

TEST_CASE("a command with a misspelt path creates nothing and names the nearest database",
          "[cli]") {
  for (const Command& command : commands()) {
    const bool makes = command.path == "init" || command.path == "demo" ||
                       command.path == "restore" || command.path == "replica seed" ||
                       command.path == "doctor";
    if (command.settings == Settings::none || makes) continue;
    // commands_test.cpp: all others open the file in one way.
    const auto* own = std::get_if<OwnCommand>(&command.run);
    const bool needs_none =
        command.path == "listen" || command.path == "healthcheck" || command.path == "settings";
    if (own == nullptr || needs_none) continue;
    Values values;
    for (const Argument& argument : command.arguments) {
      if (argument.required) values[std::string(argument.name)] = "1";
    }
    const Folder folder;
    const std::string there = folder.file("ledger.db");
    REQUIRE(run_own("init", {}, {{"db", there}}, false).code == 0);
    const auto before = std::distance(fs::recursive_directory_iterator(folder.file("")), {});
    for (const std::string& wrong :
         {folder.file("ledgr.db"), folder.file("none/ledger.db"), folder.file("a/b/c.db")}) {
      const Ran ran = run_own(std::string(command.path), values,
                              {{"db", wrong}, {"listen_http", "127.0.0.1:0"}}, false);
      INFO(command.path << " " << wrong << ": " << ran.err);
      CHECK(ran.code != 0);
      CHECK_THAT(ran.err, Catch::Matchers::Contains("database not found: " + wrong) &&
                              Catch::Matchers::Contains(there));
      CHECK(std::distance(fs::recursive_directory_iterator(folder.file("")), {}) == before);
    }
  }
}

TEST_CASE("serve --init creates a database only in an existing folder without a ledger", "[cli]") {
  const ConfigFlags flags{{"listen_http", "127.0.0.1:0"}, {"admin_listen", "127.0.0.1:1"}};
  const auto rejected = [&](const std::string& path, const std::string& said) {
    ConfigFlags own = flags;
    own["db"] = path;
    const Ran ran = run_own("serve", creating("serve"), own, false);
    INFO(ran.err);
    CHECK(ran.code == exit_code::kConfiguration);
    CHECK_THAT(ran.err, Catch::Matchers::Contains(said));
    CHECK_FALSE(fs::exists(path));
  };
  for (const char* other : {"other.db", "other.db-wal", "new.requests.db", "ledger.sqlite"}) {
    const Folder folder;
    put(folder.file(other), "SQLite format 3 and more");
    rejected(folder.file("new.db"), other);
  }
  // What remains of a ledger, also of one that was at the path.
  for (const char* other :
       {"new.requests.db", "new.db.demo.json", "new.db.backups", "other.db.demo.json", "backups"}) {
    const Folder folder;
    const bool is_folder = std::string_view(other) == "backups";
    if (is_folder) fs::create_directory(folder.file(other));
    put(folder.file(is_folder ? "backups/new-20260101T000000Z.db" : other),
        is_folder ? "SQLite format 3 and more" : "");
    rejected(folder.file("new.db"), other);
  }
  const Folder folder;
  rejected(folder.file("none/new.db"), "does not exist");
  put(folder.file("other.db.lock"), "1\nholds a ledger\n");
  rejected(folder.file("new.db"), "other.db.lock");
}

TEST_CASE("init and restore print paths as words of a shell", "[cli]") {
  const Folder folder;
  const std::string quoted = "'" + folder.file("a b/it") + "'\\''s.db'";
  const std::string path = folder.file("a b/it's.db");
  fs::create_directory(folder.file("a b"));
  const std::string backup = folder.file("backup.db");
  const Ran made = run_own("init", {}, {{"db", path}}, false);
  REQUIRE(made.code == 0);
  CHECK_THAT(made.out + made.err, Catch::Matchers::Contains("coffer serve --db " + quoted) &&
                                      !Catch::Matchers::Contains("--db " + path));
  OpenFile file;
  REQUIRE(file.run("backup", {{"FILE", backup}}).code == 0);
  fs::remove(path);
  fs::remove(path + ".lock");
  const std::string key = folder.file("a b/the key");
  fs::copy_file(file.app().config().master_key_file, key);
  const Ran restored =
      run_own("restore", {{"BACKUP", backup}}, {{"db", path}, {"master_key_file", key}}, false);
  INFO(restored.err);
  REQUIRE(restored.code == 0);
  CHECK_THAT(restored.out + restored.err,
             Catch::Matchers::Contains("coffer serve --db " + quoted + " --master-key-file '" +
                                       key + "'"));
}

TEST_CASE("init, serve and demo: a command that is rejected leaves no file", "[cli]") {
  const Folder outside;
  put(outside.file("key"), "not a key\n");
  fs::permissions(outside.file("key"), fs::perms::owner_read);
  const auto rejected = [&](const std::string& command, const Values& values,
                            const std::string& setting, const std::string& value) {
    rejected_without_files(command, values, {{setting, value}});
  };
  for (const char* command : {"init", "serve", "demo"}) {
    rejected(command, creating(command), "master_key_file", outside.file("key"));
  }
  rejected("serve", {{"checkpoint", outside.file("none")}, {"init", "true"}}, "listen_http",
           "127.0.0.1:0");
  rejected("serve", creating("serve"), "log_file", outside.file("none/log"));
  rejected("demo", {}, "log_file", outside.file("none/log"));
}

TEST_CASE("serve: a start that fails after the database was set up leaves it as it was", "[cli]") {
  const Folder outside;
  put(outside.file("password"), "short\n");
  fs::permissions(outside.file("password"), fs::perms::owner_read);
  const ConfigFlags flags{{"listen_http", "127.0.0.1:0"},
                          {"master_key_file", outside.file("key")},
                          {"admin_password_file", outside.file("password")}};
  CHECK(rejected_without_files("serve", creating("serve"), flags).code ==
        exit_code::kConfiguration);
  ConfigFlags on_empty = flags;
  on_empty["db"] = outside.file("empty.db");
  put(on_empty["db"], "");
  CHECK(run_own("serve", creating("serve"), on_empty, false).code == exit_code::kConfiguration);
  CHECK(fs::file_size(on_empty["db"]) == 0);
  CHECK(std::distance(fs::directory_iterator(outside.file("")), {}) == 3);
}

TEST_CASE("demo: a file that no demo wrote is not replaced with its secrets", "[cli]") {
  const Folder folder;
  const std::string path = folder.file("new.db.demo.json");
  put(path, R"({"of": "another program"})");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  const Ran ran =
      run_own("demo", {}, {{"db", folder.file("new.db")}, {"listen_http", "127.0.0.1:0"}}, false);
  CHECK(ran.code == exit_code::kPermission);
  CHECK_THAT(ran.err, Catch::Matchers::Contains(path) && Catch::Matchers::Contains("Remove it"));
  CHECK(content_of(path) == R"({"of": "another program"})");
  CHECK(std::distance(fs::directory_iterator(folder.file("")), {}) == 1);
}

TEST_CASE("init, serve and demo: below disk_floor_mib, a new database is not created", "[cli]") {
  for (const char* command : {"init", "serve", "demo"}) {
    const Ran ran =
        rejected_without_files(command, creating(command), {{"disk_floor_mib", "1048576"}});
    INFO(command << " " << ran.err);
    CHECK(ran.code == exit_code::kBusy);
    for (const char* part : {"free", "disk_floor_mib (1048576 MiB)", "Free disk space"}) {
      CHECK_THAT(ran.err, Catch::Matchers::Contains(part));
    }
  }
}

TEST_CASE("serve and demo: an empty file is a new database, and a link to nothing is rejected",
          "[cli]") {
  for (const char* command : {"serve", "demo"}) {
    const Folder folder;
    const std::string empty = folder.file("empty.db");
    put(empty, "");
    Ran ran =
        run_own(command, creating(command), {{"db", empty}, {"disk_floor_mib", "1048576"}}, false);
    INFO(command << " " << ran.err);
    CHECK(ran.code == exit_code::kBusy);
    CHECK(fs::file_size(empty) == 0);
    const std::string link = folder.file("link.db");
    fs::create_symlink(folder.file("missing.db"), link);
    ran =
        run_own(command, creating(command), {{"db", link}, {"listen_http", "127.0.0.1:0"}}, false);
    CHECK(ran.code == exit_code::kCannotCreate);
    CHECK_THAT(ran.err, Catch::Matchers::Contains("link to a file that does not exist"));
    CHECK_FALSE(fs::exists(folder.file("missing.db")));
  }
}

TEST_CASE("serve and demo: without a usable address or certificate, no database is created",
          "[cli]") {
  http::Listener listener;
  REQUIRE(listener.bind("127.0.0.1", 0));
  const std::string taken = "127.0.0.1:" + std::to_string(listener.port());
  const std::string free = "127.0.0.1:0";
  const auto rejected = [&](const std::string& command, const Values& values,
                            const ConfigFlags& flags, const std::string& setting) {
    const Ran ran = rejected_without_files(command, values, flags);
    INFO(command << " " << ran.err);
    CHECK(ran.code == exit_code::kBusy);
    CHECK(ran.err.starts_with("coffer: " + setting + ": "));
    CHECK(ran.err.find(setting.substr(2) + ":", setting.size() + 8) == std::string::npos);
    CHECK_THAT(ran.err, Catch::Matchers::Contains("cannot listen") &&
                            Catch::Matchers::Contains("Free " + taken + ", or set another"));
  };
  for (const char* command : {"serve", "demo"}) {
    const Values values = creating(command);
    rejected(command, values, {{"listen_http", taken}}, "--listen-http");
    rejected(command, values, {{"listen_http", free}, {"admin_listen", taken}}, "--admin-listen");
  }
  rejected("demo", {{"seed", "1"}}, {{"listen_http", taken}}, "--listen-http");
  const Folder folder;
  const std::string no_certificate = folder.file("no.pem");
  put(no_certificate, "not a certificate\n");
  fs::permissions(no_certificate, fs::perms::owner_read);
  const Ran ran = rejected_without_files(
      "serve", creating("serve"),
      {{"listen_http", free}, {"tls_cert", no_certificate}, {"tls_key", no_certificate}});
  CHECK_THAT(ran.err, Catch::Matchers::Contains(no_certificate) &&
                          Catch::Matchers::Contains("must contain the certificate of the server"));
}

TEST_CASE("backup: two within one second have different names", "[cli]") {
  const Folder folder;
  OpenFile file([&](Config& config) { config.backup_dir = folder.file("backups"); });
  std::set<std::string> names;
  for (int i = 0; i < 3; ++i) {
    const Ran ran = file.run("backup");
    INFO(ran.err);
    REQUIRE(ran.code == 0);
    names.insert(ran.json().at("file").get<std::string>());
  }
  CHECK(names.size() == 3);
  CHECK(file.run("backups list").json().size() == 3);
}

TEST_CASE("backup: a copy that restore would reject is discarded, with the repair", "[cli]") {
  const Folder folder;
  OpenFile file;
  const std::string path = folder.file("backup.db");
  int restored = 0;
  const auto backs_up = [&](const std::string& sql) {
    store::Connection(file.path(), store::OpenMode::read_write).execute(sql);
    const Ran ran = file.run("backup", {{"FILE", path}});
    INFO(sql << " " << ran.err);
    CHECK((ran.code == 0) == fs::exists(path));
    if (ran.code == 0) {
      CHECK(run_own("restore", {{"BACKUP", path}},
                    {{"db", folder.file(std::to_string(++restored) + ".db")},
                     {"master_key_file", file.app().config().master_key_file}})
                .code == 0);
      for (const char* ending : {"", ".sha256", ".checkpoint"}) fs::remove(path + ending);
    } else {
      CHECK(fs::is_empty(folder.file("")));
      CHECK_THAT(ran.err, Catch::Matchers::Contains(file.path() + " 'DROP TABLE notes'"));
    }
    return ran.code == 0;
  };
  CHECK_FALSE(backs_up("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE)"));
  CHECK(backs_up("DROP TABLE notes"));
  CHECK(backs_up("ANALYZE; CREATE TABLE _litestream_lock (id INTEGER)"));
}

TEST_CASE("verify: a fault that an operator found makes the server not ready until it is gone",
          "[cli]") {
  OpenFile file;
  const auto holds = [&] {
    const auto health = file.app().background().health();
    return std::ranges::find(health.checks, std::string_view("invariants"),
                             &api::Health::Check::name)
        ->ok;
  };
  CHECK(holds());
  store::Connection other(file.path(), store::OpenMode::read_write);
  other.execute("CREATE VIEW planted AS SELECT 1");
  CHECK(file.run("verify").code == exit_code::kFault);
  CHECK_FALSE(holds());
  other.execute("DROP VIEW planted");
  CHECK(file.run("verify").code == 0);
  CHECK(holds());
}

TEST_CASE("backup: a file that appears meanwhile is not touched, and nothing is left beside it",
          "[cli]") {
  OpenFile file;
  const Folder folder;
  const std::string path = folder.file("backup.db");
  const auto made = flows::back_up(file.app().flows(), {path},
                                   [&](auto&&...) { put(path, "of another program"); });
  REQUIRE(made.error().slug == Slug::conflict);
  CHECK(content_of(path) == "of another program");
  CHECK(std::distance(fs::directory_iterator(folder.file("")), {}) == 1);
}

TEST_CASE("backup: the names of files that belong beside the database are rejected", "[cli]") {
  OpenFile file;
  const fs::path folder = fs::path(file.path()).parent_path();
  for (const char* name : {"coffer.db-wal", "coffer.db-shm", "coffer.db-journal", "coffer.db.lock",
                           "coffer.db.sock", "coffer.db.demo.json", "coffer.db.backups",
                           "coffer.requests.db", "coffer.requests.db-wal", "kept.coffer.partial"}) {
    const bool existed = fs::exists(folder / name);
    for (const char* command : {"backup", "export"}) {
      const Ran ran = file.run(command, {{"FILE", (folder / "." / name).string()}}, false);
      INFO(command << " " << name << " " << ran.err);
      CHECK(ran.code == exit_code::kUsage);
      CHECK_THAT(ran.err, Catch::Matchers::Contains("Choose another name"));
      CHECK(fs::exists(folder / name) == existed);
    }
  }
  CHECK(file.run("backup", {{"FILE", (folder / "coffer.db.kept").string()}}).code == 0);
}

TEST_CASE("scheduled backups: a folder or a link with the name of a backup is not removed",
          "[cli]") {
  OpenFile file;
  const Folder folder;
  const std::string kept = folder.file("kept");
  const std::string target = folder.file("target");
  put(target, "of another program");
  fs::create_directories(kept + "/coffer-20240101T000000Z.db");
  fs::create_symlink(target, kept + "/coffer-20240102T000000Z.db");
  put(kept + "/coffer-20240103T000000Z.db", "an old backup");
  flows::run_backup_plan(file.app().flows(), {kept, 3'600'000, 1, 0}, [] { return false; });
  CHECK(fs::is_directory(kept + "/coffer-20240101T000000Z.db"));
  CHECK(fs::is_symlink(kept + "/coffer-20240102T000000Z.db"));
  CHECK(content_of(target) == "of another program");
  CHECK_FALSE(fs::exists(kept + "/coffer-20240103T000000Z.db"));
  CHECK(flows::kept_backups(file.app().flows(), kept).size() == 1);
}

TEST_CASE("backup: a backup that was killed before it got its name can be repeated", "[cli]") {
  OpenFile file;
  for (const std::string lost : {"", ".sha256", ".checkpoint"}) {
    const Folder folder;
    const std::string path = folder.file("backup.db");
    REQUIRE(file.run("backup", {{"FILE", path}}).code == 0);
    fs::rename(path, path + ".coffer.partial");
    if (!lost.empty()) fs::rename(path + lost, path + lost + ".coffer.partial");
    const Ran ran = file.run("backup", {{"FILE", path}});
    INFO(lost << " " << ran.err);
    CHECK(ran.code == 0);
    CHECK(run_own("verify", {{"FILE", path}}, {}, false).code == 0);
    CHECK(std::distance(fs::directory_iterator(folder.file("")), {}) == 3);
    // Beside a partial file, the checksum of another file is not removed.
    fs::rename(path, path + ".coffer.partial");
    put(path + ".sha256", "of another backup");
    CHECK(file.run("backup", {{"FILE", path}}).code == exit_code::kCannotCreate);
    CHECK(content_of(path + ".sha256") == "of another backup");
  }
}

TEST_CASE("scheduled backups: what a killed one left is removed", "[cli]") {
  OpenFile file;
  const Folder folder;
  const std::string killed = folder.file("coffer-20240101T000000Z.db");
  REQUIRE(file.run("backup", {{"FILE", killed}}).code == 0);
  fs::rename(killed, killed + ".coffer.partial");
  flows::run_backup_plan(file.app().flows(), {folder.file(""), 3'600'000, 1, 0},
                         [] { return false; });
  for (const auto& entry : fs::directory_iterator(folder.file(""))) {
    CHECK(entry.path().string().find("20240101") == std::string::npos);
  }
}

TEST_CASE("a damaged master key is an error of the configuration for every command", "[cli]") {
  OpenFile file;
  const Folder folder;
  const std::string backup = folder.file("backup.db");
  const std::string key = folder.file("key");
  REQUIRE(file.run("backup", {{"FILE", backup}}).code == 0);
  put(key, "damaged\n");
  fs::permissions(key, fs::perms::owner_read | fs::perms::owner_write);
  const auto code = [&](const std::string& command, const Values& values) {
    const Ran ran =
        run_own(command, values, {{"db", folder.file("new.db")}, {"master_key_file", key}}, false);
    CHECK_THAT(ran.err, Catch::Matchers::Contains(key));
    return ran.code;
  };
  CHECK(code("init", {}) == exit_code::kConfiguration);
  CHECK(code("restore", {{"BACKUP", backup}}) == exit_code::kConfiguration);
  CHECK(code("verify", {{"FILE", backup}}) == exit_code::kConfiguration);
}

TEST_CASE("backup, export and restore: an existing file cannot be created", "[cli]") {
  OpenFile file;
  const Folder folder;
  const std::string backup = folder.file("backup.db");
  REQUIRE(file.run("backup", {{"FILE", backup}}).code == 0);
  for (const char* command : {"backup", "export"}) {
    const Ran ran = file.run(command, {{"FILE", backup}});
    INFO(command << " " << ran.err);
    CHECK(ran.code == exit_code::kCannotCreate);
  }
  const std::string there = folder.file("there.db");
  put(there, "of another program");
  CHECK(run_own("restore", {{"BACKUP", backup}}, {{"db", there}}).code == exit_code::kCannotCreate);
  const Ran reserved =
      run_own("restore", {{"BACKUP", backup}}, {{"db", folder.file("b.coffer.partial")}}, false);
  CHECK(reserved.code == exit_code::kUsage);
  CHECK_THAT(reserved.err,
             Catch::Matchers::Contains("--db") && Catch::Matchers::Contains("choose another name"));
  fs::rename(there, folder.file("new.db-wal"));
  CHECK(run_own("restore", {{"BACKUP", backup}}, {{"db", folder.file("new.db")}}).code ==
        exit_code::kCannotCreate);
}

TEST_CASE("backup: a name that leaves no room for the temporary ending is named as given",
          "[cli]") {
  OpenFile file;
  const Folder folder;
  const std::string path = folder.file(std::string(250, 'n'));
  const Ran ran = file.run("backup", {{"FILE", path}}, false);
  CHECK(ran.code == exit_code::kFailed);
  CHECK_THAT(ran.err, Catch::Matchers::Contains(path + ":") &&
                          Catch::Matchers::Contains("Choose a shorter name"));
}

TEST_CASE("restore: a rejected backup leaves no folder", "[cli]") {
  OpenFile file;
  const Folder outside;
  const std::string backup = outside.file("backup.db");
  REQUIRE(file.run("backup", {{"FILE", backup}}).code == 0);
  put(backup + ".sha256", "of another file");
  const Ran ran = rejected_without_files("restore", {{"BACKUP", backup}}, {});
  CHECK(ran.code == exit_code::kFault);
}

TEST_CASE("restore: a file of another program next to the target is not touched", "[cli]") {
  OpenFile file;
  const Folder folder;
  const std::string target = folder.file("new.db");
  const std::string backup = folder.file("backup.db");
  REQUIRE(file.run("backup", {{"FILE", backup}}).code == 0);
  put(target + ".partial", "of a download");
  const Ran done = run_own("restore", {{"BACKUP", backup}}, {{"db", target}}, false);
  INFO(done.err);
  CHECK(done.code == 0);
  CHECK(run_own("verify", {{"FILE", target}}, {}, false).code == 0);
  CHECK(content_of(target + ".partial") == "of a download");
}

}  // namespace left_files_test
