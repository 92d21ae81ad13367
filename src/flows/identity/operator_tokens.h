// Tokens of operators' programs (docs/operating.md#tokens-for-programs). A program is an operator
// without a password: it has a name, a role and requests for approval, but it cannot sign in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/strong.h"
#include "flows/context.h"
#include "flows/identity/sign_in_guard.h"
#include "store/identity/operators.h"

namespace coffer::flows {

inline constexpr std::int64_t kTokenLifetimeMaxMs = 366 * kDayMs;

struct NewOperatorToken {
  std::string name;  // of the program, as typed
  OperatorRole role = OperatorRole::viewer;
  std::string commands;               // separated by commas; the caller has checked them
  std::vector<std::string> networks;  // empty: any
  Timestamp expires_at;
};

struct OperatorToken {
  store::OperatorRow program;
  store::OperatorTokenRow token;
};

/// `by` is recorded as the operator whose approvals do not count for the program. Returns the
/// secret, which is shown once. `validation-failed` (name, networks, expires), `conflict` (name
/// taken).
Result<Secret> create_operator_token(const Context& context, const NewOperatorToken& fresh,
                                     const Actor& by);
/// All tokens with their programs, in the order of creation.
Result<std::vector<OperatorToken>> list_operator_tokens(const Context& context);
/// The program of a token as it may act now, with at most the role that the token's creator has;
/// nullopt if the token has ended, or the program or the creator is suspended.
std::optional<store::OperatorRow> acting_program(store::Connection& db,
                                                 const store::OperatorTokenRow& token,
                                                 Timestamp now);
/// Ends a token, and the program's requests for approval. `not-found`.
Result<void> end_operator_token(const Context& context, const std::string& name);

/// The program of a secret, with at most the role that the token's creator has now, and notes the
/// use. `unauthorized` if the token is unknown, expired or ended, or its program or creator is
/// suspended; `rate-limited` after too many unknown secrets from one source; `forbidden` from
/// another network.
Result<OperatorToken> use_operator_token(const Context& context, const std::string& secret,
                                         const SignInSource& source);

}  // namespace coffer::flows
