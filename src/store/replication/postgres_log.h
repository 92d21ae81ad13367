// A log in a table of PostgreSQL, or of another server that speaks its protocol and waits for a
// quorum of standbys (docs/operating.md#two-machines).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/strong.h"
#include "store/replication/replica_log.h"

namespace coffer::store {

/// Where a log is, and what its driver needs to reach it.
struct LogPlace {
  std::string where;  // `folder:PATH` or `postgres://USER@HOST[:PORT][,...]/DATABASE[?sslmode=...]`
  Secret password = Secret();
  std::string ca_bundle = {};  // PEM file of trusted roots, if the URL has no `sslrootcert`
  /// Accepts a server that can lose acknowledged entries, and a connection that is not verified.
  bool is_unsafe = false;
  /// The numeric addresses of a host name, in the order to try.
  std::function<Result<std::vector<std::string>>(const std::string& host)> resolve = {};
};

bool is_postgres_url(const std::string& where);

struct PostgresSession;

/// The table `coffer_log` has the entries of all ledgers in the database; the first machine creates
/// it. A connection that is lost is opened again by the next call.
class PostgresLog final : public ReplicaLog {
 public:
  /// `validation-failed` if the URL is invalid, or if the server can lose acknowledged entries and
  /// only its administrator can change that. A server that is not available is not a Problem: it
  /// may be in the middle of a failover.
  static Result<std::unique_ptr<ReplicaLog>> open(const std::string& ledger, LogPlace place);
  ~PostgresLog() override;

  Appended append(std::span<const LogEntry> entries,
                  const std::function<void()>& meanwhile) override;
  Result<std::vector<LogEntry>> read_from(std::int64_t seq, std::size_t bytes_max) override;
  Result<LogTail> tail() override;
  Result<void> truncate(std::int64_t seq) override;

 private:
  /// The parameters of the connection, as libpq names them.
  using Parameters = std::map<std::string, std::string>;

  PostgresLog(std::string ledger, LogPlace place, Parameters parameters);
  Result<void> connect();
  Result<void> prepare();
  Result<Parameters> addressed() const;
  /// Opens the connection unless it is open.
  Result<void> ready();

  const std::string ledger_;
  const LogPlace place_;
  const Parameters parameters_;
  std::unique_ptr<PostgresSession> session_;
};

}  // namespace coffer::store
