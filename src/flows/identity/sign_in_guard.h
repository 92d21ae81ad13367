// Limits guesses of passwords and one-time codes (docs/contract.md#guessing) per source, per source
// and name, and per account. The limits of an account do not apply to a source from which its owner
// has signed in before, so attackers cannot lock the owner out.
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
  std::string address;  // numeric; for the audit log
  std::string network;  // IPv4 address or IPv6 /64; attempts are counted by it
};

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

  /// `person` is the account of this name, if it exists.
  SignInGuard(const Context& context, Kind kind, std::string_view name, std::optional<Uuid> person,
              const SignInSource& source);

  /// `rate-limited` while this attempt must wait, even with the right secrets.
  Result<void> admit() const;
  void wrong_password() const;
  /// Reports a wrong code after the right password in the log and the metrics. The caller adds the
  /// audit entry.
  void wrong_second_factor() const;
  void right() const;

 private:
  const Context& context_;
  std::string_view kind_;
  std::string name_;
  std::string address_;
  std::string source_;  // keys of the table
  std::string pair_;
  std::string account_;
  std::string factor_;
  bool known_ = false;  // whether the owner has signed in from this source before
};

/// Whether an attempt without an account may be recorded. They are limited, because anyone could
/// fill the audit log with them.
bool may_record_stranger(const Context& context);

/// The response to a wrong secret that names no account: `problem`, or `rate-limited` after too
/// many of this kind from the source. Records the attempt in the audit log.
Problem reject_stranger(const Context& context, const std::string& kind, const std::string& command,
                        const std::string& reason, const Problem& problem,
                        const SignInSource& source);

}  // namespace coffer::flows
