#include "flows/identity/operator_sign_in.h"

#include "auth/password.h"
#include "auth/recovery_code.h"
#include "auth/secret_hash.h"
#include "auth/totp.h"
#include "flows/identity/audit_log.h"
#include "flows/identity/operator_change.h"
#include "flows/identity/user_changes.h"
#include "store/identity/users.h"

namespace coffer::flows {
namespace {

std::string sealing_context(OperatorId id) { return "operator-otp:" + id.to_string(); }

Problem wrong_sign_in() {
  return Problem(Slug::unauthorized,
                 "The name, the password or the code is wrong, or the operator is suspended.");
}
Problem wrong_proof() { return Problem(Slug::unauthorized, "The password or the code is wrong."); }

/// A verified second factor. It is marked as used in the commit of the change that it permits.
struct SecondFactor {
  std::optional<std::int64_t> step;          // of the authenticator
  std::optional<auth::SecretHash> recovery;  // of a recovery code
  std::optional<CheckedPasskey> passkey;
};

/// The purpose for which an operator proves their identity.
struct ProvedAction {
  std::string_view command;  // in the audit log
  Problem wrong;
  OperatorChange change = [](store::WriteTx&, store::OperatorRow&) -> Result<void> { return {}; };
  std::string outcome = "done";
  std::string result = {};
  bool password_only = false;  // a passkey follows
};

/// nullopt if the second factor is wrong.
Result<std::optional<SecondFactor>> read_second_factor(const Context& context,
                                                       const store::OperatorRow& row,
                                                       const OperatorProof& proof) {
  using Read = std::optional<SecondFactor>;
  if (proof.passkey) {
    auto checked = check_passkey(context, *proof.passkey, PasskeyPurpose::step_up, row);
    if (checked) return Read(SecondFactor{.passkey = *std::move(checked)});
    if (checked.error().slug == Slug::unauthorized) return Read();
    return unexpected(std::move(checked).error());
  }
  if (!has_second_factor(row)) return Read(SecondFactor{});
  if (const auto recovery = auth::parse_recovery_code(proof.code)) {
    return Read(SecondFactor{.recovery = context.hasher->hash(*recovery)});
  }
  if (!row.sealed_otp) return Read();
  COFFER_TRY(const Secret key, context.sealer.open(*row.sealed_otp, sealing_context(row.id)));
  const auto step = auth::match_totp(key, proof.code, context.clock.machine_now());
  if (!step) return Read();
  return Read(SecondFactor{.step = step});
}

/// Marks the factor as used. False if it was used before or belongs to another operator.
bool use_up(store::WriteTx& tx, store::OperatorRow& row, const SecondFactor& factor) {
  if (factor.passkey) return use_passkey(tx, *factor.passkey).has_value();
  if (factor.recovery) return store::delete_recovery_code(tx, row.id, as_text(*factor.recovery));
  if (factor.step && *factor.step <= row.otp_step) return false;
  if (factor.step) row.otp_step = *factor.step;
  return true;
}

/// Records a failed attempt. Attempts without an account are recorded only up to a limit, because
/// anyone could fill the file with them.
Result<void> record_failure(const Context& context, const std::optional<store::OperatorRow>& who,
                            const ProvedAction& action, const SignInSource& source,
                            const std::string& reason) {
  if (!who && !may_record_unidentified(context)) return {};
  return record_action(context, {who ? who->name : "unknown", std::string(action.command),
                                 source_json(source), "unauthorized", reason});
}

Result<store::OperatorRow> carry_out(const Context& context, const store::OperatorRow& found,
                                     const SecondFactor& factor, const ProvedAction& action,
                                     const SignInSource& source) {
  return change_operator(
      context, found.id, [&](store::WriteTx& tx, store::OperatorRow& row) -> Result<void> {
        const bool other = row.version != found.version || row.suspended;
        if (other || !use_up(tx, row, factor)) return unexpected(action.wrong);
        COFFER_TRY_VOID(action.change(tx, row));
        store::remember_sign_in_source(tx, row.id.uuid, source.network);
        append_audit_action(
            tx, {row.name, std::string(action.command), source_json(source), action.outcome,
                 factor.recovery  ? "with a recovery code"
                 : factor.passkey ? "with password and passkey"
                                  : action.result});
        return {};
      });
}

/// Checks the proof, counts and records a failure, and otherwise makes the change in one commit
/// with its audit entry.
Result<store::OperatorRow> change_with_proof(const Context& context,
                                             const std::optional<store::OperatorRow>& found,
                                             const std::string& name, const OperatorProof& proof,
                                             const ProvedAction& action,
                                             const SignInSource& source) {
  const SignInGuard guard(context, SignInGuard::Kind::operator_, folded_username(name),
                          found ? std::optional(account_of(*found)) : std::nullopt, source);
  COFFER_TRY_VOID(guard.admit());
  // An unknown name takes as long as a wrong password.
  const bool can_sign_in = found && found->password_hash && !found->suspended;
  const bool fits = auth::matches_password(found && found->password_hash
                                               ? *found->password_hash
                                               : auth::no_password_hash(context.password_cost),
                                           proof.password.reveal());
  if (!can_sign_in || !fits) {
    const Problem response = guard.wrong_password(action.wrong);
    const bool is_suspended = found && found->suspended;
    COFFER_TRY_VOID(record_failure(context, found, action, source,
                                   is_suspended ? "the operator is suspended" : "wrong password"));
    return unexpected(response);
  }
  // Keeps the failure counters, so that an attacker who knows only the password gets no additional
  // attempts at the code.
  if (action.password_only) return carry_out(context, *found, {}, action, source);
  COFFER_TRY(const auto factor, read_second_factor(context, *found, proof));
  Result<store::OperatorRow> row = unexpected(action.wrong);
  if (factor) row = carry_out(context, *found, *factor, action, source);
  if (row) {
    guard.right();
  } else if (row.error().slug == Slug::unauthorized) {
    row = unexpected(guard.wrong_second_factor(row.error()));
    COFFER_TRY_VOID(
        record_failure(context, found, action, source, "wrong code after the right password"));
  }
  return row;
}

Result<store::OperatorRow> own_row(const Context& context, OperatorId id) {
  return context.read([&](store::Connection& db) -> Result<store::OperatorRow> {
    auto found = store::find_operator(db, id);
    if (!found) return unexpected(unknown_operator());
    return *std::move(found);
  });
}

}  // namespace

bool has_second_factor(const store::OperatorRow& row) {
  return row.sealed_otp.has_value() || row.passkeys > 0;
}

GuardedAccount account_of(const store::OperatorRow& row) { return {row.id.uuid, row.version}; }

bool needs_second_factor(const store::OperatorRow& row) {
  return row.otp_required && !has_second_factor(row);
}

Result<SignInStep> sign_in_operator(const Context& context, const std::string& name,
                                    const OperatorProof& proof, const SignInSource& source) {
  COFFER_TRY(const auto found, find_operator_named(context, name));
  SignInStep out;
  ProvedAction action{"sign-in", wrong_sign_in()};
  if (found && found->passkeys > 0 && proof.code.empty()) {
    out.needs_passkey = action.password_only = true;
    action.outcome = "incomplete";
    action.result = "the password was right; a passkey is required";
  }
  COFFER_TRY(out.row, change_with_proof(context, found, name, proof, action, source));
  return out;
}

Result<void> prove_operator(const Context& context, OperatorId id, std::string_view command,
                            const OperatorProof& proof, const SignInSource& source) {
  COFFER_TRY(const auto row, own_row(context, id));
  COFFER_TRY_VOID(
      change_with_proof(context, row, row.name, proof, {command, wrong_proof()}, source));
  return {};
}

Result<store::OperatorRow> remove_own_passkey(const Context& context, OperatorId id,
                                              const std::string& listed_id,
                                              const OperatorProof& proof,
                                              const SignInSource& source) {
  COFFER_TRY(const auto row, own_row(context, id));
  const ProvedAction action{"remove passkey", wrong_proof(),
                            [&](store::WriteTx& tx, store::OperatorRow& now) -> Result<void> {
                              return remove_passkey(tx, now, listed_id);
                            }};
  return change_with_proof(context, row, row.name, proof, action, source);
}

Result<store::OperatorRow> change_operator_password(const Context& context, OperatorId id,
                                                    const OperatorProof& proof, const Secret& next,
                                                    const SignInSource& source) {
  COFFER_TRY(const auto row, own_row(context, id));
  COFFER_TRY(const std::string hash, operator_password_hash(context, next, row.name));
  const ProvedAction action{"change password", wrong_proof(),
                            [&](store::WriteTx&, store::OperatorRow& now) -> Result<void> {
                              now.password_hash = hash;
                              ++now.version;
                              return {};
                            }};
  return change_with_proof(context, row, row.name, proof, action, source);
}

Result<std::vector<Secret>> renew_recovery_codes(const Context& context, OperatorId id,
                                                 const OperatorProof& proof,
                                                 const SignInSource& source) {
  COFFER_TRY(const auto row, own_row(context, id));
  if (!has_second_factor(row)) {
    return unexpected(Slug::conflict, "No authenticator is enrolled. Enrol one first.");
  }
  std::vector<Secret> codes = new_recovery_codes(context);
  const ProvedAction action{"renew recovery codes", wrong_proof(),
                            [&](store::WriteTx& tx, store::OperatorRow& now) -> Result<void> {
                              store_recovery_codes(context, tx, now.id, codes);
                              return {};
                            }};
  COFFER_TRY_VOID(change_with_proof(context, row, row.name, proof, action, source));
  return codes;
}

Result<EnrolledOperator> enrol_otp(const Context& context, OperatorId id, const Secret& key,
                                   const std::string& code, const SignInSource& source) {
  const auto step = auth::match_totp(key, code, context.clock.machine_now());
  if (!step) {
    return unexpected(Problem(Slug::validation_failed, "The code is wrong.",
                              {{"code",
                                "must be the six digits that the authenticator shows now; check "
                                "the clock of the phone"}}));
  }
  EnrolledOperator out{{}, new_recovery_codes(context)};
  const std::string sealed = context.sealer.seal(key.reveal(), sealing_context(id));
  COFFER_TRY(out.row,
             change_operator(
                 context, id, [&](store::WriteTx& tx, store::OperatorRow& row) -> Result<void> {
                   const bool another = row.sealed_otp.has_value();
                   row.sealed_otp = sealed;
                   row.otp_step = *step;
                   ++row.version;
                   store_recovery_codes(context, tx, id, out.recovery_codes);
                   append_audit_action(
                       tx, {row.name, another ? "replace authenticator" : "enrol authenticator",
                            source_json(source)});
                   return {};
                 }));
  return out;
}

}  // namespace coffer::flows
