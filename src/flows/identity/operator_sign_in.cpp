#include "flows/identity/operator_sign_in.h"

#include "auth/password.h"
#include "auth/totp.h"
#include "flows/identity/operator_change.h"

namespace coffer::flows {
namespace {

std::string sealing_context(OperatorId id) { return "operator-otp:" + id.to_string(); }

Problem wrong_sign_in() {
  return Problem(Slug::unauthorized,
                 "The name, the password or the code is wrong, or the operator is suspended.");
}

}  // namespace

Result<store::OperatorRow> sign_in_operator(const Context& context, const std::string& name,
                                            const Secret& password, const std::string& code) {
  COFFER_TRY(const auto found, find_operator_named(context, name));
  // An unknown name takes as long as a wrong password.
  const bool known = found && found->password_hash;
  const bool fits = auth::matches_password(known ? *found->password_hash : auth::no_password_hash(),
                                           password.reveal());
  if (!known || !fits) return unexpected(wrong_sign_in());
  std::optional<std::int64_t> step;
  if (found->sealed_otp) {
    COFFER_TRY(const Secret key,
               context.sealer.open(*found->sealed_otp, sealing_context(found->id)));
    step = auth::match_totp(key, code, context.clock.machine_now());
    if (!step) return unexpected(wrong_sign_in());
  }
  return change_operator(context, found->id,
                         [&](store::WriteTx&, store::OperatorRow& row) -> Result<void> {
                           const bool other = row.version != found->version || row.suspended;
                           if (other || (step && *step <= row.otp_step)) {
                             return unexpected(wrong_sign_in());
                           }
                           if (step) row.otp_step = *step;
                           return {};
                         });
}

bool needs_otp(const store::OperatorRow& row) { return row.otp_required && !row.sealed_otp; }

Result<store::OperatorRow> enrol_otp(const Context& context, OperatorId id, const Secret& key,
                                     const std::string& code) {
  const auto step = auth::match_totp(key, code, context.clock.machine_now());
  if (!step) {
    return unexpected(Problem(Slug::validation_failed, "The code is wrong.",
                              {{"code",
                                "must be the six digits that the authenticator shows now; check "
                                "the clock of the phone"}}));
  }
  const std::string sealed = context.sealer.seal(key.reveal(), sealing_context(id));
  return change_operator(context, id,
                         [&](store::WriteTx&, store::OperatorRow& row) -> Result<void> {
                           row.sealed_otp = sealed;
                           row.otp_step = *step;
                           return {};
                         });
}

Result<store::OperatorRow> change_operator_password(const Context& context, OperatorId id,
                                                    const Secret& present, const Secret& next) {
  COFFER_TRY(const auto row,
             store::with_reader(context.database,
                                [&](store::Connection& db) -> Result<store::OperatorRow> {
                                  auto found = store::find_operator(db, id);
                                  if (!found) return unexpected(unknown_operator());
                                  return *std::move(found);
                                }));
  if (!row.password_hash || !auth::matches_password(*row.password_hash, present.reveal())) {
    return unexpected(Slug::unauthorized, "The current password is wrong.");
  }
  COFFER_TRY(const std::string hash, operator_password_hash(context, next, row.name));
  return change_operator(context, id,
                         [&](store::WriteTx&, store::OperatorRow& now) -> Result<void> {
                           now.password_hash = hash;
                           ++now.version;
                           return {};
                         });
}

}  // namespace coffer::flows
