// The document with an external issuer's signing keys (a JWK set), from a file or over HTTPS, kept
// in memory. This class does not interpret the content.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/telemetry/worker_thread.h"
#include "http/client.h"
#include "outbound/wire/resolver.h"
#include "outbound/wire/slots.h"

namespace coffer::outbound {

struct KeyDocument {
  std::string text;
  std::uint64_t version = 0;  // starts at 1 and increases with each new text
};

/// Thread-safe. A changed file is read again. A URL is fetched again after ten minutes in the
/// background, while requests use the present copy. If the fetch fails, the copy stays valid for a
/// day, because a short outage of the issuer must not lock out all users. Only one fetch runs at a
/// time. Without a copy, or without the required key, at most kWaitingMax callers wait for it;
/// after a failure, calls fail immediately for kAskAgainWithoutCopyMs.
class KeySet {
 public:
  static constexpr int kWaitingMax = 4;
  static constexpr std::int64_t kAskAgainWithoutCopyMs = 10'000;
  static constexpr std::int64_t kAskAgainMs = 30'000;

  enum class Need {
    usual,
    other_key,  // the copy does not have the key: fetch again, at most every 30 s
  };

  /// `source` has passed check_key_source(). `client` and `resolver` must outlive this object.
  KeySet(std::string source, int timeout_ms, const Clock& clock, http::Client& client,
         Resolver& resolver);
  /// Waits for the end of a fetch in progress.
  ~KeySet() = default;

  /// `token-verification-timeout` if there is no copy and none could be fetched in time.
  Result<KeyDocument> read(Need need);

 private:
  Result<KeyDocument> read_file() COFFER_REQUIRES(mutex_);
  bool is_due(Need need, std::int64_t now_ms) const COFFER_REQUIRES(mutex_);
  bool has_copy(std::int64_t now_ms) const COFFER_REQUIRES(mutex_);
  void wait_for_fetch() COFFER_REQUIRES(mutex_);
  std::int64_t step();
  Result<KeyDocument> copy(std::int64_t now_ms) const COFFER_REQUIRES(mutex_);
  void keep(std::string text) COFFER_REQUIRES(mutex_);
  Result<std::string> fetch() const;

  const std::string source_;
  const bool remote_;
  const int timeout_ms_;
  const Clock& clock_;
  http::Client& client_;
  Resolver& resolver_;
  Mutex mutex_;
  Condition fetched_;
  KeyDocument document_ COFFER_GUARDED_BY(mutex_);
  std::string stamp_ COFFER_GUARDED_BY(mutex_);  // of the file that was read
  bool fetching_ COFFER_GUARDED_BY(mutex_) = false;
  std::int64_t fetched_ms_ COFFER_GUARDED_BY(mutex_) = 0;
  std::optional<std::int64_t> asked_ms_ COFFER_GUARDED_BY(mutex_);
  Slots waiting_{kWaitingMax};
  WorkerThread fetcher_;  // last member: starts when all others are initialised
};

/// The error in the setting, or an empty text. A URL must have https (http only for a loopback
/// address, for tests); anything else is the path of a readable file.
std::string check_key_source(const std::string& source);

}  // namespace coffer::outbound
