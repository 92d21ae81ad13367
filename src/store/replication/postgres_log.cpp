#include "store/replication/postgres_log.h"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/numbers.h"
#include "base/platform/lease.h"
#include "base/text/next_part.h"

namespace coffer::store {
namespace {

constexpr std::int64_t kTimeoutMs = 6'000;  // of a transaction, for this side
constexpr int kTruncatedAtOnce = 10'000;
constexpr const char* kDuplicateKey = "23505";

struct Statement {
  const char* name;
  const char* text;
};

constexpr const char* kCreate =
    "CREATE TABLE IF NOT EXISTS coffer_log (ledger text NOT NULL, seq bigint NOT NULL,"
    " epoch bigint NOT NULL, kind smallint NOT NULL, digest bytea NOT NULL,"
    " payload bytea NOT NULL, PRIMARY KEY (ledger, seq))";
// Sealed payloads cannot be compressed.
constexpr const char* kStore = "ALTER TABLE coffer_log ALTER payload SET STORAGE EXTERNAL";

// Held by what looks at more than one row: takeovers, truncations, and the creation of the table.
constexpr Statement kLock{"lock", "SELECT pg_advisory_xact_lock(hashtextextended($1::text, 38))"};

// A configuration that is reloaded can take the quorum away while a connection is open. The lock on
// the predecessor keeps a truncation from removing both it and the entry after it meanwhile.
constexpr Statement kAppend{
    "append",
    "INSERT INTO coffer_log (ledger, seq, epoch, kind, digest, payload)"
    " SELECT $1::text, $2::bigint, $3::bigint, $4::smallint, $5::bytea, $6::bytea"
    " FROM coffer_log AS last WHERE last.ledger = $1 AND last.seq = $2 - 1 AND last.epoch = $3"
    " AND ($7::boolean OR (current_setting('fsync') = 'on'"
    " AND current_setting('synchronous_standby_names') <> '')) FOR KEY SHARE OF last"};
constexpr Statement kTakeover{
    "takeover",
    "INSERT INTO coffer_log (ledger, seq, epoch, kind, digest, payload)"
    " SELECT $1::text, $2::bigint, $3::bigint, $4::smallint, $5::bytea, $6::bytea"
    " WHERE ($7::boolean OR (current_setting('fsync') = 'on'"
    " AND current_setting('synchronous_standby_names') <> ''))"
    " AND (NOT EXISTS (SELECT FROM coffer_log WHERE ledger = $1)"
    " OR EXISTS (SELECT FROM coffer_log WHERE ledger = $1 AND seq = $2 - 1 AND epoch < $3))"};

constexpr Statement kReadFrom{
    "read",
    "SELECT seq, epoch, kind, digest, payload FROM (SELECT *, sum(octet_length(payload))"
    " OVER (ORDER BY seq) - octet_length(payload) AS before FROM (SELECT * FROM coffer_log"
    " WHERE ledger = $1::text AND seq >= $2::bigint ORDER BY seq LIMIT 5000) AS next) AS sized"
    " WHERE before < $3::bigint ORDER BY seq"};
constexpr Statement kTail{"tail",
                          "SELECT seq, epoch, digest FROM coffer_log WHERE ledger = $1::text "
                          "ORDER BY seq DESC LIMIT 1"};
constexpr Statement kTruncate{
    "truncate",
    "DELETE FROM coffer_log WHERE ledger = $1::text AND seq < (SELECT least($2::bigint, max(seq),"
    " min(seq) + $3::bigint) FROM coffer_log WHERE ledger = $1)"};
constexpr std::array kPrepared{kLock, kAppend, kTakeover, kReadFrom, kTail, kTruncate};

// What decides whether an acknowledged entry can be lost, and whether the table exists.
constexpr const char* kExamine =
    "SELECT current_setting('fsync'), current_setting('synchronous_commit'),"
    " current_setting('synchronous_standby_names'),"
    " CASE WHEN pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') THEN"
    " (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum'))::text"
    " ELSE 'unknown' END, (to_regclass('coffer_log') IS NULL)::text";
// Only warnings say that a quorum was not waited for, and a role can hide them. A reload of the
// configuration does not change what a session has set.
constexpr const char* kSettings =
    "SELECT set_config('client_min_messages', 'warning', false),"
    " set_config('statement_timeout', '5000', false),"
    " set_config('default_transaction_isolation', 'read committed', false),"
    " set_config('synchronous_commit', $1::text, false)";

std::string one_line(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = next_part(text, '\n');
    if (!line.empty()) out += (out.empty() ? "" : "; ") + std::string(line);
  }
  return out;
}

struct ResultCloser {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Rows = std::unique_ptr<PGresult, ResultCloser>;

std::string cell(const Rows& rows, int row, int column) {
  return {PQgetvalue(rows.get(), row, column),
          static_cast<std::size_t>(PQgetlength(rows.get(), row, column))};
}
std::int64_t number(const Rows& rows, int row, int column) {
  return static_cast<std::int64_t>(from_big_endian(cell(rows, row, column)));
}

/// One statement of a transaction.
struct Call {
  Statement statement;
  std::vector<std::string> values = {};  // in the binary format
  bool prepared = true;
};

/// What the server responded to a transaction.
struct Reply {
  std::vector<Rows> rows = {};  // of each statement
  std::string state = {};       // SQLSTATE of the error, if the server sent one
  std::string why = {};         // an error or a warning; empty: done
};

Problem unavailable(const std::string& why) {
  return Problem(Slug::provider_unavailable, "the log is not available: " + why);
}

/// Why the server could lose acknowledged entries; empty if it cannot. `may_change`: without its
/// administrator.
std::string danger(const Rows& found, bool& may_change) {
  may_change = false;
  if (cell(found, 0, 0) != "on") {
    return "fsync is off, so a power cut can lose acknowledged payments. Set fsync = on";
  }
  const std::string commit = cell(found, 0, 1);
  if (commit != "on" && commit != "remote_apply") {
    return "synchronous_commit is " + commit +
           ", so an acknowledged payment may be on no standby's disk. Set synchronous_commit = on "
           "for the server, the database and the role";
  }
  if (cell(found, 0, 2).empty()) {
    return "synchronous_standby_names is empty, so no commit waits for a standby. Set it, for "
           "example to ANY 1 (standby1, standby2)";
  }
  may_change = true;
  return cell(found, 0, 3) == "0" ? "no standby is connected that commits can wait for" : "";
}

}  // namespace

struct PostgresSession {
  explicit PostgresSession(PGconn* opened) : connection(opened) {
    PQsetNoticeReceiver(
        connection,
        [](void* self, const PGresult* notice) {
          static_cast<PostgresSession*>(self)->notices += PQresultErrorMessage(notice);
        },
        this);
    PQenterPipelineMode(connection);
  }
  ~PostgresSession() { PQfinish(connection); }
  PostgresSession(const PostgresSession&) = delete;
  PostgresSession& operator=(const PostgresSession&) = delete;

