#include "flows/identity/passkeys.h"

#include <algorithm>

#include "base/check.h"
#include "base/digest.h"
#include "base/telemetry/log.h"
#include "base/text/unicode.h"
#include "flows/identity/audit_log.h"
#include "flows/identity/operator_change.h"
#include "store/identity/users.h"

namespace coffer::flows {
namespace {

constexpr std::size_t kNameMax = 64;
constexpr std::size_t kListIdBytes = 8;

/// Each purpose has a distinct text. The version invalidates a challenge when the operator's
/// credentials change.
std::string purpose_text(const PasskeyPlace& place, PasskeyPurpose purpose,
                         const store::OperatorRow* row) {
  std::string out = "passkey\n" + std::to_string(static_cast<int>(purpose)) + '\n';
  if (purpose != PasskeyPurpose::alone) {
    COFFER_CHECK(row != nullptr);
    out += row->id.to_string() + ' ' + std::to_string(row->version) + '\n';
  }
  return out + place.party.id + '\n' + place.browser;
}

Unexpected rejected(const char* why) { return unexpected(Slug::unauthorized, why); }

/// The row of the credential that signed, if it belongs to this site.
Result<store::PasskeyRow> row_of(const Context& context, const PasskeyProof& proof) {
  return context.read([&](store::Connection& db) -> Result<store::PasskeyRow> {
    auto row = store::find_passkey(db, proof.assertion.credential_id);
    if (!row || row->site != proof.place.party.id) return rejected("the passkey is unknown");
    return *std::move(row);
  });
}

struct OwnedPasskey {
  store::OperatorRow owner;
  CheckedPasskey passkey;
  PasskeyPurpose purpose = PasskeyPurpose::alone;
};

/// Checks a sign-in, except for the signature counter, which use_passkey() checks.
Result<OwnedPasskey> check_sign_in(const Context& context, const PasskeyProof& proof) {
  COFFER_TRY(const auto passkey, row_of(context, proof));
  COFFER_TRY(const auto owner,
             context.read([&](store::Connection& db) -> Result<store::OperatorRow> {
               auto row = store::find_operator(db, passkey.operator_id);
               if (!row) return rejected("the operator is unknown");
               return *std::move(row);
             }));
  if (owner.suspended) return rejected("the operator is suspended");
  for (const auto purpose : {PasskeyPurpose::after_password, PasskeyPurpose::alone}) {
    auto checked = check_passkey(context, proof, purpose, owner);
    const bool last = purpose == PasskeyPurpose::alone;
    if (!checked && last) return unexpected(std::move(checked).error());
    if (checked) return OwnedPasskey{owner, *std::move(checked), purpose};
  }
  return rejected("the challenge is invalid");
}

Problem wrong_passkey() {
  return Problem(Slug::unauthorized,
                 "The passkey was not accepted. Try again, or sign in with name and password.");
}

/// The audit entry of a failed attempt contains no account, because any caller may send the ID of a
/// passkey.
Problem record_rejection(const Context& context, const Problem& why, const SignInSource& source) {
  return reject_unidentified(context, "passkey", "sign-in", "passkey: " + why.detail,
                             wrong_passkey(), source);
}

Result<std::string> parse_passkey_name(const std::string& name) {
  const std::string fault = line_fault(name, kNameMax);
  if (fault.empty()) return name;
  return unexpected(Problem(Slug::validation_failed, "The name of the passkey " + fault + ".",
                            {{"name", fault}}));
}

}  // namespace

std::string issue_passkey_challenge(const Context& context, const PasskeyPlace& place,
                                    PasskeyPurpose purpose, const store::OperatorRow* row) {
  return place.challenges.issue(purpose_text(place, purpose, row), context.clock.monotonic_ms());
}

Result<CheckedPasskey> check_passkey(const Context& context, const PasskeyProof& proof,
                                     PasskeyPurpose purpose, const store::OperatorRow& row) {
  COFFER_TRY(auto passkey, row_of(context, proof));
  if (passkey.operator_id != row.id) return rejected("the passkey belongs to another operator");
  const std::string& handle = proof.assertion.user_handle;
  const std::string_view own = as_text(row.id.uuid.bytes);
  const bool alone = purpose == PasskeyPurpose::alone;
  if (handle.empty() ? alone : handle != own) return rejected("the passkey names another user");
  COFFER_TRY(const auto verified,
             auth::verify_assertion(proof.assertion, passkey.public_key, proof.place.party));
  if (alone && !verified.user_verified) return rejected("the user was not verified");
  if (!proof.place.challenges.use(verified.challenge, purpose_text(proof.place, purpose, &row),
                                  context.clock.monotonic_ms())) {
    return rejected("the challenge is invalid");
  }
  return CheckedPasskey{std::move(passkey), verified.sign_count};
}

Result<void> use_passkey(store::WriteTx& tx, const CheckedPasskey& checked) {
  const auto now = store::find_passkey(tx.db(), checked.row.credential);
  if (!now) return rejected("the passkey was removed");
  if (!auth::is_next_sign_count(now->sign_count, checked.sign_count)) {
    return rejected("the counter of the passkey decreased: the passkey may have been copied");
  }
  store::set_passkey_used(tx, now->credential, checked.sign_count);
  return {};
}

Result<store::OperatorRow> sign_in_with_passkey(const Context& context, const PasskeyProof& proof,
                                                const SignInSource& source) {
  const auto found = check_sign_in(context, proof);
  if (!found && found.error().slug != Slug::unauthorized) return unexpected(found.error());
  if (!found) return unexpected(record_rejection(context, found.error(), source));
  const store::OperatorRow& owner = found->owner;
  const bool alone = found->purpose == PasskeyPurpose::alone;
  auto row = change_operator(
      context, owner.id, [&](store::WriteTx& tx, store::OperatorRow& now) -> Result<void> {
        if (now.version != owner.version || now.suspended) return rejected("the operator changed");
        COFFER_TRY_VOID(use_passkey(tx, found->passkey));
        store::remember_sign_in_source(tx, now.id.uuid, source.network);
        append_audit_action(tx, {now.name, "sign-in", source_json(source), "done",
                                 alone ? "with a passkey" : "with password and passkey"});
        return {};
      });
  if (row) {
    SignInGuard(context, SignInGuard::Kind::operator_, owner.name,
                GuardedAccount{owner.id.uuid, owner.version}, source)
        .right();
    return row;
  }
  if (row.error().slug != Slug::unauthorized) return row;
  log_warning("sign-in", "a passkey with a valid signature was rejected",
              {{"name", owner.name}, {"reason", row.error().detail}, {"address", source.address}});
  COFFER_TRY_VOID(record_action(
      context, {owner.name, "sign-in", source_json(source), "unauthorized", row.error().detail}));
  return unexpected(wrong_passkey());
}

Result<AddedPasskey> add_passkey(const Context& context, OperatorId id,
                                 const auth::PasskeyRegistration& made, const PasskeyPlace& place,
                                 const std::string& name, const SignInSource& source) {
  COFFER_TRY(const auto parsed_name, parse_passkey_name(name));
  COFFER_TRY(const auto passkey, auth::verify_registration(made, place.party));
  AddedPasskey out;
  out.recovery_codes = new_recovery_codes(context);
  const auto add = [&](store::WriteTx& tx, store::OperatorRow& row) -> Result<void> {
    if (row.passkeys >= static_cast<int>(kPasskeysMax)) {
      return unexpected(Slug::conflict, "There are too many passkeys. Remove one first.");
    }
    if (store::find_passkey(tx.db(), passkey.credential_id)) {
      return unexpected(Slug::conflict, "This passkey is already registered.");
    }
    if (!place.challenges.use(passkey.challenge, purpose_text(place, PasskeyPurpose::create, &row),
                              context.clock.monotonic_ms())) {
      return unexpected(Slug::conflict, "The registration has expired. Start again.");
    }
    store::insert_passkey(tx, {.operator_id = row.id,
                               .credential = passkey.credential_id,
                               .site = place.party.id,
                               .public_key = passkey.public_key,
                               .sign_count = passkey.sign_count,
                               .name = parsed_name});
    if (store::count_recovery_codes(tx.db(), row.id) > 0) {
      out.recovery_codes.clear();
    } else {
      store_recovery_codes(context, tx, row.id, out.recovery_codes);
    }
    ++row.version;
    append_audit_action(tx, {row.name, "add passkey", source_json(source), "done", parsed_name});
    return {};
  };
  COFFER_TRY(out.row, change_operator(context, id, add));
  return out;
}

std::string passkey_list_id(const store::PasskeyRow& row) {
  const Sha256 hash = sha256(row.credential);
  return to_hex(std::span(hash).first(kListIdBytes));
}

Result<std::vector<store::PasskeyRow>> list_passkeys(const Context& context, OperatorId id) {
  return context.read([&](store::Connection& db) { return store::list_passkeys(db, id); });
}

Result<void> remove_passkey(store::WriteTx& tx, store::OperatorRow& row, const std::string& id) {
  const auto all = store::list_passkeys(tx.db(), row.id);
  const auto found = std::ranges::find_if(
      all, [&](const store::PasskeyRow& passkey) { return passkey_list_id(passkey) == id; });
  if (found == all.end()) return unexpected(Slug::not_found, "The passkey was not found.");
  if (all.size() == 1 && row.otp_required && !row.sealed_otp) {
    return unexpected(Slug::conflict,
                      "This is the only second factor. Add another one first, or reset the "
                      "operator (coffer operator reset).");
  }
  store::delete_passkey(tx, found->credential);
  ++row.version;
  return {};
}

}  // namespace coffer::flows
