// The state of the simulated provider: payouts, collections, refunds, references, payments and
// callbacks.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "provider_sim/state_file.h"

namespace coffer::provider_sim {

/// A report for coffer.
struct Callback {
  std::string id;
  std::string connector_id;
  std::string type;  // payout.updated, payout.returned, collection.updated, refund.updated, ...
  Json data;
};

enum class Kind { payout, collection, refund };
inline constexpr std::array kKinds = {Kind::payout, Kind::collection, Kind::refund};
std::string_view word_of(Kind kind);
/// The last four digits of the account, which select the outcome; those of the payout with the same
/// outcome as a refund. 0 without an account.
int digits_of(Kind kind, const Json& body);

/// The state of a payout, collection or refund follows from its request and age, according to the
/// last four digits of the account (outbound/providers/sandbox_connector.h), unless the operator
/// has decided otherwise. Returned objects have the format of the provider protocol. Thread-safe.
class SimulatorState {
 public:
  /// `delay_ms` is the time that a payout or collection stays pending.
  SimulatorState(const Clock& clock, Random& ids, int delay_ms)
      : clock_(clock), ids_(ids), delay_ms_(delay_ms) {}

  /// Loads the content of this file, and stores all further changes in it.
  Result<void> open(const std::string& path);

  enum class Placed { created, repeated, conflict };
  struct Placing {
    Placed placed = Placed::created;
    Json object;
  };
  /// Creates a payout, collection or refund, or returns the existing one; `conflict` if its content
  /// differs. `body` has been checked.
  Placing place(Kind kind, const Json& body);
  /// nullopt if it never arrived.
  std::optional<Json> find(Kind kind, const std::string& id) const;
  /// Payouts or others in order of arrival, after the one with the ID `after`.
  std::vector<Json> list(Kind kind, const std::string& after, std::size_t limit) const;

  /// Cancels a payout or expires a collection, including one that never arrived. An accepted or
  /// paid one is not changed. Returns its state.
  Json close(Kind kind, const std::string& id);
  /// The operator's decision about a pending payout, collection or refund.
  struct Decision {
    std::string status;          // final
    std::string code = {};       // of a failure
    std::string collected = {};  // of a collection; empty: the requested amount
  };
  /// False if it does not exist or is already final.
  bool decide(Kind kind, const std::string& id, const Decision& decision);

  /// Stores an issued reference, so that it can be paid.
  void note_reference(const std::string& reference, const Json& ask);
  /// Simulates a customer payment on a reference. Returns the data of the callback, or nullopt if
  /// the reference does not exist.
  std::optional<Json> pay(const std::string& reference, const std::string& amount,
                          const Json& payer);

  /// Simulates that the bank sends a payout back, in whole or, with `amount` in `request`, in part.
  /// Returns the data of the callback, or nullopt if the payout has not succeeded.
  std::optional<Json> send_back(const std::string& payout, const Json& request);

  /// Callbacks that are due and not delivered yet.
  std::vector<Callback> due() const;
  void delivered(const std::string& callback_id);
  /// When the next payout or collection becomes final automatically.
  std::optional<Timestamp> next_change() const;

  /// How often this process received the ID; 0 for an unknown ID.
  int submissions(const std::string& id) const;

 private:
  struct Entry {
    std::string id;
    Json body;  // null: closed before it arrived
    Timestamp at;
    std::string callback_id;  // of its one callback
    std::string verdict;      // a decided status; empty: by age
    std::string code;         // of a decided failure
    std::string collected;    // amount of a decided collection, if it differs from the request
    bool told = false;
    int submissions = 0;
    std::optional<Timestamp> ends_at(Kind kind, int delay_ms) const;
    std::string received() const;
  };
  struct Standing {
    std::string status;
    std::string code = {};
    std::string refund = {};
    bool rejected = false;  // never accepted
    std::string collected = {};
  };
  using Entries = std::vector<Entry>;
  struct EntryTable {
    Entries entries;
    std::map<std::string, std::size_t> by_id;
    Entry* find(const std::string& id);
    const Entry* find(const std::string& id) const;
  };

  Standing standing(Kind kind, const Entry& entry, Timestamp now) const;
  Json object_of(Kind kind, const Entry& entry, Timestamp now) const;
  const EntryTable& table(Kind kind) const COFFER_REQUIRES(mutex_);
  EntryTable& table(Kind kind) COFFER_REQUIRES(mutex_);
  void record(const Json& event) COFFER_REQUIRES(mutex_);
  void announce(const Json& connector, std::string_view type, const Json& data)
      COFFER_REQUIRES(mutex_);
  void apply(const Json& event) COFFER_REQUIRES(mutex_);

  const Clock& clock_;
  Random& ids_;
  const int delay_ms_;
  mutable Mutex mutex_;
  StateFile file_ COFFER_GUARDED_BY(mutex_);
  std::array<EntryTable, kKinds.size()> tables_ COFFER_GUARDED_BY(mutex_);
  std::map<std::string, Json> references_ COFFER_GUARDED_BY(mutex_);
  std::vector<Callback> payments_ COFFER_GUARDED_BY(mutex_);
};

}  // namespace coffer::provider_sim
