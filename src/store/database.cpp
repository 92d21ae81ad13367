#include "store/database.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/fault.h"
#include "base/files/folders.h"
#include "base/files/side_files.h"
#include "base/telemetry/log.h"
#include "base/text/shell_word.h"
#include "store/file/foreign_file.h"
#include "store/parties/beneficiaries.h"
#include "store/replication/file_position.h"
#include "store/replication/joining.h"
#include "store/schema.h"
#include "store/schema_check.h"

namespace coffer::store {
namespace {

namespace fs = std::filesystem;

// SQLite 3.7.0 to 3.51.2 can corrupt a WAL database (the WAL-reset bug). 3.44.6 and 3.50.7 contain
// the fix; 3.52.0 was withdrawn.
bool sqlite_is_sound() {
  const int version = sqlite_version_number();
  return (version >= 3051003 && version != 3052000) || version == 3044006 || version == 3050007;
}

OpenError full_disk(const std::string& what) {
  return {OpenFault::full_disk, full_disk_problem(what).detail + " with --db."};
}

OpenError errno_fault(const std::string& what, int error) {
  if (coffer::is_full_disk(error)) return full_disk(what);
  if (error == ELOOP) {
    return {OpenFault::cannot_create, what + ": it is a symbolic link. Remove the link."};
  }
  const bool denied = error == EACCES || error == EPERM || error == EROFS;
  return {
      denied ? OpenFault::permission : OpenFault::cannot_create,
      what + ": " + std::strerror(error) +
          (denied ? ". Run as the user that owns it, or choose another place with --db." : ".")};
}

OpenError not_found(const std::string& path) {
  return {OpenFault::missing, "database not found: " + path +
                                  ". Create one with coffer init, or choose another file with "
                                  "--db"};
}

OpenError make_directory(const std::string& directory) {
  std::error_code error;
  if (fs::exists(directory, error)) return {};
  if (error) return errno_fault("cannot access the directory " + directory, error.value());
  const mode_t old = ::umask(0077);
  fs::create_directories(directory, error);
  ::umask(old);
  if (error) return errno_fault("cannot create the directory " + directory, error.value());
  return {};
}

/// The meaning of an SQLite code while opening the file; `%` is replaced with its path.
struct CodeMeaning {
  int code;
  OpenFault fault;
  std::string_view message;
};
constexpr std::array<CodeMeaning, 6> kMeanings{{
    {SQLITE_NOTADB, OpenFault::corrupt,
     "% is not a coffer file. Choose another one with --db, or restore it from a backup."},
    {SQLITE_CORRUPT, OpenFault::corrupt, "% is damaged. Restore it from a backup; never edit it."},
    {SQLITE_PERM, OpenFault::permission, "no permission for %. Run as the user that owns it."},
    {SQLITE_READONLY, OpenFault::permission,
     "no permission to write %. Run as the user that owns it."},
    {SQLITE_AUTH, OpenFault::permission, "no permission for %. Run as the user that owns it."},
    {SQLITE_BUSY, OpenFault::locked, "% is locked by another program. Stop that program first."},
}};

OpenError sql_fault(const std::string& path, const SqlError& error) {
  if (is_full_disk(error)) return full_disk("cannot open " + path);
  for (const CodeMeaning& meaning : kMeanings) {
    if (meaning.code != error.primary_code) continue;
    std::string message(meaning.message);
    message.replace(message.find('%'), 1, path);
    return {meaning.fault, message};
  }
  // If the file belongs to another user, for example after a command run as root, SQLite only
  // reports that it cannot open the file.
  for (const char* ending : {"", kLogEnding, kLogIndexEnding}) {
    const std::string file = path + ending;
    if (::access(file.c_str(), R_OK | W_OK) != 0 && errno == EACCES) {
      return errno_fault("cannot open " + file, errno);
    }
  }
  return {OpenFault::cannot_create,
          "cannot open " + path + " (" + error.what() + "). Check the path and the disk."};
}

LastClose::Log present_log(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path + kLogEnding, ignored) ? LastClose::Log::present : LastClose::Log::absent;
}

OpenError in_use(const std::string& path, const std::string& owner, bool by_command = false) {
  return {OpenFault::locked,
          path + " is in use by " + owner + ". Only one process can use the file; " +
              (by_command ? "wait until that command is complete." : "stop that one first.")};
}

/// Call this before anything is written, because a foreign trigger would run with the first change.
OpenError check_schema(Connection& writer, const std::string& path) {
  return marks_fault(read_marks(writer), schema_version(), path);
}

/// File locks may not work on a network.
OpenError check_place(const DatabaseOptions& options) {
  const std::string directory = directory_of(options.path);
  const std::string network = network_filesystem(directory);
  if (network.empty() || options.allow_network_filesystem) return {};
  return {OpenFault::unsupported,
          directory + " is on " + network +
              ", where file locks do not protect the ledger. Put the file on a local disk (--db), "
              "or force it with --allow-network-filesystem."};
}

/// Prevents an empty ledger from replacing a lost one: clients would repeat their payments, and
/// coffer would execute all of them as new.
OpenError check_presence(const DatabaseOptions& options, const LastClose& last) {
  for (const auto reason : {log_fault, ledger_fault}) {
    const std::string fault = reason(options.path, last);
    if (!fault.empty()) return {OpenFault::corrupt, fault};
  }
  return options.creates || holds_tables(options.path) ? OpenError() : not_found(options.path);
}

/// Whether the user may use the file, or create it.
OpenError check_access(const std::string& path) {
  std::string there = path;
  std::error_code ignored;
  while (!fs::exists(there, ignored) && there != directory_of(there)) there = directory_of(there);
  if (::access(there.c_str(), R_OK | W_OK) == 0) return {};
  return errno_fault("cannot open " + there, errno);
}

/// Removes the statistics of ANALYZE, which would change the plans of queries: each was tested
/// without them. Returns whether there were some. A full disk keeps them.
bool drop_statistics(Connection& writer) {
  constexpr const char* kThere =
      "SELECT count(*) FROM sqlite_schema WHERE name IN ('sqlite_stat1', 'sqlite_stat4')";
  const auto is_there = [&] {
    Query query(writer, kThere);
    return query.step() && query.integer(0) > 0;
  };
  if (!is_there()) return false;
  try {
    Transaction transaction(writer, true);
    writer.execute("DROP TABLE IF EXISTS sqlite_stat1; DROP TABLE IF EXISTS sqlite_stat4");
    transaction.commit();
    return true;
  } catch (const SqlError& fault) {
    if (!is_full_disk(fault)) throw;
    return false;
  }
}

/// The first commit says that no log has it: an archive of the file cannot continue from before.
void leave_archive(Connection& writer) {
  writer.commit_through([&writer, left = false](const std::function<void()>& commit) mutable {
    if (!std::exchange(left, true)) leave_alone_log(writer);
    commit();
  });
}

}  // namespace

