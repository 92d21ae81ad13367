#include "store/file/reader_pools.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/fibers/work_value.h"
#include "base/telemetry/log.h"
#include "store/file/held_file.h"

namespace coffer::store {
namespace {

constexpr const char* kBegin = "BEGIN";
constexpr const char* kRollback = "ROLLBACK";
constexpr std::int64_t kLookAgainMs = 50;
constexpr std::int64_t kGateLookMs = 1;
constexpr std::int64_t kBriefPauseMs = 10;

static_assert(in_enum_order(kReaders, &ReadersKind::pool));

// Uses the machine's clock, because a pause must end even if the clock of the records does not
// advance.
std::int64_t machine_ms() { return SystemClock().monotonic_ms(); }

const ReadersKind& kind_of(Readers pool) { return kReaders[static_cast<std::size_t>(pool)]; }

std::unique_ptr<Connection> open_reader(const std::string& path, int cache_kib) {
  auto connection = std::make_unique<Connection>(path, OpenMode::read_write);
  connection->execute(
      "PRAGMA busy_timeout=1000; PRAGMA query_only=ON; PRAGMA wal_autocheckpoint=0;"
      "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0;"
      "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-" +
      std::to_string(cache_kib));
  connection->keep_log_on_close();
  return connection;
}

/// Interrupts the statements of leased readers for which `fits` returns true, by kind and slot.
template <class Pools, class Fits>
void interrupt(Pools& pools, const Fits& fits) {
  for (std::size_t i = 0; i < pools.size(); ++i) {
    for (auto& slot : pools[i].slots) {
      const bool is_reading = slot.leased && !slot.ending && slot.connection != nullptr;
      if (is_reading && fits(kReaders[i], slot)) slot.connection->interrupt();
    }
  }
}

}  // namespace

ReadersScope::ReadersScope(Readers pool)
    : before_(std::exchange(work_value(WorkValue::readers), static_cast<std::uintptr_t>(pool))) {}
ReadersScope::~ReadersScope() { work_value(WorkValue::readers) = before_; }
Readers ReadersScope::current() { return static_cast<Readers>(work_value(WorkValue::readers)); }

Reader::Reader(ReaderPools& owner, Readers pool, std::size_t slot, Connection& connection)
    : owner_(&owner), pool_(pool), slot_(slot), connection_(&connection) {}
Reader::Reader(Reader&& other) noexcept
    : owner_(other.owner_), pool_(other.pool_), slot_(other.slot_), connection_(other.connection_) {
  other.owner_ = nullptr;
}
Reader::~Reader() {
  if (owner_ != nullptr) owner_->give_back(pool_, slot_);
}

ReaderPools::ReaderPools(ReaderPoolsOptions options, const HeldFile& file, const Clock& clock)
    : options_(std::move(options)), file_(file), clock_(clock) {
  const Lock lock(mutex_);
  for (const ReadersKind& kind : kReaders) {
    const int size = kind.pool == Readers::read ? options_.readers : kind.size;
    pool_of(kind.pool).slots.resize(static_cast<std::size_t>(size));
  }
  const ReadersKind& first = kind_of(Readers::read);
  pool_of(first.pool).slots.front().connection = open_reader(options_.path, first.cache_kib);
}

ReaderPools::Pool& ReaderPools::pool_of(Readers pool) {
  return pools_[static_cast<std::size_t>(pool)];
}

/// The lowest free slot, because a few used connections have warmer page caches.
bool ReaderPools::lease(Pool& pool, std::size_t& slot) {
  for (std::size_t i = 0; i < pool.slots.size(); ++i) {
    if (pool.slots[i].leased) continue;
    pool.slots[i].leased = true;
    pool.slots[i].since_ms = clock_.monotonic_ms();
    slot = i;
    return true;
  }
  return false;
}

/// Opens the connection of a leased slot if necessary, and its transaction. Called without the
/// lock, so that other pools do not wait.
Result<Connection*> ReaderPools::begin(const ReadersKind& kind, std::size_t slot) {
  Connection* connection = nullptr;
  MakeKeys keys;
  {
    const Lock lock(mutex_);
    connection = pool_of(kind.pool).slots[slot].connection.get();
    if (connection == nullptr || keys_of(*connection) == nullptr) keys = keys_;
  }
  try {
    if (connection == nullptr) {
      // Opening another file at the path could also delete the log that the writer uses.
      if (!file_.in_place()) return unexpected(overloaded(kMovedFile));
      auto opened = open_reader(options_.path, kind.cache_kib);
      connection = opened.get();
      const Lock lock(mutex_);
      pool_of(kind.pool).slots[slot].connection = std::move(opened);
    }
    if (keys) store::use_keys(*connection, keys());
    connection->run(kBegin);
    return connection;
  } catch (const SqlError& error) {
    log_warning("store", "cannot open a reader", {{"pool", kind.name}, {"error", error.what()}});
    close(kind.pool, slot);
    return unexpected(overloaded("No further connection to the database can be opened."));
  }
}

void ReaderPools::use_keys(MakeKeys keys) {
  const Lock lock(mutex_);
  keys_ = std::move(keys);
}

Result<Reader> ReaderPools::take() {
  const ReadersKind& kind = kind_of(ReadersScope::current());
  const std::int64_t wait_ms = std::min(kind.wait_ms, options_.wait_ms);
  const std::int64_t give_up = clock_.monotonic_ms() + wait_ms;
  for (int waits = 0;; ++waits) {
    std::size_t slot = 0;
    bool leased = false;
    {
      const Lock lock(mutex_);
      while (held_up(kind)) pool_of(kind.pool).freed.wait_for_ms(mutex_, kGateLookMs);
      Pool& pool = pool_of(kind.pool);
      leased = lease(pool, slot);
      // The count ends the wait even if the clock does not advance.
      const bool over = clock_.monotonic_ms() >= give_up || waits >= wait_ms / kLookAgainMs;
      if (!leased && over) {
        ++pool.rejected;
        break;
      }
      if (!leased) pool.freed.wait_for_ms(mutex_, kLookAgainMs);
    }
    if (!leased) continue;
    const auto connection = begin(kind, slot);
    if (connection) return Reader(*this, kind.pool, slot, **connection);
    free_slot(kind.pool, slot);
    return unexpected(connection.error());
  }
  return unexpected(overloaded("Too many reads are in progress."));
}

void ReaderPools::give_back(Readers pool, std::size_t slot) {
  Connection* connection = nullptr;
  {
    const Lock lock(mutex_);
    Slot& given = pool_of(pool).slots[slot];
    given.ending = true;
    connection = given.connection.get();
  }
  try {
    if (!connection->autocommit()) connection->run(kRollback);
  } catch (const SqlError& error) {
    log_error("store", "a reader did not end its transaction", {{"error", error.what()}});
    close(pool, slot);
  }
  free_slot(pool, slot);
}

/// Closes a connection that may still be in a transaction, which would prevent the write-ahead log
/// from restarting and a new transaction from starting. The next lease opens another connection.
void ReaderPools::close(Readers pool, std::size_t slot) {
  std::unique_ptr<Connection> closed;
  const Lock lock(mutex_);
  closed = std::move(pool_of(pool).slots[slot].connection);
}

void ReaderPools::free_slot(Readers pool, std::size_t slot) {
  const Lock lock(mutex_);
  Slot& freed = pool_of(pool).slots[slot];
  freed.leased = freed.ending = false;
  pool_of(pool).freed.notify_one();
}

void ReaderPools::interrupt_stale() {
  const Lock lock(mutex_);
  const std::int64_t born_before_ms = clock_.monotonic_ms() - options_.age_max_ms;
  interrupt(pools_, [&](const auto&, const auto& slot) { return slot.since_ms < born_before_ms; });
}

int ReaderPools::close_idle() {
  std::vector<std::unique_ptr<Connection>> closed;  // destroyed after the lock is released
  const Lock lock(mutex_);
  const std::int64_t used_before_ms = clock_.monotonic_ms() - kIdleMaxMs;
  for (const ReadersKind& kind : kReaders) {
    if (kind.kept) continue;
    for (Slot& slot : pool_of(kind.pool).slots) {
      if (slot.leased || slot.connection == nullptr || slot.since_ms >= used_before_ms) continue;
      closed.push_back(std::move(slot.connection));
    }
  }
  return static_cast<int>(closed.size());
}

void ReaderPools::interrupt_long() {
  const Lock lock(mutex_);
  interrupt(pools_, [](const ReadersKind& kind, const auto&) { return !kind.brief; });
}

bool ReaderPools::held_up(const ReadersKind& kind) const {
  const std::int64_t until_ms = closed_until_ms_[kind.brief ? 1 : 0];
  return until_ms != 0 && machine_ms() < until_ms;
}

int ReaderPools::leased(bool brief) const {
  int count = 0;
  for (const ReadersKind& kind : kReaders) {
    if (kind.brief != brief) continue;
    const auto& slots = pools_[static_cast<std::size_t>(kind.pool)].slots;
    count += static_cast<int>(
        std::ranges::count_if(slots, [](const Slot& slot) { return slot.leased; }));
  }
  return count;
}

void ReaderPools::close_gate(std::int64_t until_ms) {
  const Lock lock(mutex_);
  closed_until_ms_ = {until_ms, 0};
}

bool ReaderPools::drained() {
  const Lock lock(mutex_);
  if (leased(false) > 0) return false;
  if (closed_until_ms_[1] == 0) closed_until_ms_[1] = machine_ms() + kBriefPauseMs;
  return leased(true) == 0;
}

void ReaderPools::open_gate() {
  const Lock lock(mutex_);
  closed_until_ms_ = {0, 0};
  for (Pool& pool : pools_) pool.freed.notify_all();
}

std::vector<ReaderStats> ReaderPools::stats() const {
  const Lock lock(mutex_);
  std::vector<ReaderStats> out;
  for (const ReadersKind& kind : kReaders) {
    const Pool& pool = pools_[static_cast<std::size_t>(kind.pool)];
    ReaderStats stats{kind.name, 0, static_cast<int>(pool.slots.size()), pool.rejected};
    for (const Slot& slot : pool.slots) stats.leased += slot.leased ? 1 : 0;
    out.push_back(stats);
  }
  return out;
}

}  // namespace coffer::store
