// Passkeys of operators: adding, using, listing and removing them. After the password, a passkey is
// a second factor. Alone, it signs in if the authenticator verified the user (PIN, fingerprint).
#pragma once

#include <string>
#include <vector>

#include "auth/passkeys/passkey.h"
#include "flows/context.h"
#include "flows/identity/operator_sessions.h"
#include "flows/identity/sign_in_guard.h"
#include "store/identity/operators.h"
#include "store/identity/passkeys.h"

namespace coffer::flows {

inline constexpr std::size_t kPasskeysMax = 20;  // per operator

/// Where a passkey is used: the page, and the browser for which challenges were issued.
struct PasskeyPlace {
  auth::RelyingParty party;
  SignInChallenges& challenges;
  std::string browser;  // secret of the sign-in attempt or of the session
};

/// The purpose of a challenge. A challenge is valid for one purpose only.
enum class PasskeyPurpose { alone, after_password, step_up, create };
/// Returns raw bytes. `row` is required for every purpose except `alone`.
std::string issue_passkey_challenge(const Context& context, const PasskeyPlace& place,
                                    PasskeyPurpose purpose, const store::OperatorRow* row);

/// A signature of one of the operator's passkeys, and where it was made.
struct PasskeyProof {
  auth::PasskeyAssertion assertion;
  PasskeyPlace place;
};

struct CheckedPasskey {
  store::PasskeyRow row;
  std::uint32_t sign_count = 0;
};
/// Marks the challenge as used. `unauthorized` contains the reason, for the audit log.
Result<CheckedPasskey> check_passkey(const Context& context, const PasskeyProof& proof,
                                     PasskeyPurpose purpose, const store::OperatorRow& row);
/// Stores the use. `unauthorized`, with the reason, if the passkey was removed or its counter went
/// back.
Result<void> use_passkey(store::WriteTx& tx, const CheckedPasskey& checked);

/// Signs in with a passkey alone, or after the password if the challenge was issued for that.
/// `unauthorized` does not reveal the cause. `rate-limited` after too many failed attempts of a
/// source, which never rejects a valid passkey.
Result<store::OperatorRow> sign_in_with_passkey(const Context& context, const PasskeyProof& proof,
                                                const SignInSource& source);

struct AddedPasskey {
  store::OperatorRow row;
  std::vector<Secret> recovery_codes;  // shown once; empty if the operator already has some
};
/// The caller must have verified the operator before it issued the challenge. Ends the other
/// sessions. `validation-failed`; `conflict` if the passkey exists or the operator has too many.
Result<AddedPasskey> add_passkey(const Context& context, OperatorId id,
                                 const auth::PasskeyRegistration& made, const PasskeyPlace& place,
                                 const std::string& name, const SignInSource& source);

/// The ID of a passkey in lists.
std::string passkey_list_id(const store::PasskeyRow& row);
Result<std::vector<store::PasskeyRow>> list_passkeys(const Context& context, OperatorId id);
/// Removes the passkey with this listed ID, inside a commit, and ends the sessions. `not-found`;
/// `conflict` if it is the only second factor, because the password alone must not open the page.
Result<void> remove_passkey(store::WriteTx& tx, store::OperatorRow& row, const std::string& id);

}  // namespace coffer::flows
