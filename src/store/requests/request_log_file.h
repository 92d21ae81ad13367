// The request log: a separate SQLite file beside the database, so that its errors do not affect
// payments. It is written in batches without synchronisation. After a power failure it may be
// damaged; it is then renamed, and a new one is created.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/clock.h"
#include "domain/identity/tenant.h"
#include "domain/ids.h"
#include "store/file/connection.h"
#include "store/rows/page.h"

namespace coffer::store {

/// One request with its response. Bodies are redacted before they get here.
struct RequestRow {
  std::int64_t key = 0;  // increases with `at`; assigned by append()
  Timestamp at;          // of the response
  std::int64_t duration_us = 0;
  std::string request_id;  // may be chosen by the client, so it may repeat
  std::string method;
  std::string path;
  std::string query;      // of declared parameters
  std::string operation;  // empty: no route
  int status = 0;
  std::string problem;  // slug; empty for a success
  std::optional<Environment> environment;
  std::optional<AssociationId> association;
  std::optional<ApplicationId> application;
  std::optional<PaymentId> payment;
  std::int64_t request_bytes = 0;
  std::int64_t response_bytes = 0;
  std::optional<std::string> request_body;
  std::optional<std::string> response_body;
};

struct RequestLogLimits {
  std::int64_t age_max_ms = 0;
  std::uint64_t bytes_max = 0;
};

/// The writing side. For one thread.
class RequestLogFile {
 public:
  /// Opens no file before the first append.
  RequestLogFile(std::string path, RequestLogLimits limits);

  /// Appends the rows in one transaction and removes old ones beyond the limits. Throws SqlError;
  /// the next call opens the file again. A damaged file is renamed to PATH.damaged. Calls `pause`
  /// after each row.
  void append(
      std::span<RequestRow> rows, Timestamp now, void (*pause)() = [] {});
  /// Pages in use, in bytes; 0 before the first append.
  std::uint64_t used_bytes();

 private:
  void open();
  void write(std::span<RequestRow> rows, Timestamp now, void (*pause)());
  void remove_old(Timestamp now);

  const std::string path_;
  const RequestLogLimits limits_;
  std::unique_ptr<Connection> db_;
  std::int64_t last_key_ = 0;
};

/// Thrown by the functions below that read a damaged log. what() is a message to the operator.
class DamagedRequestLog : public std::runtime_error {
 public:
  explicit DamagedRequestLog(const std::string& path)
      : std::runtime_error("the request log " + path +
                           " is damaged. The ledger is not affected. The server renames the log "
                           "at its next request, and starts a new one") {}
};

/// The file of the request log of a database: `coffer.requests.db` beside `coffer.db`.
std::string request_log_path(const std::string& database);

struct RequestFilter {
  std::optional<std::string> text;  // a request ID, or a part of the path
  std::optional<ApplicationId> application;
  std::optional<AssociationId> association;
  std::optional<Environment> environment;
  std::optional<PaymentId> payment;
  std::optional<std::string> route;   // operation, or the beginning of the path
  std::optional<int> status_class;    // 2 to 5
  std::optional<Timestamp> from, to;  // time of the response; `to` is excluded
};

/// Newest first, without bodies. Empty if there is no log. Throws SqlError.
RowPage<RequestRow> newest_requests(const std::string& path, const RequestFilter& filter,
                                    const PageAt& page);
/// At most `limit` matching rows with a key above `after`, oldest first; moves `after` to the last
/// row that was read.
std::vector<RequestRow> requests_after(const std::string& path, const RequestFilter& filter,
                                       std::int64_t& after, int limit);
/// The highest key; 0 without rows.
std::int64_t last_request_key(const std::string& path);
/// The newest request with this ID, with its bodies; with `key`, exactly that row.
std::optional<RequestRow> find_request(const std::string& path, const std::string& request_id,
                                       std::optional<std::int64_t> key);

}  // namespace coffer::store
