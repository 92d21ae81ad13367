#include "app/opening.h"

#include <filesystem>

#include "base/check.h"
#include "base/files/folders.h"
#include "base/platform/exit_code.h"
#include "base/platform/lease.h"
#include "base/readable.h"
#include "flows/operations/archive_store.h"
#include "http/client.h"
#include "outbound/wire/resolver.h"
#include "store/file/foreign_file.h"
#include "store/ledger/catalog.h"
#include "store/replication/follower.h"
#include "store/schema.h"

namespace coffer {
namespace {

int exit_code_of(store::OpenFault fault) {
  switch (fault) {
    case store::OpenFault::none:
      return exit_code::kDone;
    case store::OpenFault::cannot_create:
      return exit_code::kCannotCreate;
    case store::OpenFault::permission:
      return exit_code::kPermission;
    case store::OpenFault::full_disk:
    case store::OpenFault::locked:
      return exit_code::kBusy;
    case store::OpenFault::corrupt:
      return exit_code::kCorrupt;
    case store::OpenFault::missing:
    case store::OpenFault::newer_schema:
    case store::OpenFault::unsupported:
      return exit_code::kConfiguration;
  }
  throw InternalError("unknown open fault");
}

int exit_code_of(const Problem& problem) {
  if (problem.slug == Slug::forbidden) return exit_code::kPermission;
  if (problem.slug == Slug::storage_full) return exit_code::kBusy;
  return problem.slug == Slug::unexpected_error ? exit_code::kCannotCreate
                                                : exit_code::kConfiguration;
}

constexpr int kResolveMs = 5'000;
constexpr std::string_view kLogLabel = "coffer replicated log v1";
constexpr std::string_view kArchiveLabel = "coffer archive v1";

/// The tables of a new database and the log of their creation fit into this.
constexpr std::uint64_t kNewDatabaseBytes = std::uint64_t{1} << 20;

/// `storage-full` if the queue would reject every write, or if the disk would become full after the
/// master key was created, which would remain with its folder.
Result<void> check_free_space(const Config& config) {
  std::string folder = directory_of(config.db);
  std::optional<std::uint64_t> free;
  while (!(free = free_disk_bytes(folder)) && folder != directory_of(folder)) {
    folder = directory_of(folder);  // it is created with the database
  }
  if (!free) return {};
  const std::string has = "the disk of " + folder + " has " +
                          readable_bytes(static_cast<std::int64_t>(*free)) + " of free space, ";
  if (*free < kNewDatabaseBytes) {
    return unexpected(Slug::storage_full, "not enough disk space: " + has +
                                              "and a new database needs 1 MiB. Free disk space, or "
                                              "choose another disk with --db");
  }
  if ((*free >> 20) >= static_cast<std::uint64_t>(config.disk_floor_mib)) return {};
  return unexpected(Slug::storage_full,
                    has + "less than disk_floor_mib (" + std::to_string(config.disk_floor_mib) +
                        " MiB), so the database was not created. Free disk space, choose another "
                        "disk with --db, or lower disk_floor_mib");
}

Result<std::optional<std::string>> stored_key_check(store::Database& database) {
  return store::with_reader(
      database, [](store::Connection& db) { return store::read_meta(db, store::kKeyCheck); });
}

/// The configured key, which must be the one whose check value is `stored` in the file.
Result<auth::MasterKey> matching_key(const Config& config, Random& random,
                                     const std::optional<std::string>& stored) {
  auto key =
      configured_key(config, random, stored ? auth::MissingKey::refuse : auth::MissingKey::create);
  if (!key || !stored || *stored == key->fingerprint()) return key;
  return unexpected(Slug::validation_failed,
                    "the master key is not the key of " + config.db +
                        ". Set COFFER_MASTER_KEY_FILE to the file with the correct key");
}

}  // namespace

StartError start_error(const Problem& problem) {
  return {problem.exit_code.value_or(exit_code_of(problem)), problem.detail};
}

Problem open_problem(const store::OpenError& fault) {
  return Problem(Slug::unexpected_error, fault.message).exits_with(exit_code_of(fault.fault));
}

Problem unreadable(const std::string& database, const store::SqlError& fault) {
  if (store::is_full_disk(fault)) {
    auto full = full_disk_problem("cannot open " + database);
    full.detail += " with --db";
    return full;
  }
  return Problem(Slug::unexpected_error,
                 database + " cannot be read (" + fault.what() +
                     "). Keep a copy of the file, and restore a backup. Never edit the file.")
      .exits_with(exit_code::kCorrupt);
}

Result<auth::MasterKey> configured_key(const Config& config, Random& random,
                                       auth::MissingKey missing) {
  auto key = auth::find_master_key(config.master_key, "COFFER_MASTER_KEY", config.master_key_file,
                                   random, missing);
  if (key) return key;
  const int code = exit_code_of(key.error());
  return unexpected(std::move(key).error().exits_with(code));
}

Result<void> check_new_file(const Config& config, Random& random) {
  if (store::holds_tables(config.db)) return {};
  std::error_code ignored;
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(config.db, ignored)) &&
      !std::filesystem::exists(config.db, ignored)) {
    return unexpected(Slug::unexpected_error,
                      config.db +
                          " is a symbolic link to a file that does not exist. Create that "
                          "database first, or remove the link");
  }
  COFFER_TRY_VOID(check_free_space(config));
  const auto key = configured_key(config, random, auth::MissingKey::refuse);
  if (key || key.error().slug == Slug::not_found) return {};
  return unexpected(key.error());
}

