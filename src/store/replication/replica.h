// Opens the log of the settings, with everything that a replicated database needs of it.
#pragma once

#include <memory>
#include <string>

#include "base/strong.h"
#include "store/replication/joining.h"
#include "store/replication/postgres_log.h"

namespace coffer::store {

class Replica {
 public:
  /// `root`: 32 bytes derived from the master key, which all machines of
  /// the ledger share, for this purpose only. `address`: where other machines send clients.
  /// `random` must outlive the replica. Problems are for the operator.
  static Result<std::unique_ptr<Replica>> open(LogPlace place, const Secret& root,
                                               const std::string& address, Random& random);
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  /// For a ledger of one machine, whose log goes to an archive.
  static std::unique_ptr<Replica> alone(const Secret& root, Random& random);
  /// The log, for one other thread, which reads it. Lives as long as the replica.
  Result<ReplicaLog*> reader();

  /// May be changed before the database is opened.
  Replication& replication() { return replication_; }

 private:
  Replica(EntryKeys keys, std::unique_ptr<ReplicaLog> log, const std::string& address,
          Random& random);

  const EntryKeys keys_;
  const std::unique_ptr<ReplicaLog> log_;
  std::function<Result<std::unique_ptr<ReplicaLog>>()> open_;  // empty: `log_` is thread-safe
  std::unique_ptr<ReplicaLog> read_;
  Replication replication_;
};

}  // namespace coffer::store