  bool is_lost() const { return PQstatus(connection) != CONNECTION_OK; }

  bool send(const Call& call) const {
    std::vector<const char*> values;
    std::vector<int> lengths;
    for (const std::string& value : call.values) {
      values.push_back(value.data());
      lengths.push_back(static_cast<int>(value.size()));
    }
    const std::vector<int> binary(values.size(), 1);
    const auto count = static_cast<int>(values.size());
    return call.prepared ? PQsendQueryPrepared(connection, call.statement.name, count,
                                               values.data(), lengths.data(), binary.data(), 1) == 1
                         : PQsendQueryParams(connection, call.statement.text, count, nullptr,
                                             values.data(), lengths.data(), binary.data(), 1) == 1;
  }
  /// Sends a transaction.
  void send(std::span<const Call> calls) {
    notices.clear();
    is_sent = std::ranges::all_of(calls, [&](const Call& call) { return send(call); }) &&
              PQpipelineSync(connection) == 1;
  }

  bool wait_for_result(std::int64_t deadline_ms) const {
    while (PQisBusy(connection) != 0) {
      const std::int64_t left = deadline_ms - boot_ms();
      if (left <= 0) return false;
      pollfd socket{PQsocket(connection), POLLIN, 0};
      ::poll(&socket, 1, static_cast<int>(left));
      if (PQconsumeInput(connection) != 1) return false;
    }
    return true;
  }

