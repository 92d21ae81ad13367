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

  /// May be changed before the database is opened.
  Replication& replication() { return replication_; }

 private:
  Replica(EntryKeys keys, std::unique_ptr<ReplicaLog> log, const std::string& address,
          Random& random);

  const EntryKeys keys_;
  const std::unique_ptr<ReplicaLog> log_;
  Replication replication_;
};

}  // namespace coffer::store
