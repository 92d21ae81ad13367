// Passkeys of operators: making, using, listing and removing them. A passkey is a second factor
// after the password; alone, it signs in if its owner was verified (PIN, fingerprint).
#pragma once

#include <string>
#include <vector>

#include "auth/passkeys/passkey.h"
#include "flows/context.h"
#include "flows/identity/sign_in_challenges.h"
#include "flows/identity/sign_in_guard.h"
#include "store/identity/operators.h"
#include "store/identity/passkeys.h"

namespace coffer::flows {

inline constexpr std::size_t kPasskeysMax = 20;  // of an operator

/// Where a passkey is used: the page, and the browser whose challenges count.
struct PasskeyPlace {
  auth::RelyingParty party;
  SignInChallenges& challenges;
  std::string browser;  // secret of the attempt or of the session
};

/// What a challenge is for. A challenge for one purpose is worthless for another.
enum class PasskeyPurpose { alone, after_password, step_up, create };
/// Raw bytes. `row` for every purpose but `alone`.
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
/// `unauthorized` with the reason, for the audit log. Uses the challenge up.
Result<CheckedPasskey> check_passkey(const Context& context, const PasskeyProof& proof,
                                     PasskeyPurpose purpose, const store::OperatorRow& row);
/// Stores the use. `unauthorized` with the reason when the passkey is gone, or its counter went
/// back.
Result<void> use_passkey(store::WriteTx& tx, const CheckedPasskey& checked);

/// Signs in with a passkey alone, or after the password when the challenge was issued for that.
/// `unauthorized`, the same for every cause; `rate-limited` after too many failed attempts of a
/// source, which never refuses a right one.
Result<store::OperatorRow> sign_in_with_passkey(const Context& context, const PasskeyProof& proof,
                                                const SignInSource& source);

struct AddedPasskey {
  store::OperatorRow row;
  std::vector<Secret> recovery_codes;  // shown once; empty when the operator has some
};
/// The challenge was issued after the operator had proved who they are. Ends the other sessions.
/// `validation-failed`; `conflict` when the passkey exists or there are too many.
Result<AddedPasskey> add_passkey(const Context& context, OperatorId id,
                                 const auth::PasskeyRegistration& made, const PasskeyPlace& place,
                                 const std::string& name, const SignInSource& source);

/// The ID of a passkey in lists.
std::string passkey_list_id(const store::PasskeyRow& row);
Result<std::vector<store::PasskeyRow>> list_passkeys(const Context& context, OperatorId id);
/// In a commit: by the ID in the list. `not-found`; `conflict` for the only second factor, without
/// which the password alone would open the page. Ends the sessions.
Result<void> remove_passkey(store::WriteTx& tx, store::OperatorRow& row, const std::string& id);

}  // namespace coffer::flows