  /// The response to what was sent. A transaction commits after the results of its statements have
  /// arrived, so it is done only when the server is ready for the next one.
  Reply finish() {
    Reply out;
    const std::int64_t deadline_ms = boot_ms() + kTimeoutMs;
    while (is_sent && !is_lost() && wait_for_result(deadline_ms)) {
      Rows rows(PQgetResult(connection));
      const ExecStatusType status = PQresultStatus(rows.get());
      if (rows == nullptr) continue;  // the end of the results of a statement
      if (status == PGRES_PIPELINE_SYNC) {
        if (out.why.empty()) out.why = one_line(notices);
        return out;
      }
      if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && out.why.empty()) {
        const char* state = PQresultErrorField(rows.get(), PG_DIAG_SQLSTATE);
        out.state = state == nullptr ? "" : state;
        out.why = one_line(PQresultErrorMessage(rows.get()));
      }
      out.rows.push_back(std::move(rows));
    }
    if (out.why.empty()) out.why = one_line(PQerrorMessage(connection));
    if (out.why.empty()) out.why = "the server did not respond in time";
    out.state.clear();
    is_sent = false;
    is_broken = true;
    return out;
  }

  /// Runs a transaction. A Problem: nothing is known about it, except that it has no result.
  Result<std::vector<Rows>> run(std::span<const Call> calls) {
    send(calls);
    Reply reply = finish();
    if (!reply.why.empty()) return unexpected(unavailable(reply.why));
    return std::move(reply.rows);
  }

  PGconn* const connection;
  std::string notices;
  bool is_sent = false;
  bool is_broken = false;
};

bool is_postgres_url(const std::string& where) {
  return where.starts_with("postgres://") || where.starts_with("postgresql://");
}

namespace {

constexpr auto kUrlSettings = std::to_array<std::string_view>(
    {"dbname", "host", "port", "sslcert", "sslkey", "sslmode", "sslrootcert", "user"});

bool is_local(std::string_view host) {
  const bool is_number = host.find_first_not_of("0123456789.") == host.npos;
  return host.starts_with('/') || host == "localhost" || host == "::1" ||
         (is_number && host.starts_with("127."));
}

Problem invalid_url(const std::string& why) {
  return Problem(Slug::validation_failed,
                 "The URL of the log is invalid: " + why +
                     ". Use postgres://USER@HOST:PORT/DATABASE?sslrootcert=FILE, with HOST:PORT,"
                     "HOST:PORT for several servers.");
}

/// What the URL says, with the mode of TLS.
Result<std::map<std::string, std::string>> read_url(const LogPlace& place) {
  std::map<std::string, std::string> out;
  char* fault = nullptr;
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options(
      PQconninfoParse(place.where.c_str(), &fault), PQconninfoFree);
  if (options == nullptr) {
    const std::string why = one_line(fault == nullptr ? "it cannot be read" : fault);
    PQfreemem(fault);
    return unexpected(invalid_url(why));
  }
  for (const PQconninfoOption* one = options.get(); one->keyword != nullptr; ++one) {
    if (one->val == nullptr) continue;
    if (std::string_view(one->keyword) == "password") {
      return unexpected(
          invalid_url("other users can see a password in it. Set replicate_password_file instead"));
    }
    if (!std::ranges::count(kUrlSettings, one->keyword)) {
      return unexpected(invalid_url(std::string(one->keyword) + " is not supported"));
    }
    out[one->keyword] = one->val;
  }
  if (out["user"].empty() || out["dbname"].empty()) {
    return unexpected(invalid_url("it must name a user and a database"));
  }
  const auto hosts = parts_of(out["host"], ',');
  const bool local = std::ranges::all_of(hosts, is_local);
  std::string& mode = out["sslmode"];
  if (mode.empty()) mode = local ? "prefer" : "verify-full";
  if (local || place.is_unsafe || mode == "verify-full" || mode == "verify-ca") return out;
  return unexpected(invalid_url("sslmode " + mode +
                                " does not verify the server. Use verify-full, or set "
                                "replicate_unsafe"));
}

}  // namespace

PostgresLog::PostgresLog(std::string ledger, LogPlace place, Parameters parameters)
    : ledger_(std::move(ledger)), place_(std::move(place)), parameters_(std::move(parameters)) {}