Result<auth::MasterKey> open_master_key(const Config& config, Random& random,
                                        store::Database& database, store::CommitQueue& queue) {
  COFFER_TRY(const auto stored, stored_key_check(database));
  auto key = matching_key(config, random, stored);
  if (key && !stored) {
    COFFER_TRY_VOID(queue.run([&](store::WriteTx& tx) -> Result<void> {
      store::write_meta(tx, store::kKeyCheck, key->fingerprint());
      return {};
    }));
  }
  return key;
}

OpenArchive archive_at(const std::string& url, const Config& config, const auth::MasterKey& key,
                       Random& random) {
  return [settings = archive_settings(config, url), log = key.derive(kLogLabel),
          root = key.derive(kArchiveLabel),
          &random](outbound::ArchiveLink& link) -> Result<std::unique_ptr<store::Archive>> {
    COFFER_TRY(auto objects, flows::open_object_store(settings, link.wire()));
    return std::make_unique<store::Archive>(std::move(objects), log, root, random);
  };
}

Result<std::unique_ptr<store::Replica>> open_log_alone(const Config& config, Random& random,
                                                       auth::MissingKey missing) {
  COFFER_TRY(const auto key, configured_key(config, random, missing));
  return store::Replica::alone(key.derive(kLogLabel), random);
}

Result<std::unique_ptr<store::Replica>> open_replica(const Config& config, Random& random) {
  if (config.replicate.empty()) return {nullptr};
  COFFER_TRY(const auto key, configured_key(config, random, auth::MissingKey::refuse));
  const auto bundle = http::find_ca_bundle(config.ca_bundle);
  store::LogPlace place{
      config.replicate, config.replicate_password, bundle ? *bundle : "", config.replicate_unsafe,
      [](const std::string& host) { return outbound::CaresResolver().resolve(host, kResolveMs); }};
  COFFER_TRY(auto out, store::Replica::open(std::move(place), key.derive(kLogLabel),
                                            config.listen_http.to_string(), random));
  const std::int64_t end_ms = boot_ms() + out->replication().patience_ms * 2;
  out->replication().follow = [end_ms](const store::Following&) {
    return boot_ms() < end_ms ? store::FollowNext::follow : store::FollowNext::stop;
  };
  return out;
}

Result<void> check_seed(const Config& config, const std::string& backup, Random& random) {
  if (config.replicate.empty()) {
    return unexpected(Slug::validation_failed,
                      "Set replicate, as the server on this machine has it.");
  }
  const auto marks = store::read_file_marks(backup);
  if (marks && marks->schema_version < store::schema_version()) {
    // An upgrade that is not in the log would make the file differ from those of other machines.
    return unexpected(Slug::conflict, backup +
                                          " was written by an older version of coffer. Make a "
                                          "backup of a leader that has this version.");
  }
  COFFER_TRY(const auto replica, open_replica(config, random));
  const store::Replication& with = replica->replication();
  return store::check_seed(backup, with.log, with.keys);
}

Result<void> check_open(const Config& config) {
  const store::OpenError fault =
      store::why_not_opened({.path = config.db,
                             .link = config.db_link,
                             .allow_network_filesystem = config.allow_network_filesystem});
  if (fault.fault != store::OpenFault::none) return unexpected(open_problem(fault));
  OsRandom random;
  COFFER_TRY_VOID(check_new_file(config, random));
  const auto marks =
      store::holds_tables(config.db) ? store::read_file_marks(config.db) : std::nullopt;
  if (marks && marks->key_check) COFFER_TRY_VOID(matching_key(config, random, marks->key_check));
  return {};
}

}  // namespace coffer
