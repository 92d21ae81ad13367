// Passwords and one-time codes of people (docs/contract.md#guessing): limited by source, by source
// and name, and by account. The limits of an account do not bind a source that its owner has signed
// in from before, so strangers cannot lock the owner out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/uuid.h"
#include "flows/context.h"

namespace coffer::flows {

/// Where an attempt comes from.
struct SignInSource {
  std::string address;  // numeric; for the audit log
  std::string network;  // IPv4 address or IPv6 /64; what is counted
};

/// `rate-limited`, with the seconds to wait.
Problem too_many_failures(std::int64_t wait_ms);

/// What a wrong secret of a machine counts against: 256 random bits cannot be guessed, so the
/// right one is never refused because of these.
struct SecretKeys {
  std::string source;      // IPv4 address or IPv6 /64
  std::string named = {};  // the source together with the client, key or account that it names
  int source_free = 10;    // mistakes of a source that cost nothing: clients may share it
};
/// The response to a wrong secret: `problem` itself, which is counted, or `rate-limited` while the
/// source has to wait.
Problem refuse_wrong_secret(const Context& context, const SecretKeys& keys, Problem problem);

/// One attempt. `context.guesses` is set.
class SignInGuard {
 public:
  enum class Kind { operator_, user };

  /// `person` is the account of this name, if it exists.
  SignInGuard(const Context& context, Kind kind, std::string_view name, std::optional<Uuid> person,
              const SignInSource& source);

  /// `rate-limited` while this attempt has to wait, whatever its secrets are.
  Result<void> admit() const;
  void wrong_password() const;
  /// The password was right: raises the alarm (log, metric). The caller adds the audit entry.
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
  bool known_ = false;  // the owner has signed in from this source before
};

/// Attempts that name no account: one entry for each would let strangers fill the audit log.
bool may_record_stranger(const Context& context);

}  // namespace coffer::flows