PostgresLog::~PostgresLog() = default;

Result<std::unique_ptr<ReplicaLog>> PostgresLog::open(const std::string& ledger, LogPlace place) {
  COFFER_TRY(Parameters parameters, read_url(place));
  std::unique_ptr<PostgresLog> out(
      new PostgresLog(ledger, std::move(place), std::move(parameters)));
  const auto connected = out->connect();
  if (!connected && connected.error().slug == Slug::validation_failed) {
    return unexpected(connected.error());
  }
  return std::unique_ptr<ReplicaLog>(std::move(out));
}

/// With the addresses of the hosts, which libpq would resolve with the system's resolver.
Result<PostgresLog::Parameters> PostgresLog::addressed() const {
  Parameters out = parameters_;
  const auto hosts = parts_of(out["host"], ',');
  const auto ports = parts_of(out["port"], ',');
  std::string host;
  std::string hostaddr;
  std::string port;
  Problem unresolved = unavailable("the URL names no host");
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const bool is_socket = hosts[i].empty() || hosts[i].starts_with('/');
    const auto found = is_socket ? Result(std::vector<std::string>{""}) : place_.resolve(hosts[i]);
    if (!found) {
      unresolved = unavailable(found.error().detail);
      continue;
    }
    for (const std::string& address : *found) {
      const std::string comma = host.empty() ? "" : ",";
      host += comma + hosts[i];
      hostaddr += comma + address;
      port += comma + (ports.empty() ? "" : ports[std::min(i, ports.size() - 1)]);
    }
  }
  if (host.empty()) return unexpected(unresolved);
  out["host"] = host;
  out["hostaddr"] = hostaddr;
  out["port"] = port;
  return out;
}

Result<void> PostgresLog::connect() {
  session_.reset();
  COFFER_TRY(Parameters parameters, addressed());
  if (!place_.password.empty()) parameters["password"] = place_.password.reveal();
  if (!place_.ca_bundle.empty()) parameters.try_emplace("sslrootcert", place_.ca_bundle);
  // A standby cannot append, and may lag.
  parameters.insert({{"target_session_attrs", "primary"},
                     {"application_name", "coffer"},
                     {"client_encoding", "UTF8"},
                     {"connect_timeout", "3"},
                     {"tcp_user_timeout", "5000"}});
  std::vector<const char*> names;
  std::vector<const char*> values;
  for (const auto& [name, value] : parameters) {
    names.push_back(name.c_str());
    values.push_back(value.c_str());
  }
  names.push_back(nullptr);
  values.push_back(nullptr);
  auto session =
      std::make_unique<PostgresSession>(PQconnectdbParams(names.data(), values.data(), 0));
  if (session->is_lost()) {
    return unexpected(unavailable(one_line(PQerrorMessage(session->connection))));
  }
  session_ = std::move(session);
  auto prepared = prepare();
  if (!prepared) session_.reset();
  return prepared;
}

Result<void> PostgresLog::prepare() {
  const Call examine{{"", kExamine}, {}, false};
  COFFER_TRY(const auto found, session_->run({&examine, 1}));
  bool may_change = false;
  const std::string why = place_.is_unsafe ? "" : danger(found[0], may_change);
  if (!why.empty()) {
    if (may_change) return unexpected(unavailable(why));
    return unexpected(Slug::validation_failed,
                      "The server of the log can lose payments: " + why +
                          ". For a trial without that promise, set replicate_unsafe.");
  }
  const Call set{{"", kSettings}, {cell(found[0], 0, 1)}, false};
  COFFER_TRY_VOID(session_->run({&set, 1}));
  if (cell(found[0], 0, 4) == "true") {
    const std::array create{Call{kLock, {ledger_}, false}, Call{{"", kCreate}, {}, false},
                            Call{{"", kStore}, {}, false}};
    COFFER_TRY_VOID(session_->run(create));
  }
  for (const Statement& one : kPrepared) {
    PQsendPrepare(session_->connection, one.name, one.text, 0, nullptr);
  }
  COFFER_TRY_VOID(session_->run({}));
  return {};
}