Database::Database(DatabaseOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock) {}

Database::~Database() {
  if (lock_ == nullptr) return;  // the readers close before the connection below them
  // What came from a log may no longer be there.
  const bool alone = options_.replication == nullptr || options_.replication->leader.alone;
  const bool removes = is_discarded_ && alone && file_ != nullptr && file_->is_new() && in_place();
  const bool closes = !removes && readers_ != nullptr && in_place();
  if (closes) (void)lock_->write({.ledger = true});
  // Readers first: the writer must close last, so that it removes the WAL.
  readers_.reset();
  leader_.reset();
  writer_.reset();
  if (removes) {
    file_->restore_found();
    for (const char* ending : kSqliteEndings) ::unlink((options_.path + ending).c_str());
    (void)lock_->write({});  // without a ledger, the lock file removes itself
  }
  file_.reset();
  // If another process is reading the file, the log remains. Written last, because it must be true
  // after a power cut.
  if (closes && sync_directory(directory_of(options_.path))) {
    (void)lock_->write({.ledger = true, .log = present_log(options_.path)});
  }
}

OpenError why_not_opened(const DatabaseOptions& options) {
  OpenError fault = check_place(options);
  if (fault.fault == OpenFault::none) fault = check_presence(options, last_close(options.path));
  if (fault.fault == OpenFault::none) fault = check_access(options.path);
  if (fault.fault != OpenFault::none || !holds_tables(options.path)) return fault;
  const auto marks = read_file_marks(options.path);
  if (!marks) {
    return sql_fault(options.path, SqlError("not a database", SQLITE_NOTADB, SQLITE_NOTADB));
  }
  return marks_fault(*marks, schema_version(), options.path);
}

