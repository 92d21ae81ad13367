// Randomness as a constructor argument (`Random&`), so that a seed reproduces a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/uuid.h"

namespace coffer {

/// Implementations are thread-safe.
class Random {
 public:
  virtual ~Random() = default;
  virtual void fill(std::span<std::uint8_t> out) = 0;

  std::uint64_t next_u64();
  /// `count` random bytes.
  std::string bytes(std::size_t count);
  /// Version 7, from `now` and 74 random bits.
  Uuid uuid_v7(Timestamp now);
  template <class IdType>
  IdType id(Timestamp now) {
    return IdType{uuid_v7(now)};
  }
};

/// Creates IDs in ascending order, also within a millisecond (RFC 9562, section 6.2, method 2). Not
/// thread-safe.
class AscendingIds {
 public:
  /// Version 7. Its time is `now`, or the time of the previous ID if that is later.
  Uuid next(Random& random, Timestamp now);

 private:
  Uuid last_;
};

/// The kernel's generator. It reads in blocks, so an ID costs no system call. Suitable for keys.
class OsRandom final : public Random {
 public:
  void fill(std::span<std::uint8_t> out) override;

 private:
  static constexpr std::size_t kBlock = 4096;
  Mutex mutex_;
  std::uint8_t block_[kBlock] COFFER_GUARDED_BY(mutex_) = {};
  std::size_t used_ COFFER_GUARDED_BY(mutex_) = kBlock;
};

/// The same seed gives the same bytes. For tests only; not suitable for keys.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}
  void fill(std::span<std::uint8_t> out) override;

 private:
  Mutex mutex_;
  std::uint64_t state_ COFFER_GUARDED_BY(mutex_);
};

}  // namespace coffer
