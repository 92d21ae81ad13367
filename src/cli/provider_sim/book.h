// What the simulated provider knows: payouts, collections, references, payments and callbacks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "cli/provider_sim/book_file.h"

namespace coffer::cli::provider_sim {

/// Something the other side is to be told.
struct Callback {
  std::string id;
  std::string connector_id;
  std::string type;  // payout.updated, collection.updated, reference.paid
  Json data;
};

enum class Kind { payout, collection };

/// States follow from what was asked for and its age, by the last four digits of the account
/// (outbound/providers/sandbox_connector.h), unless somebody has decided otherwise. Every object
/// that comes out is as the provider protocol shows it. Thread safe.
class Book {
 public:
  /// `delay_ms`: how long a payout or collection stays pending before it ends well or badly.
  Book(const Clock& clock, Random& ids, int delay_ms)
      : clock_(clock), ids_(ids), delay_ms_(delay_ms) {}

  /// Keeps everything in this file, and begins with what is in it.
  Result<void> open(const std::string& path);

  enum class Placed { created, repeated, conflict };
  struct Placing {
    Placed placed = Placed::created;
    Json object;
  };
  /// A new payout or collection, or the one that is there already; `conflict` when it is about
  /// something else. `body` has passed the checks.
  Placing place(Kind kind, const Json& body);
  /// nullopt: never arrived.
  std::optional<Json> find(Kind kind, const std::string& id) const;
  /// Payouts in the order they arrived, after the one named `after`.
  std::vector<Json> payouts(const std::string& after, std::size_t limit) const;

  /// Cancels a payout or expires a collection, also one that never arrived; one that is accepted or
  /// paid stays as it is. Returns its state.
  Json close(Kind kind, const std::string& id);
  /// The operator's decision on one that is pending.
  struct Decision {
    std::string status;          // final
    std::string code = {};       // of a failure
    std::string collected = {};  // of a collection, as it is shown; empty: what was asked for
  };
  /// False if the payout or collection does not exist or is already final.
  bool decide(Kind kind, const std::string& id, const Decision& decision);

  /// Remembers what was issued, so that it can be paid.
  void note_reference(const std::string& reference, const Json& ask);
  /// A customer pays on a reference: the data of the callback, or nullopt if the reference does not
  /// exist.
  std::optional<Json> pay(const std::string& reference, const std::string& amount,
                          const Json& payer);

  /// Callbacks that are due and have not been delivered.
  std::vector<Callback> due() const;
  void delivered(const std::string& callback_id);
  /// When the next payout or collection becomes final automatically.
  std::optional<Timestamp> next_change() const;

  /// How often the id was sent to us; 0 for an unknown one. Since the start of this process.
  int submissions(const std::string& id) const;

 private:
  struct Entry {
    std::string id;
    Json body;  // null: closed before it arrived
    Timestamp at;
    std::string callback_id;  // of its one callback
    std::string verdict;      // a decided status; empty: by age
    std::string code;         // of a decided failure
    std::string
        collected;  // what a decided collection collected, where it is not what was asked for
    bool told = false;
    int submissions = 0;
  };
  struct Standing {
    std::string status;
    std::string code = {};
    std::string refund = {};
    bool refused = false;  // never accepted
    std::string collected = {};
  };
  using Entries = std::vector<Entry>;
  struct Shelf {
    Entries entries;
    std::map<std::string, std::size_t> by_id;
    Entry* find(const std::string& id);
    const Entry* find(const std::string& id) const;
  };

  static int digits_of(Kind kind, const Entry& entry);
  std::optional<Timestamp> ends_at(Kind kind, const Entry& entry) const;
  Standing standing(Kind kind, const Entry& entry, Timestamp now) const;
  static std::string collected_of(const Entry& entry);
  Json object_of(Kind kind, const Entry& entry, Timestamp now) const;
  bool is_owed(Kind kind, const Entry& entry, Timestamp now) const;
  const Shelf& shelf(Kind kind) const COFFER_REQUIRES(mutex_);
  Shelf& shelf(Kind kind) COFFER_REQUIRES(mutex_);
  void record(const Json& event) COFFER_REQUIRES(mutex_);
  void apply(const Json& event) COFFER_REQUIRES(mutex_);

  const Clock& clock_;
  Random& ids_;
  const int delay_ms_;
  mutable Mutex mutex_;
  BookFile file_ COFFER_GUARDED_BY(mutex_);
  Shelf payouts_ COFFER_GUARDED_BY(mutex_);
  Shelf collections_ COFFER_GUARDED_BY(mutex_);
  std::map<std::string, Json> references_ COFFER_GUARDED_BY(mutex_);
  std::vector<Callback> payments_ COFFER_GUARDED_BY(mutex_);
};

}  // namespace coffer::cli::provider_sim