std::unique_ptr<Database> Database::open(const DatabaseOptions& options, const Clock& clock,
                                         OpenError& error) {
  error = {};
  if (!sqlite_is_sound()) {
    error = {OpenFault::unsupported,
             "this build contains SQLite " + sqlite_version() +
                 ", which can corrupt a WAL file; build with 3.51.3 or later."};
    return nullptr;
  }
  std::unique_ptr<Database> database(new Database(options, clock));
  using Step = OpenError (Database::*)();
  const std::vector<Step> own{&Database::take_lock,   &Database::miss_nothing,
                              &Database::hold_file,   &Database::join_log,
                              &Database::open_writer, &Database::open_readers};
  const std::vector<Step> beside{&Database::open_beside, &Database::open_readers};
  for (const Step step : options.beside ? beside : own) {
    try {
      error = (database.get()->*step)();
    } catch (const SqlError& fault) {
      error = sql_fault(options.path, fault);
    }
    if (error.fault != OpenFault::none) {
      database->discard();
      return nullptr;
    }
  }
  if (options.beside) return database;
  // SQLite synchronises the directory when it first writes to a new log, but it ignores errors.
  const std::string directory = directory_of(options.path);
  if (!sync_directory(directory)) {
    error = errno_fault("cannot synchronise the directory " + directory, errno);
    database->discard();
    return nullptr;
  }
  // Written last, because it must be true on disk. If it cannot be written, only the checks of the
  // next opening are lost.
  (void)database->lock_->write({.ledger = true, .log = LastClose::Log::present});
  return database;
}

OpenError Database::take_lock() {
  const std::string directory = directory_of(options_.path);
  std::error_code ignored;
  if (!options_.creates && !fs::exists(options_.path, ignored)) return not_found(options_.path);
  if (OpenError fault = make_directory(directory); fault.fault != OpenFault::none) return fault;
  if (OpenError fault = check_place(options_); fault.fault != OpenFault::none) return fault;
  LockState holder;
  do {
    lock_ = LockFile::take(options_.path, options_.command, holder);
    if (lock_) return {};
    if (errno != EWOULDBLOCK) {
      return errno_fault("cannot open and write the lock file " + options_.path + kLockEnding,
                         errno);
    }
  } while (options_.waits && options_.waits(holder));
  return in_use(options_.path, described(holder), !holder.command.empty());
}

OpenError Database::miss_nothing() {
  const LastClose& last = lock_->state();
  OpenError fault = check_presence(options_, last);
  if (fault.fault != OpenFault::none) return fault;
  if (const std::string doubt = log_doubt(options_.path, last); !doubt.empty()) {
    log_warning("store", doubt, {{"log", options_.path + kLogEnding}});
  }
  return fault;
}

/// The lock file can be removed, and a hard link has a different one. The lock on the database file
/// itself remains.
OpenError Database::hold_file() {
  // From now on, SQLite creates a log, and a killed process may or may not leave it. An existing
  // log stays until the database is closed.
  const bool left = present_log(options_.path) == LastClose::Log::present;
  (void)lock_->write({.ledger = lock_->state().ledger,
                      .log = left ? LastClose::Log::present : LastClose::Log::unknown});
  file_ = HeldFile::open(options_.path, options_.link);
  held_ = file_.get();
  if (file_) return {};
  if (errno == EWOULDBLOCK) {
    return in_use(options_.path,
                  "another coffer (find it with fuser " + shell_word(options_.path) + ")");
  }
  return errno_fault("cannot open " + options_.path, errno);
}

OpenError Database::join_log() {
  if (options_.replication == nullptr) return {};
  Replication with = *options_.replication;
  with.leader.clock = &clock_;
  if (with.leader.alone) {
    leader_ = lead_alone(options_.path, with);
    return {};
  }
  // With the leader's next version, the file may have a schema that this version does not know.
  const auto may_lead = [this]() -> Result<void> {
    const auto marks = holds_tables(options_.path) ? read_file_marks(options_.path) : std::nullopt;
    if (!marks || marks->schema_version <= schema_version()) return {};
    return unexpected(Slug::conflict, marks_fault(*marks, schema_version(), options_.path).message);
  };
  with.follow = [this](Following state) {
    state.file = held_;
    return options_.replication->follow(state);
  };
  // Nothing may read beside a file that is closed.
  const auto end_following = [this] { (void)options_.replication->follow({}); };
  const auto join = [&] {
    try {
      return lead(options_.path, with, may_lead);
    } catch (const SqlError&) {
      end_following();
      throw;
    }
  };
  auto leader = join();
  if (!leader) end_following();
  if (!leader) {
    const bool follows = leader.error().slug == Slug::overloaded;
    return {follows ? OpenFault::locked : OpenFault::unsupported, leader.error().detail};
  }
  leader_ = *std::move(leader);
  return {};
}

