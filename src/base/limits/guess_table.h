// Counts wrong secrets and computes how long the next attempt from a source, or on an account, must
// wait (docs/contract.md#guessing).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <string_view>
#include <unordered_map>

#include "base/digest.h"
#include "base/mutex.h"

namespace coffer {

/// The damage that a correct guess would do. A full table forgets entries of lower weight first.
enum class GuessWeight {
  machine,        // 256 random bits: cannot be guessed
  password,       // chosen by a person
  second_factor,  // the password was correct; only six digits remain
};

/// How failures become a delay: the first `free` failures cause none, the next causes `first_ms`,
/// and each further one doubles it up to `longest_ms`.
struct GuessRule {
  GuessWeight weight = GuessWeight::machine;
  int free = 3;
  std::int64_t first_ms = 1'000;
  std::int64_t longest_ms = 60'000;
  std::int64_t memory_ms = 15 * 60'000;  // failures are forgotten after this time without a new one
};

/// Thread-safe. Times are monotonic milliseconds. Memory is bounded: a full table forgets the entry
/// with the lowest weight; among those, the one with the fewest failures; among those, the oldest.
/// A flood of new keys therefore never clears the record of a persistent guesser. Only digests of
/// keys are stored.
class GuessTable {
 public:
  static constexpr std::size_t kEntriesMax = 65'536;

  explicit GuessTable(std::size_t entries_max = kEntriesMax) : entries_max_(entries_max) {}

  /// Milliseconds until the next attempt of this key; 0: now.
  std::int64_t wait_ms(std::string_view key, std::int64_t now_ms);
  void failed(std::string_view key, const GuessRule& rule, std::int64_t now_ms);
  void succeeded(std::string_view key);
  std::size_t size();

 private:
  struct Entry {
    Sha256 key{};
    std::size_t level = 0;
    int failures = 0;
    std::int64_t last_ms = 0;
    std::int64_t delay_ms = 0;
    std::int64_t memory_ms = 0;
  };
  struct DigestHash {
    std::size_t operator()(const Sha256& digest) const;
  };
  using Entries = std::list<Entry>;

  static constexpr std::size_t kLevelsPerWeight = 8;
  static constexpr std::size_t kLevels = 3 * kLevelsPerWeight;

  Entries::iterator find(const Sha256& key, std::int64_t now_ms) COFFER_REQUIRES(mutex_);
  void forget(Entries::iterator entry) COFFER_REQUIRES(mutex_);
  void forget_least_dangerous() COFFER_REQUIRES(mutex_);

  const std::size_t entries_max_;
  Mutex mutex_;
  /// By danger, the lowest first; within a level, the oldest first.
  std::array<Entries, kLevels> levels_ COFFER_GUARDED_BY(mutex_);
  Entries none_ COFFER_GUARDED_BY(mutex_);  // its end() marks an unknown key
  std::unordered_map<Sha256, Entries::iterator, DigestHash> index_ COFFER_GUARDED_BY(mutex_);
};

}  // namespace coffer
