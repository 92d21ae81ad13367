// Read connections in pools, so that a request waits only for readers of its own kind.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "store/file/chain_keys.h"
#include "store/file/connection.h"

namespace coffer::store {

class HeldFile;

/// The purpose of a read connection. A full pool does not affect other pools. Work without a
/// ReadersScope uses the first pool.
enum class Readers {
  read,
  system,
  money,
  search,
  exports,
  providers,
  delivery,
  notifications,
  verification,
  control
};

struct ReadersKind {
  Readers pool;
  std::string_view name;  // the label in metrics
  int size;               // maximum number of connections; for `read`, the setting `readers`
  int wait_ms;            // waiting time for a free connection; beyond: `overloaded`
  int cache_kib;          // page cache of each connection
  bool brief;             // every read takes less than a millisecond
  bool kept;              // while it is idle, because payments must not depend on opening a file
};
/// In the order of the enum.
inline constexpr std::array<ReadersKind, 10> kReaders{{
    {Readers::read, "read", 4, 2'000, 8'192, false, false},
    {Readers::system, "system", 1, 200, 2'048, true, true},
    {Readers::money, "money", 1, 2'000, 8'192, true, true},
    {Readers::search, "search", 2, 2'000, 8'192, false, false},
    {Readers::exports, "exports", 2, 2'000, 2'048, false, false},
    {Readers::providers, "providers", 1, 2'000, 2'048, true, false},
    {Readers::delivery, "delivery", 1, 2'000, 4'096, true, false},
    {Readers::notifications, "notifications", 1, 2'000, 2'048, true, false},
    {Readers::verification, "verification", 1, 2'000, 4'096, false, false},
    {Readers::control, "control", 2, 2'000, 2'048, false, false},
}};

/// During its lifetime, the current work (base/fibers/work_value.h) takes its readers from `pool`.
/// Scopes nest.
class ReadersScope {
 public:
  explicit ReadersScope(Readers pool);
  ~ReadersScope();
  ReadersScope(const ReadersScope&) = delete;
  ReadersScope& operator=(const ReadersScope&) = delete;
  /// The pool of the current work; `read` outside all scopes.
  static Readers current();

 private:
  std::uintptr_t before_;
};

/// A pool, for metrics.
struct ReaderStats {
  std::string_view pool;
  int leased = 0;
  int size = 0;
  std::uint64_t rejected = 0;  // `overloaded` because no connection became free
};

class ReaderPools;

/// A leased read-only connection in a read transaction. Everything read through one Reader is one
/// consistent state. Belongs to the thread that took it; return it soon.
class Reader {
 public:
  Reader(Reader&& other) noexcept;
  Reader& operator=(Reader&&) = delete;
  ~Reader();
  Connection& db() const { return *connection_; }

 private:
  friend class ReaderPools;
  Reader(ReaderPools& owner, Readers pool, std::size_t slot, Connection& connection);
  ReaderPools* owner_;
  Readers pool_;
  std::size_t slot_;
  Connection* connection_;
};

struct ReaderPoolsOptions {
  std::string path;
  int readers = 4;         // connections of the pool `read`
  int wait_ms = 2'000;     // maximum in every pool
  int age_max_ms = 2'000;  // after this time, the reader's statement is interrupted
};

/// Thread-safe.
class ReaderPools {
 public:
  /// Opens one connection, so that errors appear at once. `file` and `clock` must outlive the
  /// pools. Throws SqlError.
  ReaderPools(ReaderPoolsOptions options, const HeldFile& file, const Clock& clock);
  ReaderPools(const ReaderPools&) = delete;
  ReaderPools& operator=(const ReaderPools&) = delete;

  /// New and present connections get these keys when they are leased.
  void use_keys(MakeKeys keys);
  /// Takes a reader from the pool of the calling thread's scope. `overloaded` if no connection
  /// becomes free in time.
  Result<Reader> take();
  /// Interrupts the statements of readers older than the limit.
  void interrupt_stale();
  /// Closes connections that were not used for kIdleMaxMs, because each one has its own copy of the
  /// schema and a page cache. Returns their number. The next lease opens another one. Some pools
  /// keep theirs (ReadersKind::kept).
  int close_idle();
  static constexpr std::int64_t kIdleMaxMs = 10'000;
  std::vector<ReaderStats> stats() const;

  /// From now on, new readers wait until the gate opens, at most until `until_ms` (the machine's
  /// monotonic time). Readers of brief pools wait only after the long readers have ended.
  void close_gate(std::int64_t until_ms);
  /// Whether no reader is leased. Call it repeatedly while the gate is closed: after the long
  /// readers have ended, the brief pools wait too, for at most 10 ms.
  bool drained();
  void open_gate();
  /// Interrupts the statements of all readers that are not brief.
  void interrupt_long();

 private:
  friend class Reader;
  struct Slot {
    std::unique_ptr<Connection> connection;
    bool leased = false;
    bool ending = false;        // its transaction is ending, so it must not be interrupted any more
    std::int64_t since_ms = 0;  // of the last lease
  };
  struct Pool {
    std::vector<Slot> slots;
    std::uint64_t rejected = 0;
    Condition freed;
  };
  Pool& pool_of(Readers pool) COFFER_REQUIRES(mutex_);
  bool lease(Pool& pool, std::size_t& slot) COFFER_REQUIRES(mutex_);
  bool held_up(const ReadersKind& kind) const COFFER_REQUIRES(mutex_);
  int leased(bool brief) const COFFER_REQUIRES(mutex_);
  Result<Connection*> begin(const ReadersKind& kind, std::size_t slot);
  void give_back(Readers pool, std::size_t slot);
  void close(Readers pool, std::size_t slot);
  void free_slot(Readers pool, std::size_t slot);

  const ReaderPoolsOptions options_;
  const HeldFile& file_;
  const Clock& clock_;
  mutable Mutex mutex_;
  MakeKeys keys_ COFFER_GUARDED_BY(mutex_);
  std::array<Pool, kReaders.size()> pools_ COFFER_GUARDED_BY(mutex_);
  std::array<std::int64_t, 2> closed_until_ms_ COFFER_GUARDED_BY(mutex_) = {};  // long, brief
};

}  // namespace coffer::store