OpenError Database::open_writer() {
  const mode_t old = ::umask(0077);  // mode 0600 for the file, WAL and shared memory
  try {
    writer_ = std::make_unique<Connection>(options_.path, OpenMode::writer);
    leader_ ? leader_->follow(*writer_) : leave_archive(*writer_);
    writer_->execute(
        "PRAGMA busy_timeout=" + std::to_string(kBusyWaitMs) +
        // A commit writes whole pages, most of which it has changed a little. Measured per payment,
        // settled in batches of about 26: 4.3 KiB written instead of 6.6 with 4,096, at the same
        // CPU time (with 1,024: 3.4 KiB, but 3 % more CPU time).
        "; PRAGMA page_size=2048; PRAGMA journal_mode=WAL;"
        "PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF;"
        "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY;"
        // In a file below 1 GiB, SQLite scans its whole cache at the end of each commit that has
        // rebalanced a tree (measured with 16 MiB: 4 % of the processor time of a payment). The
        // kernel caches the rest of the file.
        "PRAGMA cache_size=-4096; PRAGMA journal_size_limit=67108864;"
        // On macOS, fsync stops at the cache of the drive; fullfsync does not. No effect elsewhere.
        "PRAGMA fullfsync=ON; PRAGMA checkpoint_fullfsync=ON;"
        // The commit queue checkpoints between batches.
        "PRAGMA wal_autocheckpoint=0; PRAGMA secure_delete=FAST;");
  } catch (...) {
    ::umask(old);
    throw;
  }
  const auto pragma = [&](const char* sql) {
    Query query(*writer_, sql);
    return query.step() ? query.text(0) : std::string();
  };
  const bool durable =
      pragma("PRAGMA journal_mode") == "wal" && pragma("PRAGMA synchronous") == "2";
  OpenError fault;
  if (!durable) {
    fault = {OpenFault::unsupported, "the file system of " + options_.path +
                                         " does not support WAL with full synchronisation."};
  } else {
    if (options_.leaves_log) forget_position(*writer_, options_.path);
    if (!leader_ && needs_log(*writer_)) {
      fault = {OpenFault::unsupported, options_.path + kNeedsLog};
    } else {
      fault = bring_schema_up_to_date(*writer_, options_.path);
    }
    if (fault.fault == OpenFault::none) fault = check_schema(*writer_, options_.path);
    if (fault.fault == OpenFault::none) refresh_search_terms(*writer_);
  }
  // For the control run of the power cut test, in which commits are acknowledged before they are on
  // disk.
  if (COFFER_FAULT_FAILS("sync.normal")) writer_->execute("PRAGMA synchronous=NORMAL");
  ::umask(old);
  if (fault.fault != OpenFault::none || !drop_statistics(*writer_)) return fault;
  writer_.reset();  // a connection keeps the statistics that it has read
  return open_writer();
}

/// The leader's version may have another schema.
OpenError Database::open_beside() {
  held_ = options_.beside;
  writer_ = std::make_unique<Connection>(options_.path, OpenMode::read_write);
  writer_->execute("PRAGMA busy_timeout=1000; PRAGMA query_only=ON; PRAGMA wal_autocheckpoint=0");
  writer_->keep_log_on_close();
  const FileMarks marks = read_marks(*writer_);
  if (marks.schema_version == schema_version())
    return marks_fault(marks, schema_version(), options_.path);
  return {OpenFault::newer_schema, options_.path + " has the schema of another version."};
}

OpenError Database::open_readers() {
  if (file_) file_->note_log();
  readers_ = std::make_unique<ReaderPools>(
      ReaderPoolsOptions{options_.path, options_.readers, options_.reader_wait_ms,
                         options_.reader_age_max_ms},
      *held_, clock_);
  return {};
}

void Database::watch_place() {
  const bool here = in_place();
  if (here == was_in_place_) return;
  was_in_place_ = here;
  if (here) return log_info("store", "the database is at its path again, accepting writes");
  log_error("store",
            "the database or its -wal file was moved, deleted or replaced; rejecting writes until "
            "the same file is back",
            {{"database", options_.path}});
}

Leader* Database::leader() const {
  return leader_ != nullptr && !options_.replication->leader.alone ? leader_.get() : nullptr;
}

std::uint64_t Database::free_bytes() const {
  return free_disk_bytes(directory_of(options_.path)).value_or(0);
}

std::uint64_t Database::file_bytes() const { return coffer::file_bytes(options_.path); }
std::uint64_t Database::wal_bytes() const { return coffer::file_bytes(options_.path + kLogEnding); }

}  // namespace coffer::store