Result<void> PostgresLog::ready() {
  if (session_ && !session_->is_lost() && !session_->is_broken) return {};
  auto connected = connect();
  // Only a machine that starts is refused; one that follows waits.
  if (!connected && connected.error().slug == Slug::validation_failed) {
    return unexpected(unavailable(connected.error().detail));
  }
  return connected;
}

Appended PostgresLog::append(std::span<const LogEntry> entries,
                             const std::function<void()>& meanwhile) {
  const auto connected = ready();
  std::vector<Call> calls;
  for (const LogEntry& entry : entries) {
    const bool takes_over = entry.kind == EntryKind::takeover;
    if (takes_over) calls.push_back({kLock, {ledger_}});
    calls.push_back({takes_over ? kTakeover : kAppend,
                     {ledger_, eight_bytes(entry.at.seq), eight_bytes(entry.at.epoch),
                      to_big_endian(static_cast<std::uint8_t>(entry.kind), 2),
                      std::string(as_text(entry.digest)), entry.payload,
                      std::string(1, place_.is_unsafe ? '\1' : '\0')}});
  }
  if (connected) session_->send(calls);
  meanwhile();
  if (!connected) return {AppendResult::unknown, connected.error().detail};
  const Reply reply = session_->finish();
  const Appended fenced{AppendResult::fenced,
                        "entry " + std::to_string(entries.front().at.seq) + " of epoch " +
                            std::to_string(entries.front().at.epoch) +
                            " does not continue the log, or the server no longer waits for a "
                            "standby"};
  if (reply.state == kDuplicateKey) return fenced;
  if (!reply.why.empty()) return {AppendResult::unknown, reply.why};
  std::size_t stored = 0;
  for (const Rows& rows : reply.rows) {
    if (std::string_view(PQcmdStatus(rows.get())) == "INSERT 0 1") ++stored;
  }
  if (stored == entries.size()) return {};
  if (stored == 0) return fenced;
  return {AppendResult::unknown, "the server stored a part of a commit"};
}

Result<std::vector<LogEntry>> PostgresLog::read_from(std::int64_t seq, std::size_t bytes_max) {
  COFFER_TRY_VOID(ready());
  const Call read{kReadFrom,
                  {ledger_, eight_bytes(seq), eight_bytes(static_cast<std::int64_t>(bytes_max))}};
  COFFER_TRY(const auto replies, session_->run({&read, 1}));
  std::vector<LogEntry> out;
  for (int row = 0; row < PQntuples(replies[0].get()); ++row) {
    LogEntry entry;
    entry.at = {number(replies[0], row, 0), number(replies[0], row, 1)};
    entry.kind = static_cast<EntryKind>(number(replies[0], row, 2));
    const auto digest = sha256_from(cell(replies[0], row, 3));
    entry.payload = cell(replies[0], row, 4);
    if (row == 0 && entry.at.seq != seq) {
      return unexpected(Slug::not_found, "The log begins with entry " +
                                             std::to_string(entry.at.seq) + "; entry " +
                                             std::to_string(seq) + " was truncated.");
    }
    if (!digest) {
      return unexpected(Slug::validation_failed,
                        "Row " + std::to_string(entry.at.seq) + " is not an entry of a log.");
    }
    entry.digest = *digest;
    out.push_back(std::move(entry));
  }
  return out;
}

Result<LogTail> PostgresLog::tail() {
  COFFER_TRY_VOID(ready());
  const Call read{kTail, {ledger_}};
  COFFER_TRY(const auto replies, session_->run({&read, 1}));
  if (PQntuples(replies[0].get()) == 0) return LogTail{};
  const auto digest = sha256_from(cell(replies[0], 0, 2));
  if (!digest) return unexpected(Slug::validation_failed, "The last row is not an entry of a log.");
  return LogTail{{number(replies[0], 0, 0), number(replies[0], 0, 1)}, *digest};
}

Result<void> PostgresLog::truncate(std::int64_t seq) {
  COFFER_TRY_VOID(ready());
  for (;;) {
    const std::array calls{
        Call{kLock, {ledger_}},
        Call{kTruncate, {ledger_, eight_bytes(seq), eight_bytes(kTruncatedAtOnce)}}};
    COFFER_TRY(const auto replies, session_->run(calls));
    if (std::string_view(PQcmdStatus(replies[1].get())) == "DELETE 0") return {};
  }
}

}  // namespace coffer::store
