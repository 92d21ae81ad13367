// Backup, restore, verify of a file, export, and the rotation of the master key, as commands.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <set>

#include "auth/master_key.h"
#include "auth/strkey.h"
#include "base/digest.h"
#include "base/platform/exit_code.h"
#include "base/random.h"
#include "cli/operations/verify.h"
#include "cli/paths.h"
#include "flows/operations/backup_plan.h"
#include "flows/operations/backups.h"
#include "flows/operations/key_rotation.h"
#include "store/operations/copies.h"
#include "support/unguarded.h"
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

namespace backup_commands_test {
namespace {

using Values = std::map<std::string, std::string>;

Ran verify_file(const std::string& path) { return run_own("verify", {{"FILE", path}}); }

void rotate(OpenFile& file) {
  OsRandom random;
  const auto next = auth::MasterKey::generate(random);
  REQUIRE(flows::rotate_master_key(file.app().flows(), next));
  put(file.app().config().master_key_file, next.to_hex().reveal() + "\n");
  file.reopen();
}

/// A file with some data, and its backup.
struct Kept {
  Folder folder;
  OpenFile file;
  std::string backup = folder.file("backup.db");

  Kept() {
    REQUIRE(file.run("association create", {{"NAME", "Acme"}}).code == 0);
    const Ran ran = file.run("backup", {{"FILE", backup}, {"verify", "true"}});
    INFO(ran.err);
    REQUIRE(ran.code == 0);
    made = ran.json();
  }
  nlohmann::json made;
};

}  // namespace

TEST_CASE("backup: a complete file with its checksum, only for its owner, never overwritten",
          "[cli]") {
  Kept kept;
  CHECK(kept.made.at("file") == kept.backup);
  CHECK(kept.made.at("verified") == true);
  CHECK(kept.made.at("bytes") == content_of(kept.backup).size());
  const std::string sum = to_hex(as_text(sha256(content_of(kept.backup))));
  CHECK(kept.made.at("sha256") == sum);
  CHECK(content_of(kept.backup + ".sha256") == sum + "  backup.db\n");
  struct stat status {};
  REQUIRE(::stat(kept.backup.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  CHECK_FALSE(fs::exists(kept.backup + ".coffer.partial"));
  const Ran again = kept.file.run("backup", {{"FILE", kept.backup}});
  CHECK(again.code == exit_code::kCannotCreate);
  CHECK(to_hex(as_text(sha256(content_of(kept.backup)))) == sum);
  const auto last = store::with_reader(kept.file.app().database(), [](store::Connection& db) {
    return Result<store::BackupRecord>(*store::last_backup(db));
  });
  CHECK(last->path == kept.backup);
  CHECK(last->verified);
  CHECK(kept.file.run("audit list").json().at(0).at("command") == "backup");
}

TEST_CASE("backup: an existing checksum or signature is not overwritten, and nothing is copied",
          "[cli]") {
  OpenFile file;
  for (const char* ending : {".sha256", ".checkpoint"}) {
    const Folder folder;
    const std::string path = folder.file("backup.db");
    put(path + ending, "of another backup");
    const auto made = flows::back_up(file.app().flows(), {path},
                                     [](auto&&...) { FAIL("the backup has started"); });
    REQUIRE(made.error().slug == Slug::conflict);
    CHECK(made.error().detail.starts_with(path + ending + " already exists"));
    CHECK(content_of(path + ending) == "of another backup");
    CHECK(std::distance(fs::directory_iterator(folder.file("")), {}) == 1);
  }
}

TEST_CASE("backup: without a name, a folder must be set, and an unusable folder is named",
          "[cli]") {
  OpenFile file;
  const Ran ran = file.run("backup");
  CHECK(ran.code == exit_code::kUsage);
  CHECK(ran.err.find("backup_dir") != std::string::npos);
  CHECK(file.run("backup", {{"FILE", "/nowhere/at/all.db"}}).code == exit_code::kCannotCreate);
  CHECK(file.run("backup", {{"FILE", "-"}}).code == exit_code::kUsage);
  Folder folder;
  put(folder.file("a.db.coffer.partial"), "what a killed backup left");
  CHECK(file.run("backup", {{"FILE", folder.file("a.db")}}).code == 0);
  CHECK(verify_file(folder.file("a.db")).code == 0);
}

TEST_CASE("backup: a backup that would violate the free-space floor leaves no file", "[cli]") {
  OpenFile file;
  const std::string path = file.path() + ".backup";
  const auto made =
      flows::back_up(file.app().flows(), {path, false, UINT64_MAX / 2}, [](auto&&...) {});
  CHECK(made.error().slug == Slug::storage_full);
  CHECK_FALSE(fs::exists(path));
  CHECK_FALSE(fs::exists(path + ".coffer.partial"));
}

TEST_CASE("verify FILE: detects a changed byte, a truncated file and another file", "[cli]") {
  Kept kept;
  const Ran whole = verify_file(kept.backup);
  CHECK(whole.code == 0);
  CHECK(whole.json().at("checksum") == "matches");
  const std::string content = content_of(kept.backup);
  SeededRandom random(3);
  for (int i = 0; i < 40; ++i) {
    const std::string draw = random.bytes(4);
    std::size_t at = 0;
    for (const char c : draw) at = at * 256 + static_cast<unsigned char>(c);
    std::string damaged = content;
    damaged[at % content.size()] = static_cast<char>(damaged[at % content.size()] ^ (1 << (i % 8)));
    put(kept.backup, damaged);
    const Ran ran = verify_file(kept.backup);
    INFO("byte " << at % content.size());
    CHECK(ran.code == exit_code::kFault);
    CHECK(ran.json().at("violations").at(0).at("invariant") == "checksum");
  }
  put(kept.backup, content.substr(0, content.size() / 2));
  CHECK(verify_file(kept.backup).code == exit_code::kFault);
  fs::remove(kept.backup + ".sha256");
  CHECK(verify_file(kept.backup).code == exit_code::kFault);
  put(kept.backup, content);
  CHECK(verify_file(kept.backup).json().at("checksum") == "no checksum file");
  CHECK(verify_file(kept.folder.file("none.db")).code == exit_code::kFailed);
}

TEST_CASE("verify FILE, restore: the log of a killed process is part of the file", "[cli]") {
  OpenFile file;
  file.reopen();  // the file is complete, and later changes are in the log
  REQUIRE(file.run("association create", {{"NAME", "late"}}).code == 0);
  const Folder folder;
  const std::string killed = folder.file("killed.db");
  for (const char* part : {"", "-wal", "-shm", ".lock"}) {
    fs::copy_file(file.path() + part, killed + part);
  }
  CHECK(verify_file(killed).code == 0);
  fs::remove(killed + "-wal");
  const Ran ran = verify_file(killed);
  CHECK(ran.code == exit_code::kFault);
  CHECK(ran.json().at("violations").at(0).at("invariant") == "log");
  const std::string target = folder.file("restored.db");
  CHECK(run_own("restore", {{"BACKUP", killed}}, {{"db", target}}).code == exit_code::kFault);
  CHECK_FALSE(fs::exists(target));
  // Another program that applies the log removes both.
  fs::remove(killed + "-shm");
  const Ran doubtful = verify_file(killed);
  CHECK(doubtful.code == 0);
  CHECK_THAT(doubtful.json().at("warning").get<std::string>(),
             Catch::Matchers::Contains("is gone"));
}

TEST_CASE("restore: creates the database, and never overwrites or mixes files", "[cli]") {
  Kept kept;
  const std::string target = kept.folder.file("new/coffer.db");
  const auto restore = [&](const std::string& to) {
    return run_own("restore", {{"BACKUP", kept.backup}}, {{"db", to}});
  };
  const Ran done = restore(target);
  INFO(done.err);
  REQUIRE(done.code == 0);
  CHECK(done.json().at("verified") == true);
  CHECK(done.json().at("masterKeyFits") == false);  // there is no checksum file
  CHECK(verify_file(target).code == 0);
  CHECK(restore(target).code == exit_code::kCannotCreate);
  CHECK(restore(kept.file.path()).code == exit_code::kCannotCreate);

  const std::string other = kept.folder.file("other.db");
  put(other + "-wal", "payments of a file that was moved away");
  CHECK(restore(other).code == exit_code::kCannotCreate);
  CHECK(content_of(other + "-wal") == "payments of a file that was moved away");
  fs::remove(other + "-wal");

  const std::string content = content_of(kept.backup);
  put(kept.backup, content.substr(0, content.size() - 4096));
  CHECK(restore(other).code == exit_code::kFault);
  fs::remove(kept.backup + ".sha256");
  CHECK(restore(other).code == exit_code::kFault);
  CHECK_FALSE(fs::exists(other));
  CHECK_FALSE(fs::exists(other + ".coffer.partial"));
  CHECK_FALSE(fs::exists(other + ".lock"));
  put(kept.backup, content);
  store::Connection(kept.backup, store::OpenMode::read_write).execute("PRAGMA user_version = 9999");
  const Ran newer = restore(other);
  CHECK(newer.code == exit_code::kCannotCreate);
  CHECK(newer.err.find("newer") != std::string::npos);
  CHECK_FALSE(fs::exists(other));
}

TEST_CASE("restore: says where it looked for the master key, and where the backup's key is",
          "[cli]") {
  Kept kept;
  const std::string key = kept.file.app().config().master_key_file;
  const std::string beside = kept.folder.file("master.key");
  int count = 0;
  const auto restore = [&](const std::string& option = "") {
    Values values{{"BACKUP", kept.backup}};
    if (!option.empty()) values.emplace(option, "true");
    const std::string folder = kept.folder.file("new" + std::to_string(++count));
    if (fs::exists(kept.folder.file("other.key"))) {
      fs::create_directory(folder);
      fs::copy(kept.folder.file("other.key"), folder + "/master.key");
    }
    return run_own("restore", values, {{"db", folder + "/coffer.db"}}, false);
  };
  const auto says = [](const Ran& ran, const std::string& text) {
    INFO(ran.err);
    return ran.err.find(text) != std::string::npos;
  };
  const std::string found = "The key of this backup is in " + beside + ".";
  const Ran none = restore();
  CHECK(none.code == exit_code::kDone);
  CHECK(says(none, "was not found in " + kept.folder.file("new1/master.key")));
  CHECK(says(none, "provide the key of the backup in " + kept.folder.file("new1/master.key")));
  CHECK_FALSE(says(none, found));
  fs::copy(key, beside);
  CHECK(says(restore(), found));
  OsRandom random;
  put(kept.folder.file("other.key"), auth::MasterKey::generate(random).to_hex().reveal() + "\n");
  fs::permissions(kept.folder.file("other.key"), fs::perms::owner_read);
  const Ran rejected = restore();
  CHECK(rejected.code == exit_code::kPermission);
  CHECK(says(rejected, "the master key in " + kept.folder.file("new3/master.key")));
  CHECK(says(rejected, found));
  const Ran foreign = restore("foreign");
  CHECK(foreign.code == exit_code::kDone);
  CHECK(says(foreign, kept.folder.file("new4/master.key") + " is not the key of this backup"));
  CHECK(says(foreign, found));
}

TEST_CASE("restore: a master key that is named or present must be usable", "[cli]") {
  Kept kept;
  const std::string folder = kept.folder.file("new");
  fs::create_directory(folder);
  ConfigFlags flags{{"db", folder + "/coffer.db"}, {"master_key_file", folder + "/nokey"}};
  const auto restore = [&] { return run_own("restore", {{"BACKUP", kept.backup}}, flags, false); };
  CHECK(restore().err.find(folder + "/nokey") != std::string::npos);
  CHECK_FALSE(fs::exists(folder + "/coffer.db"));
  flags.erase("master_key_file");
  put(folder + "/master.key", "short");
  fs::permissions(folder + "/master.key", fs::perms::owner_read);
  CHECK(restore().code != exit_code::kDone);
  CHECK_FALSE(fs::exists(folder + "/coffer.db"));
  flags["master_key_file"] = kept.file.app().config().master_key_file;
  CHECK(restore().err.ends_with("coffer serve --db " + flags["db"] + " --master-key-file " +
                                flags["master_key_file"] + "\n"));
}

TEST_CASE("restore: a database in use is not accepted as a backup", "[cli]") {
  Kept kept;
  const Ran ran =
      run_own("restore", {{"BACKUP", kept.file.path()}}, {{"db", kept.folder.file("x.db")}});
  CHECK(ran.code == exit_code::kCannotCreate);
  CHECK(ran.err.find("coffer backup") != std::string::npos);
}

TEST_CASE("restore: shows the signer of a backup, and rejects one of another master key", "[cli]") {
  Kept kept;
  OpenFile other;
  const std::string another = kept.folder.file("another.db");
  rotate(other);
  REQUIRE(other.run("backup", {{"FILE", another}}).code == 0);
  int count = 0;
  const auto restore = [&](const std::string& backup, const std::string& accepted = "") {
    std::map<std::string, std::string> values{{"BACKUP", backup}};
    if (!accepted.empty()) values.emplace(accepted, "true");
    return run_own("restore", values,
                   {{"db", kept.folder.file("new" + std::to_string(++count) + ".db")},
                    {"master_key_file", kept.file.app().config().master_key_file}});
  };
  const Ran own = restore(kept.backup);
  INFO(own.err);
  REQUIRE(own.code == 0);
  CHECK(own.json().at("checked") == "all invariants hold");
  CHECK(own.json().at("checkpoint") == false);
  CHECK(own.json().at("signedBy").get<std::string>().ends_with("(this master key)"));
  const Ran rejected = restore(another);
  CHECK(rejected.code == exit_code::kPermission);
  CHECK(rejected.err.find("--foreign") != std::string::npos);
  const Ran accepted = restore(another, "foreign");
  CHECK(accepted.code == 0);
  CHECK(accepted.json().at("checked").get<std::string>().starts_with("the structure is intact"));

  // Signed with this key, but for another backup; then with another key.
  const std::string signature = content_of(kept.backup + ".checkpoint");
  REQUIRE(kept.file.run("backup", {{"FILE", kept.folder.file("second.db")}}).code == 0);
  put(kept.backup + ".checkpoint", content_of(kept.folder.file("second.db.checkpoint")));
  const Ran swapped = restore(kept.backup);
  CHECK(swapped.code == exit_code::kFault);
  CHECK(swapped.out.find("signature") != std::string::npos);
  std::string forged = signature;
  forged[forged.size() - 5] = forged[forged.size() - 5] == 'A' ? 'B' : 'A';
  put(kept.backup + ".checkpoint", forged);
  CHECK(restore(kept.backup).code == exit_code::kFault);
  fs::remove(kept.backup + ".checkpoint");
  const Ran without = restore(kept.backup);
  CHECK(without.code == exit_code::kPermission);
  CHECK(without.err.find("--unsigned") != std::string::npos);
  CHECK(restore(kept.backup, "foreign").code == exit_code::kPermission);
  const Ran unsigned_one = restore(kept.backup, "unsigned");
  CHECK(unsigned_one.code == 0);
  CHECK(unsigned_one.json().at("signedBy") == "not signed");
}

TEST_CASE("restore: a backup that was changed together with its checksum is rejected", "[cli]") {
  Kept kept;
  {
    store::Connection db(kept.backup, store::OpenMode::read_write);
    coffer::test::change_unguarded(db, "UPDATE associations SET name = 'Other'");
  }
  put(kept.backup + ".sha256", to_hex(as_text(sha256(content_of(kept.backup)))) + "  backup.db\n");
  const Ran ran = run_own("restore", {{"BACKUP", kept.backup}}, {{"db", kept.folder.file("n.db")}});
  CHECK(ran.code == exit_code::kFault);
  CHECK(ran.out.find("signature") != std::string::npos);
  fs::remove(kept.backup + ".checkpoint");
  const Ran keyed = run_own("restore", {{"BACKUP", kept.backup}},
                            {{"db", kept.folder.file("n.db")},
                             {"master_key_file", kept.file.app().config().master_key_file}});
  CHECK(keyed.code == exit_code::kFault);
  CHECK(keyed.out.find("guarded_rows") != std::string::npos);
}

TEST_CASE("checkpoint: verify and restore reject a file that is older than it", "[cli]") {
  Kept kept;
  const std::string points = kept.folder.file("points");
  const auto keep_point = [&](OpenFile& file) {
    const Ran made = file.run("checkpoint");
    REQUIRE(made.code == 0);
    put(points, "a log line\n2026 checkpoint line=\"" +
                    made.json().at("checkpoint").get<std::string>() + "\"\nanother line\n");
  };
  const auto restore = [&](const std::string& name, const std::string& checkpoint) {
    return run_own("restore", {{"BACKUP", kept.backup}, {"checkpoint", checkpoint}},
                   {{"db", kept.folder.file(name)},
                    {"master_key_file", kept.file.app().config().master_key_file}});
  };
  const Ran same = restore("same.db", kept.backup + ".checkpoint");
  INFO(same.err);
  CHECK(same.code == 0);
  CHECK(same.json().at("checkpoint") == true);
  REQUIRE(kept.file.run("association create", {{"NAME", "Later"}}).code == 0);
  keep_point(kept.file);
  const Ran behind = restore("behind.db", points);
  CHECK(behind.code == exit_code::kFault);
  CHECK(behind.out.find("at the checkpoint, the audit log had") != std::string::npos);
  CHECK_FALSE(fs::exists(kept.folder.file("behind.db")));
  // The same result without a master key.
  const Ran keyless = run_own("restore", {{"BACKUP", kept.backup}, {"checkpoint", points}},
                              {{"db", kept.folder.file("keyless.db")}});
  CHECK(keyless.code == exit_code::kFault);

  // Every checkpoint counts, even if a later one matches.
  const std::string list = kept.folder.file("list");
  put(list, content_of(points) + content_of(kept.backup + ".checkpoint"));
  CHECK(restore("listed.db", list).code == exit_code::kFault);

  const Ran whole = kept.file.run("verify", {{"checkpoint", points}});
  CHECK(whole.code == 0);
  CHECK(whole.json().at("checkpoint") == true);
  CHECK(kept.file.run("verify").json().at("checkpoint") == false);
  // A list that cannot be read says nothing about the file.
  const Ran missing = kept.file.run("verify", {{"checkpoint", points + ".missing"}});
  CHECK(missing.code != 0);
  CHECK(missing.out.empty());
  // A checkpoint of another file.
  const auto pair = auth::generate_key_pair(*std::make_unique<OsRandom>());
  const std::string zeros(64, '0');
  const std::string text =
      "coffer-checkpoint-1 " + pair.public_key.to_string() + " 1 0 " + zeros + " 0 " + zeros + " -";
  const auto signature = auth::SigningKey::from_seed(pair.seed_text)->sign(text);
  put(points, text + " " + to_base64url(as_text(signature)) + "\n");
  const Ran foreign = kept.file.run("verify", {{"checkpoint", points}});
  CHECK(foreign.code == exit_code::kFault);
  CHECK(foreign.out.find("the checkpoint belongs to the file G") != std::string::npos);
  put(points, "nothing\n");
  CHECK(restore("none.db", points).code == exit_code::kUsage);
}

TEST_CASE("checkpoint: the rotation of the master key keeps chains and signatures valid", "[cli]") {
  Kept kept;
  const Ran before = kept.file.run("checkpoint");
  const std::string points = kept.folder.file("points");
  put(points, before.json().at("checkpoint").get<std::string>() + "\n");
  rotate(kept.file);
  CHECK(kept.file.run("verify", {{"checkpoint", points}}).code == 0);
  REQUIRE(kept.file.run("association create", {{"NAME", "Later"}}).code == 0);
  CHECK(kept.file.run("verify", {{"checkpoint", points}}).code == 0);
}

TEST_CASE("scheduled backups: made when the last one is old enough; the latest are kept", "[cli]") {
  Kept kept;
  const auto& flows = kept.file.app().flows();
  const flows::BackupPlan plan{kept.folder.file("kept"), 3'600'000, 2, 0};
  const auto names = [&] {
    std::set<std::string> out;
    for (const auto& at : fs::directory_iterator(plan.folder))
      out.insert(at.path().filename().string());
    return out;
  };
  const auto run = [&] { return flows::run_backup_plan(flows, plan, [] { return false; }); };
  CHECK(run() == 3'600'000);
  CHECK(names() == std::set<std::string>{"coffer-20260101T000000Z.db",
                                         "coffer-20260101T000000Z.db.checkpoint",
                                         "coffer-20260101T000000Z.db.sha256"});
  kept.file.clock().advance_ms(3'599'000);
  CHECK(run() == 1'000);
  CHECK(names().size() == 3);
  put(plan.folder + "/coffer-20260101T003000Z.db.coffer.partial", "killed");
  put(plan.folder + "/coffer-of-another-user.db", "mine");
  put(plan.folder + "/coffer-20990101T000000Z.db", "mine");  // or the clock was set back
  kept.file.clock().advance_ms(1'000);
  run();
  kept.file.clock().advance_ms(3'600'000);
  run();
  CHECK(names() == std::set<std::string>{
                       "coffer-20260101T010000Z.db", "coffer-20260101T010000Z.db.checkpoint",
                       "coffer-20260101T010000Z.db.sha256", "coffer-20260101T020000Z.db",
                       "coffer-20260101T020000Z.db.checkpoint", "coffer-20260101T020000Z.db.sha256",
                       "coffer-20990101T000000Z.db", "coffer-of-another-user.db"});
  CHECK(verify_file(plan.folder + "/coffer-20260101T020000Z.db").code == 0);
}

TEST_CASE("scheduled backups: a failure is recorded until one is taken", "[cli]") {
  Kept kept;
  const auto& flows = kept.file.app().flows();
  put(kept.folder.file("taken"), "no folder");
  const auto failure = [&] {
    return *store::with_reader(kept.file.app().database(), [](store::Connection& db) {
      return Result<std::optional<store::BackupFailure>>(store::backup_failure(db));
    });
  };
  flows::run_backup_plan(flows, {kept.folder.file("taken/here"), 3'600'000, 2, 0},
                         [] { return false; });
  REQUIRE((failure() && !failure()->reason.empty()));
  flows::run_backup_plan(flows, {kept.folder.file("kept"), 3'600'000, 2, 0}, [] { return false; });
  CHECK_FALSE(failure());
}

TEST_CASE("export: every line is an object with its type, without secrets", "[cli]") {
  Kept kept;
  const Ran ran = kept.file.run("export", {{"FILE", "-"}}, false);
  REQUIRE(ran.code == 0);
  std::istringstream lines(ran.out);
  std::set<std::string> types;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) types.insert(nlohmann::json::parse(line).at("type").get<std::string>());
  }
  CHECK(types == std::set<std::string>{"association", "auditEntry"});
  const std::string path = kept.folder.file("all.ndjson");
  REQUIRE(kept.file.run("export", {{"FILE", path}}).code == 0);
  CHECK(content_of(path).find("\"type\":\"association\"") != std::string::npos);
  CHECK(kept.file.run("export", {{"FILE", path}}).code == exit_code::kCannotCreate);
}

}  // namespace backup_commands_test
