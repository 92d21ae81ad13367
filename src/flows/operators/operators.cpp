#include "flows/operators/operators.h"

#include <algorithm>
#include <functional>

#include "auth/password.h"
#include "auth/secret_hash.h"
#include "auth/totp.h"
#include "flows/user_changes.h"

namespace coffer::flows {
namespace {

constexpr std::string_view kLinkPrefix = "ol_";
constexpr std::size_t kPasswordMin = 12;
constexpr std::size_t kPasswordMax = 128;

std::string sealing_context(OperatorId id) { return "operator-otp:" + id.to_string(); }

Problem unknown_operator() { return Problem(Slug::not_found, "There is no such operator."); }
Problem wrong_sign_in() {
  return Problem(Slug::unauthorized, "Name, password or code is wrong, or the operator may not sign in.");
}
Problem wrong_link() {
  return Problem(Slug::unauthorized,
                 "This link was used or is over; `coffer admin link` gives a new one.");
}

Result<std::string> password_hash(const Context& context, const Secret& password,
                                  std::string_view name) {
  const std::string& text = password.reveal();
  std::string fault;
  if (text.size() < kPasswordMin) fault = "must have at least 12 characters";
  if (text.size() > kPasswordMax) fault = "must have at most 128 bytes";
  if (folded_username(text) == name) fault = "must not be the name";
  if (fault.empty()) return auth::hash_password(password, context.random);
  return unexpected(
      Problem(Slug::validation_failed, "The password is not good enough.", {{"password", fault}}));
}

Result<std::optional<store::OperatorRow>> find_named(const Context& context,
                                                     const std::string& name) {
  return store::with_reader(
      context.database, [&](store::Connection& db) -> Result<std::optional<store::OperatorRow>> {
        return store::find_operator_by_name(db, folded_username(name));
      });
}

/// `change` gets the row as it is when the command runs.
using Change = std::function<Result<void>(store::WriteTx&, store::OperatorRow&)>;

Result<store::OperatorRow> changed(store::WriteTx& tx, std::optional<store::OperatorRow> row,
                                   const Change& change) {
  if (!row) return unexpected(unknown_operator());
  COFFER_TRY_VOID(change(tx, *row));
  store::update_operator(tx, *row);
  return *store::find_operator(tx.db(), row->id);
}

Result<store::OperatorRow> change_named(const Context& context, const std::string& name,
                                        const Change& change) {
  return store::run_for<store::OperatorRow>(
      context.queue, [&](store::WriteTx& tx) -> Result<store::OperatorRow> {
        return changed(tx, store::find_operator_by_name(tx.db(), folded_username(name)), change);
      });
}

Result<store::OperatorRow> change_by_id(const Context& context, OperatorId id, const Change& change) {
  return store::run_for<store::OperatorRow>(
      context.queue, [&](store::WriteTx& tx) -> Result<store::OperatorRow> {
        return changed(tx, store::find_operator(tx.db(), id), change);
      });
}

void give_link(store::WriteTx& tx, const Secret& link, std::optional<OperatorId> for_whom) {
  store::delete_operator_links(tx, for_whom);
  store::insert_operator_link(tx, as_text(auth::hash_secret(link.reveal())),
                              {for_whom, tx.now().plus_ms(kLinkLifetimeMs)});
}

/// Call before taking an administrator away.
Result<void> keep_an_administrator(store::WriteTx& tx, const store::OperatorRow& row) {
  const bool counts =
      row.role == OperatorRole::administrator && !row.suspended && row.password_hash.has_value();
  if (!counts || store::count_administrators(tx.db()) > 1) return {};
  return unexpected(Slug::conflict,
                    "Nobody else is an administrator; make one first (coffer operator add).");
}

Result<store::OperatorRow> insert(store::WriteTx& tx, const store::OperatorRow& row) {
  if (store::find_operator_by_name(tx.db(), row.name)) {
    return unexpected(Slug::conflict, "Another operator has this name.");
  }
  store::insert_operator(tx, row);
  return *store::find_operator(tx.db(), row.id);
}

/// The link's row while it is good.
Result<store::OperatorLink> good_link(store::Connection& db, std::string_view hash, Timestamp now) {
  const auto link = store::find_operator_link(db, hash);
  if (!link || link->expires_at.ms <= now.ms) return unexpected(wrong_link());
  return *link;
}

}  // namespace

Result<InvitedOperator> invite_operator(const Context& context, const std::string& name,
                                        OperatorRole role) {
  InvitedOperator out;
  COFFER_TRY(out.row.name, parse_username(name, "name"));
  out.row.id = context.random.id<OperatorId>(context.clock.now());
  out.row.role = role;
  out.link = auth::generate_secret(context.random, kLinkPrefix);
  COFFER_TRY(out.row, store::run_for<store::OperatorRow>(
                          context.queue, [&](store::WriteTx& tx) -> Result<store::OperatorRow> {
                            COFFER_TRY(auto row, insert(tx, out.row));
                            give_link(tx, out.link, row.id);
                            return row;
                          }));
  return out;
}

Result<InvitedOperator> reset_operator(const Context& context, const std::string& name) {
  InvitedOperator out;
  out.link = auth::generate_secret(context.random, kLinkPrefix);
  COFFER_TRY(out.row, change_named(context, name,
                                   [&](store::WriteTx& tx, store::OperatorRow& row) -> Result<void> {
                                     row.password_hash.reset();
                                     row.sealed_otp.reset();
                                     row.otp_step = 0;
                                     ++row.version;
                                     give_link(tx, out.link, row.id);
                                     return {};
                                   }));
  return out;
}

Result<Secret> administrator_link(const Context& context) {
  Secret link = auth::generate_secret(context.random, kLinkPrefix);
  COFFER_TRY_VOID(context.queue.run([&](store::WriteTx& tx) -> Result<void> {
    give_link(tx, link, std::nullopt);
    return {};
  }));
  return link;
}

Result<store::OperatorRow> change_operator_role(const Context& context, const std::string& name,
                                                OperatorRole role) {
  return change_named(context, name,
                      [&](store::WriteTx& tx, store::OperatorRow& row) -> Result<void> {
                        if (role != OperatorRole::administrator) {
                          COFFER_TRY_VOID(keep_an_administrator(tx, row));
                        }
                        row.role = role;
                        ++row.version;
                        return {};
                      });
}

Result<store::OperatorRow> suspend_operator(const Context& context, const std::string& name,
                                            bool suspended) {
  return change_named(context, name,
                      [&](store::WriteTx& tx, store::OperatorRow& row) -> Result<void> {
                        if (suspended) COFFER_TRY_VOID(keep_an_administrator(tx, row));
                        row.suspended = suspended;
                        ++row.version;
                        return {};
                      });
}

Result<store::OperatorRow> claim_link(const Context& context, const std::string& link,
                                      const std::optional<std::string>& name,
                                      const Secret& password) {
  const auth::SecretHash hash = auth::hash_secret(link);
  COFFER_TRY(const auto asked,
             store::with_reader(context.database,
                                [&](store::Connection& db) -> Result<store::OperatorLink> {
                                  return good_link(db, as_text(hash), context.queue.now());
                                }));
  store::OperatorRow fresh;
  fresh.role = OperatorRole::administrator;
  fresh.id = context.random.id<OperatorId>(context.clock.now());
  if (!asked.for_whom) {
    COFFER_TRY(fresh.name, parse_username(name.value_or(""), "name"));
  }
  COFFER_TRY(fresh.password_hash, password_hash(context, password, fresh.name));
  return store::run_for<store::OperatorRow>(
      context.queue, [&](store::WriteTx& tx) -> Result<store::OperatorRow> {
        COFFER_TRY(const auto given, good_link(tx.db(), as_text(hash), tx.now()));
        store::delete_operator_link(tx, as_text(hash));
        if (!given.for_whom) return insert(tx, fresh);
        return changed(tx, store::find_operator(tx.db(), *given.for_whom),
                       [&](store::WriteTx&, store::OperatorRow& row) -> Result<void> {
                         row.password_hash = fresh.password_hash;
                         ++row.version;
                         return {};
                       });
      });
}

Result<store::OperatorRow> ensure_administrator(const Context& context, const std::string& name,
                                                const Secret& password, bool otp_required) {
  store::OperatorRow fresh;
  COFFER_TRY(fresh.name, parse_username(name, "name"));
  COFFER_TRY(const auto there, find_named(context, fresh.name));
  if (there) return *there;
  fresh.id = context.random.id<OperatorId>(context.clock.now());
  fresh.role = OperatorRole::administrator;
  fresh.otp_required = otp_required;
  COFFER_TRY(fresh.password_hash, password_hash(context, password, fresh.name));
  return store::run_for<store::OperatorRow>(
      context.queue, [&](store::WriteTx& tx) { return insert(tx, fresh); });
}

Result<store::OperatorRow> sign_in_operator(const Context& context, const std::string& name,
                                            const Secret& password, const std::string& code) {
  COFFER_TRY(const auto found, find_named(context, name));
  // An unknown name takes as long as a wrong password.
  const bool known = found && found->password_hash;
  const bool fits = auth::matches_password(
      known ? *found->password_hash : auth::no_password_hash(), password.reveal());
  if (!known || !fits) return unexpected(wrong_sign_in());
  std::optional<std::int64_t> step;
  if (found->sealed_otp) {
    COFFER_TRY(const Secret key, context.sealer.open(*found->sealed_otp, sealing_context(found->id)));
    step = auth::match_totp(key, code, context.clock.now());
    if (!step) return unexpected(wrong_sign_in());
  }
  return change_by_id(context, found->id,
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
  const auto step = auth::match_totp(key, code, context.clock.now());
  if (!step) {
    return unexpected(Problem(
        Slug::validation_failed, "The code does not fit.",
        {{"code", "must be the six digits the authenticator shows now; check the phone's clock"}}));
  }
  const std::string sealed = context.sealer.seal(key.reveal(), sealing_context(id));
  return change_by_id(context, id, [&](store::WriteTx&, store::OperatorRow& row) -> Result<void> {
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
    return unexpected(Slug::unauthorized, "The present password is wrong.");
  }
  COFFER_TRY(const std::string hash, password_hash(context, next, row.name));
  return change_by_id(context, id, [&](store::WriteTx&, store::OperatorRow& now) -> Result<void> {
    now.password_hash = hash;
    ++now.version;
    return {};
  });
}

}  // namespace coffer::flows
