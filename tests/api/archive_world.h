// A server with an archive, whose files tests damage and restore.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>

#include "app/archiving.h"
#include "base/digest.h"
#include "base/thread.h"
#include "flows/operations/archive.h"
#include "flows/operations/backups.h"
#include "flows/operations/file_keys.h"
#include "flows/operations/restore.h"
#include "store/archive/folder_store.h"
#include "store/archive/segments.h"
#include "store/replication/replica.h"
#include "store/replication/spool_log.h"
#include "support/receiver.h"
#include "support/test_app.h"
#include "unit/store/replication/replicated_files.h"

namespace coffer::test::archive_test {

namespace fs = std::filesystem;
using Conditions = std::vector<AlertCondition>;

/// The pages of a file; a restored one is not in WAL mode.
inline std::vector<std::string> pages(const std::string& path) {
  auto out = store::test::pages_of(path);
  out.at(0).replace(18, 2, 2, '\0');
  out.at(0).replace(40, 4, 4, '\0');  // the cookie of the schema, as in every backup
  return out;
}

inline std::int64_t payments(const std::string& path, Timestamp after = {}) {
  store::Connection db(path, store::OpenMode::read_only);
  store::Query query(db, "SELECT count(*) FROM payments WHERE created_at > ?", after);
  return query.step() ? query.integer(0) : -1;
}

struct World {
  explicit World(const std::function<void(Config&)>& change = {})
      : app([&](Config& config) {
          fs::create_directory(place.path() + "/archive");
          config.archive = "file://" + place.path() + "/archive";
          if (change) change(config);
        }) {}

  store::test::TemporaryFolder place;
  TestApp app;
  int restores = 0;

  Archiving& archiving() { return app.core().background().archiving(); }
  void write() {
    const auto done = archiving().write(true);
    INFO((done ? "" : done.error().detail));
    REQUIRE(done);
  }
  /// All due tasks.
  void keep() {
    for (;;) {
      const auto done = archiving().keep();
      INFO((done ? "" : done.error().detail));
      REQUIRE(done);
      if (!*done) return;
    }
  }
  void begin() {
    write();
    keep();
  }
  /// Begins the archive with a payment. Returns the time after it; a second has passed since.
  Timestamp begin_with_payment() {
    begin();
    pay();
    write();
    const Timestamp out = app.clock.now();
    app.clock.advance_ms(1'000);
    return out;
  }
  std::unique_ptr<store::Archive> archive() {
    return app.core().background().archiving().open().value();
  }
  std::size_t snapshots() { return store::list_snapshots(*archive())->size(); }

  std::string pay() {
    const Client me(app, app.me().credentials());  // with a new token
    if (from.empty()) {
      from = me.wallet("USDC", "1000");
      to = me.wallet("USDC");
    }
    const std::string id = me.transfer(from, to, "1");
    app.settle();
    return id;
  }
  std::string from;
  std::string to;

  std::string target() const { return place.file("restored-" + std::to_string(restores) + ".db"); }
  /// To target(), as the file of the ledger it is from, which is not changed.
  Result<flows::Restored> restore(std::optional<Timestamp> at = {}, bool alone = false,
                                  std::optional<Timestamp> snapshot_before = {}) {
    ++restores;
    flows::FileChecks checks;
    checks.key = std::make_unique<flows::KeyCandidate>(
        configured_key(app.config(), app.random, auth::MissingKey::refuse).value());
    const flows::ArchiveRestore wanted{at, snapshot_before, !alone};
    return flows::restore_archive(
        *archive(), wanted, target(), [](auto&&...) {}, checks);
  }
  void restored(std::optional<Timestamp> at = {}) {
    const auto done = restore(at);
    INFO((done ? "" : done.error().detail));
    REQUIRE(done);
    REQUIRE(done->verdict.violations.empty());
    CHECK(done->verdict.keyed);
  }
  std::string why_not(std::optional<Timestamp> at = {}) {
    const auto done = restore(at);
    CHECK_FALSE(fs::exists(target()));
    CHECK_FALSE(fs::exists(target() + ".coffer.partial"));
    CHECK_FALSE(fs::exists(target() + ".coffer.partial-wal"));
    if (!done) return done.error().detail;
    return done->verdict.violations.empty() ? "restored" : done->verdict.violations[0].detail;
  }
  void check_equal() {
    restored();
    const auto found = pages(target());
    const auto expected = pages(app.config().db);
    CHECK(found.size() == expected.size());
    for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
      INFO("page " << i + 1);
      CHECK(to_hex(found[i]) == to_hex(expected[i]));
    }
  }
  /// The objects whose names contain `part`, in order.
  std::vector<std::string> objects(const std::string& part) const {
    std::vector<std::string> out;
    for (const auto& entry : fs::recursive_directory_iterator(place.path() + "/archive")) {
      const std::string path = entry.path();
      if (entry.is_regular_file() && path.find(part) != std::string::npos) out.push_back(path);
    }
    std::ranges::sort(out);
    return out;
  }
  ConditionFacts facts() {
    ConditionFacts facts;
    facts.clock_synchronised = true;
    app.flows()
        .read([&](store::Connection& db) -> Result<void> {
          archiving().add_facts(db, facts);
          return {};
        })
        .value();
    return facts;
  }
  std::vector<AlertCondition> conditions() {
    std::vector<AlertCondition> out;
    for (const Finding& found : find_conditions(facts(), app.clock.now())) {
      out.push_back(found.condition);
    }
    return out;
  }
  std::string folder() const { return place.path() + "/archive"; }
  /// Restarts the server, and changes the archive in between.
  void restart_after(const std::function<void()>& change) {
    const std::string url = app.config().archive;
    app.restart([](Config& config) { config.archive.clear(); });
    change();
    app.restart([&](Config& config) { config.archive = url; });
  }
  flows::Proof proof() { return app.flows().read(flows::last_proof).value().value(); }
};

inline bool has(const std::string& text, const std::string& part) {
  UNSCOPED_INFO(text);
  return text.find(part) != std::string::npos;
}

inline void flip(const std::string& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto at = static_cast<std::streamoff>(fs::file_size(path) / 2);
  file.seekg(at);
  const char byte = static_cast<char>(file.get() ^ 1);
  file.seekp(at);
  file.put(byte);
}

}  // namespace coffer::test::archive_test
