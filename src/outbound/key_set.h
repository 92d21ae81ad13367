// The document with an external issuer's signing keys (a JWK set), from a file or over HTTPS, kept
// in memory. Says nothing about what is in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/worker_thread.h"
#include "http/client.h"
#include "outbound/resolver.h"
#include "outbound/wire/slots.h"

namespace coffer::outbound {

struct KeyDocument {
  std::string text;
  std::uint64_t version = 0;  // rises with every new text, from 1
};

/// Thread safe. A file is read again when it changed. An address is asked again after ten minutes,
/// beside the requests, which go on with the copy; when that fails, the copy stays good for a day,
/// because an issuer's short outage must not lock everybody out. There is one fetch at a time.
/// Without a copy, or without the key that is needed, at most kWaitingMax callers wait for it, and
/// a failure is the answer of the next kAskAgainWithoutCopyMs.
class KeySet {
 public:
  static constexpr int kWaitingMax = 4;
  static constexpr std::int64_t kAskAgainWithoutCopyMs = 10'000;
  static constexpr std::int64_t kAskAgainMs = 30'000;

  enum class Need {
    usual,
    other_key,  // the copy does not have the key: ask anew, but not every 30 s more than once
  };

  /// `source` has passed check_key_source(). `client` and `resolver` outlive this.
  KeySet(std::string source, int timeout_ms, const Clock& clock, http::Client& client,
         Resolver& resolver);
  /// Waits for the end of a fetch in progress.
  ~KeySet() = default;

  /// `token-verification-timeout` when there is no copy and none could be had in time.
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
  WorkerThread fetcher_;  // last: starts when everything above is there
};

/// What is wrong with the setting, or empty: an address has to be https (http only to a loopback
/// address, for tests), anything else is the path of a file that can be read.
std::string check_key_source(const std::string& source);

}  // namespace coffer::outbound
