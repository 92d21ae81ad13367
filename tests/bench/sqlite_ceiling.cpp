// SQLite alone: coffer's schema, the rows of an accepted and settled payment, batches of the given
// size, one durable commit per batch; no HTTP, rules or JSON, and balances written once per batch.
// Usage: bench_sqlite_ceiling FILE PAYMENTS BATCH. Prints payments per second and bytes per
// payment.
#include <sqlite3.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "embedded/embedded.h"

namespace {

sqlite3* db = nullptr;

void check(int code) {
  if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
  std::fprintf(stderr, "sqlite: %s\n", sqlite3_errmsg(db));
  std::exit(1);
}

void execute(const std::string& sql) {
  check(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr));
}

/// A prepared statement that binds its parameters and runs in one call.
class Statement {
 public:
  explicit Statement(const char* sql) {
    check(sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr));
  }
  template <class... Args>
  void run(const Args&... args) {
    int index = 0;
    (bind(++index, args), ...);
    check(sqlite3_step(statement_));
    check(sqlite3_reset(statement_));
  }

 private:
  void bind(int index, std::int64_t value) { check(sqlite3_bind_int64(statement_, index, value)); }
  void bind(int index, const std::string& text) {
    check(sqlite3_bind_text(statement_, index, text.data(), static_cast<int>(text.size()),
                            SQLITE_STATIC));
  }
  void bind(int index, const std::array<unsigned char, 16>& id) {
    check(sqlite3_bind_blob(statement_, index, id.data(), 16, SQLITE_STATIC));
  }
  sqlite3_stmt* statement_ = nullptr;
};

/// An ascending ID like UUID version 7, with a random tail.
std::array<unsigned char, 16> id(std::int64_t number) {
  std::array<unsigned char, 16> out{};
  for (std::size_t i = 0; i < 6; ++i) out[i] = static_cast<unsigned char>(number >> (40 - 8 * i));
  sqlite3_randomness(10, out.data() + 6);
  return out;
}

void open(const char* path) {
  check(sqlite3_open(path, &db));
  execute(
      "PRAGMA page_size=2048; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
      "PRAGMA foreign_keys=ON; PRAGMA cache_size=-65536; PRAGMA wal_autocheckpoint=8000;");
  execute(std::string(coffer::embedded::schema_sql()));
  execute(
      "INSERT INTO associations VALUES (1, zeroblob(16), 'a', 1, 0, 0, 1);"
      "INSERT INTO tenants VALUES (3, 1, 0);"
      "INSERT INTO applications (application, id, tenant, environment, name, scopes, client_id,"
      " client_secret_hash, api_key_hash, connect_hash, sign_in_hash, public_key, created_at,"
      " updated_at) VALUES (1, zeroblob(16), 3, 0, 'a', '', 'c', zeroblob(32), zeroblob(32),"
      " zeroblob(32), zeroblob(32), 'p', 0, 0);"
      "INSERT INTO assets VALUES (1, 'USDC', 'G', 'USDC', 7, 0);");
  for (const char* wallet : {"1", "2"}) {
    const std::string n = wallet;
    execute("INSERT INTO wallets VALUES (" + n + ", 3, randomblob(16), 'w', '" + n + "', 'k" + n +
            "', x'00', 1, 1, 1, NULL, NULL, 0, 0);"
            "INSERT INTO accounts VALUES (" +
            n + ", 3, 0, " + n + ", 1, NULL, 1000000000000000, 0, 0);");
  }
}

struct Statements {
  Statement replay{"SELECT payment FROM payments WHERE tenant = 3 AND transaction_id = ?"};
  Statement payment{
      "INSERT INTO payments (payment, tenant, id, transaction_id, application, request_id, type,"
      " status, source_wallet, destination_wallet, sending_asset, sending_amount, settle_at,"
      " created_at) VALUES (?, 3, ?, ?, 1, ?, 0, 0, ?, ?, 1, 12500000, ?, ?)"};
  Statement event{
      "INSERT INTO events (tenant, sequence, type, payment, version, at) VALUES (3, ?, ?, ?, ?, "
      "?)"};
  Statement status{
      "UPDATE payments SET status = ?2, version = version + 1,"
      " updated_after = ?3 - created_at, settle_at = NULL, processing_after = ?3 - created_at,"
      " completed_after = ?3 - created_at WHERE payment = ?1"};
  Statement journal{
      "INSERT INTO journal (journal, tenant, kind, payment, at, link)"
      " VALUES (?, 3, 0, ?, ?, randomblob(32))"};
  Statement entry{
      "INSERT INTO entries (entry, account, amount, balance_after, counterparty, leg)"
      " VALUES (?, ?, ?, ?, ?, 0)"};
  Statement balance{"UPDATE accounts SET balance = ?, held = ? WHERE account = ?"};
};

void add_event(Statements& s, std::int64_t& sequence, std::int64_t type, std::int64_t payment,
               std::int64_t version, std::int64_t at) {
  ++sequence;
  s.event.run(sequence, type, payment, version, at);
}

void accept(Statements& s, std::int64_t n, std::int64_t& sequence) {
  const std::string transaction_id =
      "run-" + std::to_string(n * 7919 % 1'000'003) + "-" + std::to_string(n);
  const std::string request_id = "01a1fca7-9dff-72b1-8d9a-7a7fbb246b0d";
  s.replay.run(transaction_id);
  s.payment.run(n, id(n), transaction_id, request_id, n % 2 + 1, (n + 1) % 2 + 1, n, n);
  add_event(s, sequence, std::int64_t{0}, n, std::int64_t{1}, n);
}

void settle(Statements& s, std::int64_t n, std::int64_t& sequence) {
  s.status.run(n, std::int64_t{1}, n);
  add_event(s, sequence, std::int64_t{1}, n, std::int64_t{2}, n);
  s.entry.run(n * 1024, n % 2 + 1, std::int64_t{-12500000}, std::int64_t{1}, (n + 1) % 2 + 1);
  s.entry.run(n * 1024 + 1, (n + 1) % 2 + 1, std::int64_t{12500000}, std::int64_t{1}, n % 2 + 1);
  s.journal.run(n, n, n);
  s.status.run(n, std::int64_t{2}, n);
  add_event(s, sequence, std::int64_t{2}, n, std::int64_t{3}, n);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::int64_t payments = std::atoll(argv[2]);
  const std::int64_t batch = std::atoll(argv[3]);
  open(argv[1]);
  Statements s;
  std::int64_t sequence = 0;
  const auto start = std::chrono::steady_clock::now();
  // Like coffer under load: while one batch is accepted, the previous one is settled.
  for (std::int64_t first = 1; first <= payments + batch; first += batch) {
    execute("BEGIN IMMEDIATE");
    for (std::int64_t n = first; n < first + batch && n <= payments; ++n) accept(s, n, sequence);
    for (std::int64_t n = first - batch; n < first; ++n) {
      if (n >= 1 && n <= payments) settle(s, n, sequence);
    }
    for (std::int64_t account : {1, 2})
      s.balance.run(std::int64_t{1000000000000000}, std::int64_t{0}, account);
    execute("COMMIT");
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  execute("PRAGMA wal_checkpoint(TRUNCATE)");
  std::printf(
      "%.0f %.0f\n", static_cast<double>(payments) / took.count(),
      static_cast<double>(std::filesystem::file_size(argv[1])) / static_cast<double>(payments));
}
