// Limits guesses of passwords and one-time codes (docs/contract.md#guessing) per source, per source
// and name, and per account. The limits of a source and of an account do not apply to a source or a
// browser with which the owner has signed in before, so attackers cannot lock the owner out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/uuid.h"
#include "flows/context.h"

namespace coffer::flows {

/// The source of an attempt.
struct SignInSource {
  std::string address;       // numeric; for the audit log
  std::string network;       // IPv4 address or IPv6 /64; attempts are counted by it
  std::string browser = {};  // the text of known_browser() that the browser returned, if any
};

/// The account that an attempt names.
struct GuardedAccount {
  Uuid id;
  std::int64_t version = 0;  // of its credentials
};

/// A text by which a browser proves that it has signed in with this account before. It grants no
/// access. Other credentials invalidate it. Safe in a cookie.
std::string known_browser(const Context& context, const GuardedAccount& account);

/// `rate-limited`, with a Retry-After of `wait_ms`.
Problem too_many_failures(std::int64_t wait_ms);

/// The keys under which wrong secrets of applications are counted. Such a secret has 256 random
/// bits and cannot be guessed, so these counts never reject a correct one.
struct SecretKeys {
  std::string source;      // IPv4 address or IPv6 /64
  std::string named = {};  // the source combined with the client, key or account in the request
  int source_free = 10;    // failures of a source without a delay, because clients may share it
};
/// Counts a wrong secret and returns `problem`, or returns `rate-limited` while the source must
/// wait.
Problem reject_wrong_secret(const Context& context, const SecretKeys& keys, Problem problem);

/// One sign-in attempt. Requires `context.guesses`.
class SignInGuard {
 public:
  enum class Kind { operator_, user };

  /// `account` is the account of this name, if it exists.
  SignInGuard(const Context& context, Kind kind, std::string_view name,
              const std::optional<GuardedAccount>& account, const SignInSource& source);

  /// `rate-limited` while this attempt must wait, even with the right secrets.
  Result<void> admit() const;
  /// Counts a wrong password. Returns the response: `problem`, or `rate-limited` if the source has
  /// failed too often. From such a source, only the first attempt on each account is checked.
  Problem wrong_password(Problem problem) const;
  /// The same for a wrong code after the right password, which is also reported in the log and the
  /// metrics. The caller adds the audit entry.
  Problem wrong_second_factor(Problem problem) const;
  void right() const;

 private:
  Problem count_failure(Problem problem) const;

  const Context& context_;
  std::string_view kind_;
  std::string name_;
  std::string address_;
  std::string source_;  // keys of the table
  std::string flood_;
  std::string pair_;
  std::string last_;
  std::string account_;
  std::string factor_;
  bool known_ = false;  // whether the owner has signed in with this source or browser before
};

/// Whether an attempt without an account may be recorded. They are limited, because anyone could
/// fill the audit log with them.
bool may_record_unidentified(const Context& context);

/// The response to a wrong secret that names no account: `problem`, or `rate-limited` after too
/// many of this kind from the source. Records the attempt in the audit log.
Problem reject_unidentified(const Context& context, const std::string& kind,
                            const std::string& command, const std::string& reason,
                            const Problem& problem, const SignInSource& source);

}  // namespace coffer::flows
