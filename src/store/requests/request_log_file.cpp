#include "store/requests/request_log_file.h"

#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <vector>

#include "base/files/descriptor.h"
#include "base/files/folders.h"
#include "base/files/side_files.h"
#include "store/file/foreign_file.h"
#include "store/rows/columns.h"
#include "store/rows/key_walk.h"

namespace coffer::store {
namespace {

namespace fs = std::filesystem;

constexpr int kLayout = 1;  // of the table; a file with another layout is renamed
// A write that exceeds the size limit removes at least this many rows.
constexpr int kRemovedAtOnce = 1'000;

constexpr const char* kSchema =
    "CREATE TABLE IF NOT EXISTS requests ("
    " key INTEGER PRIMARY KEY,"  // microseconds since 1970, made unique
    " at INTEGER NOT NULL, duration_us INTEGER NOT NULL, request_id TEXT NOT NULL,"
    " method TEXT NOT NULL, path TEXT NOT NULL, query TEXT NOT NULL, operation TEXT NOT NULL,"
    " status INTEGER NOT NULL, problem TEXT NOT NULL, environment INTEGER, association BLOB,"
    " application BLOB, payment BLOB, request_bytes INTEGER NOT NULL,"
    " response_bytes INTEGER NOT NULL, request_body TEXT, response_body TEXT);"
    "CREATE INDEX IF NOT EXISTS requests_by_id ON requests (request_id, key);"
    "CREATE INDEX IF NOT EXISTS requests_by_payment ON requests (payment, key)"
    " WHERE payment IS NOT NULL;"
    "PRAGMA user_version=1";

constexpr Column<RequestRow> kSummary[] = {
    column<&RequestRow::key>("key"),
    column<&RequestRow::at>("at"),
    column<&RequestRow::duration_us>("duration_us"),
    column<&RequestRow::request_id>("request_id"),
    column<&RequestRow::method>("method"),
    column<&RequestRow::path>("path"),
    column<&RequestRow::query>("query"),
    column<&RequestRow::operation>("operation"),
    column<&RequestRow::status>("status"),
    column<&RequestRow::problem>("problem"),
    column<&RequestRow::environment>("environment"),
    column<&RequestRow::association>("association"),
    column<&RequestRow::application>("application"),
    column<&RequestRow::payment>("payment"),
    column<&RequestRow::request_bytes>("request_bytes"),
    column<&RequestRow::response_bytes>("response_bytes"),
};
constexpr Column<RequestRow> kBodies[] = {
    column<&RequestRow::request_body>("request_body"),
    column<&RequestRow::response_body>("response_body"),
};
const auto kWhole = [] {
  std::vector<Column<RequestRow>> out(std::begin(kSummary), std::end(kSummary));
  out.insert(out.end(), std::begin(kBodies), std::end(kBodies));
  return out;
}();

const std::string kInsertRequest = ColumnList{}.add(kWhole).insert_into("requests");
constexpr const char* kRemoveBefore =
    "DELETE FROM requests WHERE key IN"
    " (SELECT key FROM requests WHERE key < ?1 ORDER BY key LIMIT ?2)";
constexpr const char* kRemoveOldest =
    "DELETE FROM requests WHERE key IN (SELECT key FROM requests ORDER BY key LIMIT ?1)";
constexpr const char* kUsedBytes =
    "SELECT (page_count - freelist_count) * page_size"
    " FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
constexpr const char* kLastRequest = "SELECT max(key) FROM requests";
const std::string kRequest = select(kWhole) + " FROM requests WHERE key = ?1";
const std::string kRequestSummary = select(kSummary) + " FROM requests WHERE key = ?1";
constexpr const char* kNewestWithId =
    "SELECT key FROM requests WHERE request_id = ?1 ORDER BY key DESC LIMIT 1";
constexpr const char* kRequestsAfter =
    "SELECT key FROM requests WHERE key > ?1 ORDER BY key LIMIT ?2";

constexpr KeyIndex kEveryRequest = COFFER_KEY_INDEX("key", "requests", "1");
constexpr KeyIndex kRequestsById = COFFER_KEY_INDEX("key", "requests", "request_id = ?3");
constexpr KeyIndex kRequestsByPayment = COFFER_KEY_INDEX("key", "requests", "payment = ?3");

std::int64_t key_of(Timestamp at) { return at.ms * 1'000; }

bool is_damaged(const SqlError& fault) {
  return fault.primary_code == SQLITE_CORRUPT || fault.primary_code == SQLITE_NOTADB;
}

void set_aside(const std::string& path) {
  std::error_code ignored;
  fs::rename(path, path + ".damaged", ignored);
  for (const char* ending : kSqliteEndings) fs::remove(path + ending, ignored);
}

std::optional<RequestRow> load_summary(Connection& db, std::int64_t key) {
  Query query(db, kRequestSummary.c_str(), key);
  return query.step() ? std::optional(read_row<RequestRow>(query, kSummary)) : std::nullopt;
}

bool has_id(Connection& db, const std::string& request_id) {
  return first_integer(db, kNewestWithId, request_id).has_value();
}

bool fits(const RequestFilter& filter, const RequestRow& row) {
  const auto same = [](const auto& wanted, const auto& value) {
    return !wanted || wanted == value;
  };
  return same(filter.application, row.application) && same(filter.association, row.association) &&
         same(filter.environment, row.environment) && same(filter.payment, row.payment) &&
         (!filter.status_class || *filter.status_class == row.status / 100) &&
         (!filter.text || row.request_id == *filter.text ||
          row.path.find(*filter.text) != std::string::npos) &&
         (!filter.route || row.operation == *filter.route || row.path.starts_with(*filter.route));
}

/// Calls `read` if the log exists.
void with_log(const std::string& path, const std::function<void(Connection&)>& read) {
  std::error_code error;
  if (!fs::exists(path, error)) return;
  try {
    read_foreign_file(path, read);
  } catch (const SqlError& fault) {
    if (is_damaged(fault)) throw DamagedRequestLog(path);
    throw;
  }
}

}  // namespace

std::string request_log_path(const std::string& database) {
  constexpr std::string_view kSuffix = ".db";
  std::string_view stem = database;
  if (stem.ends_with(kSuffix)) stem.remove_suffix(kSuffix.size());
  return std::string(stem) + kRequestLogEnding;
}

// --- Writing ------------------------------------------------------------------------------------

RequestLogFile::RequestLogFile(std::string path, RequestLogLimits limits)
    : path_(std::move(path)), limits_(limits) {}

void RequestLogFile::open() {
  // SQLite gives the files beside it the same mode, and would follow a symbolic link.
  bool is_created = false;
  if (const Descriptor file(open_or_create(path_, is_created)); !file.is_open()) {
    throw SqlError("cannot open the request log " + path_ + ": " + std::strerror(errno),
                   SQLITE_CANTOPEN, SQLITE_CANTOPEN);
  }
  auto db = std::make_unique<Connection>(path_, OpenMode::read_write);
  db->execute(
      "PRAGMA busy_timeout=1000; PRAGMA page_size=4096; PRAGMA journal_mode=WAL;"
      "PRAGMA synchronous=OFF; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;"
      "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-2048; PRAGMA journal_size_limit=4194304;");
  const auto layout = first_integer(*db, "PRAGMA user_version").value_or(0);
  if (layout != 0 && layout != kLayout) {
    throw SqlError("the request log has a different layout", SQLITE_NOTADB, SQLITE_NOTADB);
  }
  db->execute(kSchema);
  last_key_ = first_integer(*db, kLastRequest).value_or(0);
  db_ = std::move(db);
}

void RequestLogFile::append(std::span<RequestRow> rows, Timestamp now, void (*pause)()) {
  try {
    if (!db_) open();
    write(rows, now, pause);
  } catch (const SqlError& fault) {
    db_.reset();
    if (!is_damaged(fault)) throw;
    set_aside(path_);
    open();
    write(rows, now, pause);
  }
}

void RequestLogFile::write(std::span<RequestRow> rows, Timestamp now, void (*pause)()) {
  try {
    Transaction transaction(*db_);
    for (RequestRow& row : rows) {
      last_key_ = row.key = std::max(last_key_ + 1, key_of(row.at));
      Query query(*db_, kInsertRequest.c_str());
      bind_row(query, 1, kWhole, row);
      query.run();
      pause();
    }
    remove_old(now);
    transaction.commit();
  } catch (const SqlError&) {
    db_.reset();
    throw;
  }
}

/// Each batch removes more rows than it adds, until the rest is within the limits.
void RequestLogFile::remove_old(Timestamp now) {
  db_->run(kRemoveBefore, key_of(now) - limits_.age_max_ms * 1'000, kRemovedAtOnce);
  if (used_bytes() > limits_.bytes_max) db_->run(kRemoveOldest, kRemovedAtOnce);
}

std::uint64_t RequestLogFile::used_bytes() {
  if (!db_) return 0;
  return static_cast<std::uint64_t>(first_integer(*db_, kUsedBytes).value_or(0));
}

// --- Reading ------------------------------------------------------------------------------------

RowPage<RequestRow> newest_requests(const std::string& path, const RequestFilter& filter,
                                    const PageAt& page) {
  RowPage<RequestRow> out;
  with_log(path, [&](Connection& db) {
    KeyWalk walk(db, page);
    const bool by_id = filter.text && has_id(db, *filter.text);
    const KeySource source = by_id            ? walk.along(kRequestsById, *filter.text)
                             : filter.payment ? walk.along(kRequestsByPayment, *filter.payment)
                                              : walk.along(kEveryRequest);
    ListRange range;
    if (filter.from) range.lowest = key_of(*filter.from);
    if (filter.to) range.below = key_of(*filter.to);
    // The server may delete old rows meanwhile, so each row is read once.
    std::map<std::int64_t, RequestRow> matches;
    const auto is_wanted = [&](std::int64_t key) {
      auto row = load_summary(db, key);
      return row && fits(filter, *row) && matches.emplace(key, *std::move(row)).second;
    };
    out = walk.rows(
        {{source}}, is_wanted, [&](std::int64_t key) { return std::move(matches.at(key)); }, range);
  });
  return out;
}

std::vector<RequestRow> requests_after(const std::string& path, const RequestFilter& filter,
                                       std::int64_t& after, int limit) {
  std::vector<RequestRow> out;
  const std::int64_t begun = after;
  with_log(path, [&](Connection& db) {
    out.clear();
    after = begun;
    for (const std::int64_t key : integers(db, kRequestsAfter, begun, limit)) {
      after = key;
      auto row = load_summary(db, key);
      if (row && fits(filter, *row)) out.push_back(*std::move(row));
    }
  });
  return out;
}

std::int64_t last_request_key(const std::string& path) {
  std::int64_t key = 0;
  with_log(path, [&](Connection& db) { key = first_integer(db, kLastRequest).value_or(0); });
  return key;
}

std::optional<RequestRow> find_request(const std::string& path, const std::string& request_id,
                                       std::optional<std::int64_t> key) {
  std::optional<RequestRow> out;
  with_log(path, [&](Connection& db) {
    out.reset();
    const auto at = key ? key : first_integer(db, kNewestWithId, request_id);
    if (!at) return;
    Query query(db, kRequest.c_str(), *at);
    if (!query.step()) return;
    auto row = read_row<RequestRow>(query, kWhole);
    if (row.request_id != request_id) return;
    out = std::move(row);
  });
  return out;
}

}  // namespace coffer::store
