#include "flows/identity/operators.h"

#include "auth/secret_hash.h"
#include "flows/identity/audit_log.h"
#include "flows/identity/operator_change.h"
#include "flows/identity/user_changes.h"
#include "store/identity/passkeys.h"
#include "store/identity/users.h"

namespace coffer::flows {
namespace {

constexpr std::string_view kLinkPrefix = "ol_";

Problem wrong_link() {
  return Problem(
      Slug::unauthorized,
      "This link was already used or has expired. Get a new one with `coffer admin link`.");
}

void give_link(const Context& context, store::WriteTx& tx, const Secret& link,
               std::optional<OperatorId> for_whom) {
  store::delete_operator_links(tx, for_whom);
  store::insert_operator_link(tx, as_text(context.hasher->hash(link.reveal())),
                              {for_whom, tx.now().plus_ms(kLinkLifetimeMs)});
}

/// Call before removing, suspending or demoting an administrator.
Result<void> keep_an_administrator(store::WriteTx& tx, const store::OperatorRow& row) {
  const bool counts =
      row.role == OperatorRole::administrator && !row.suspended && row.password_hash.has_value();
  if (!counts || store::count_administrators(tx.db()) > 1) return {};
  return unexpected(
      Slug::conflict,
      "This operator is the only administrator. Add another one first (coffer operator add).");
}

/// The row of the link if it exists and has not expired.
Result<store::OperatorLink> good_link(store::Connection& db, std::string_view hash, Timestamp now) {
  const auto link = store::find_operator_link(db, hash);
  if (!link || link->expires_at.ms <= now.ms) return unexpected(wrong_link());
  return *link;
}

Result<store::OperatorRow> set_password(store::WriteTx& tx, OperatorId id,
                                        const std::string& hash) {
  auto row = store::find_operator(tx.db(), id);
  if (!row) return unexpected(wrong_link());
  row->password_hash = hash;
  ++row->version;
  store::update_operator(tx, *row);
  return *store::find_operator(tx.db(), id);
}

/// The response to an invalid link. A link has 256 random bits, so failures are counted only per
/// source.
Problem reject_link(const Context& context, const Problem& problem, const SignInSource& source) {
  return reject_unidentified(context, "link", "use one-time link",
                             "the link is invalid, used or expired", problem, source);
}

}  // namespace

Result<InvitedOperator> invite_operator(const Context& context, const std::string& name,
                                        OperatorRole role) {
  InvitedOperator out;
  COFFER_TRY(out.row.name, parse_username(name, "name"));
  out.row.id = context.random.id<OperatorId>(context.clock.now());
  out.row.role = role;
  out.link = auth::generate_secret(context.random, kLinkPrefix);
  COFFER_TRY(out.row, context.write([&](store::WriteTx& tx) -> Result<store::OperatorRow> {
    COFFER_TRY(auto row, insert_new_operator(tx, out.row));
    give_link(context, tx, out.link, row.id);
    return row;
  }));
  return out;
}

Result<InvitedOperator> reset_operator(const Context& context, const std::string& name) {
  InvitedOperator out;
  out.link = auth::generate_secret(context.random, kLinkPrefix);
  COFFER_TRY(out.row,
             change_operator_named(
                 context, name, [&](store::WriteTx& tx, store::OperatorRow& row) -> Result<void> {
                   COFFER_TRY_VOID(require_person(row));
                   row.password_hash.reset();
                   row.sealed_otp.reset();
                   row.otp_step = 0;
                   ++row.version;
                   store::delete_recovery_codes(tx, row.id);
                   store::delete_passkeys(tx, row.id);
                   store::delete_operator_subject(tx, row.id);
                   store::forget_sign_in_sources(tx, row.id.uuid);
                   give_link(context, tx, out.link, row.id);
                   return {};
                 }));
  return out;
}

Result<Secret> administrator_link(const Context& context) {
  Secret link = auth::generate_secret(context.random, kLinkPrefix);
  COFFER_TRY_VOID(
      context.write([&](store::WriteTx& tx) { give_link(context, tx, link, std::nullopt); }));
  return link;
}

Result<store::OperatorRow> change_operator_role(const Context& context, const std::string& name,
                                                OperatorRole role) {
  return change_operator_named(context, name,
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
  return change_operator_named(context, name,
                               [&](store::WriteTx& tx, store::OperatorRow& row) -> Result<void> {
                                 if (suspended) COFFER_TRY_VOID(keep_an_administrator(tx, row));
                                 row.suspended = suspended;
                                 ++row.version;
                                 return {};
                               });
}

Result<store::OperatorRow> find_operator(const Context& context, const std::string& name) {
  COFFER_TRY(auto found, find_operator_named(context, name));
  if (!found) return unexpected(unknown_operator());
  return *std::move(found);
}

Result<std::string> operator_name(const Context& context, OperatorId id) {
  return context.read([&](store::Connection& db) {
    const auto row = store::find_operator(db, id);
    return row ? row->name : std::string();
  });
}

Result<void> end_operator_sessions(const Context& context, const std::string& name) {
  COFFER_TRY_VOID(change_operator_named(
      context, name, [](store::WriteTx&, store::OperatorRow& row) -> Result<void> {
        ++row.version;
        return {};
      }));
  return {};
}

Result<std::string> name_of_link(const Context& context, const std::string& link,
                                 const SignInSource& source) {
  const auth::SecretHash hash = context.hasher->hash(link);
  const auto name = context.read([&](store::Connection& db) -> Result<std::string> {
    COFFER_TRY(const auto found, good_link(db, as_text(hash), context.queue.now()));
    const auto row = found.for_whom ? store::find_operator(db, *found.for_whom) : std::nullopt;
    return row ? row->name : std::string();
  });
  if (!name) return unexpected(reject_link(context, name.error(), source));
  return *name;
}

Result<store::OperatorRow> claim_link(const Context& context, const std::string& link,
                                      const std::optional<std::string>& name,
                                      const Secret& password, const SignInSource& source) {
  const auth::SecretHash hash = context.hasher->hash(link);
  const auto asked = context.read(
      [&](store::Connection& db) { return good_link(db, as_text(hash), context.queue.now()); });
  if (!asked) return unexpected(reject_link(context, asked.error(), source));
  store::OperatorRow fresh;
  fresh.role = OperatorRole::administrator;
  fresh.id = context.random.id<OperatorId>(context.clock.now());
  if (!asked->for_whom) {
    COFFER_TRY(fresh.name, parse_username(name.value_or(""), "name"));
  }
  COFFER_TRY(fresh.password_hash, operator_password_hash(context, password, fresh.name));
  return context.write([&](store::WriteTx& tx) -> Result<store::OperatorRow> {
    COFFER_TRY(const auto given, good_link(tx.db(), as_text(hash), tx.now()));
    store::delete_operator_link(tx, as_text(hash));
    COFFER_TRY(const auto row, given.for_whom
                                   ? set_password(tx, *given.for_whom, *fresh.password_hash)
                                   : insert_new_operator(tx, fresh));
    store::remember_sign_in_source(tx, row.id.uuid, source.network);
    append_audit_action(tx, {row.name, "use one-time link", source_json(source)});
    return row;
  });
}

Result<store::OperatorRow> ensure_administrator(const Context& context, const std::string& name,
                                                const Secret& password, bool otp_required) {
  store::OperatorRow fresh;
  COFFER_TRY(fresh.name, parse_username(name, "name"));
  COFFER_TRY(const auto there, find_operator_named(context, fresh.name));
  if (there) return *there;
  fresh.id = context.random.id<OperatorId>(context.clock.now());
  fresh.role = OperatorRole::administrator;
  fresh.otp_required = otp_required;
  COFFER_TRY(fresh.password_hash, operator_password_hash(context, password, fresh.name));
  return context.write([&](store::WriteTx& tx) -> Result<store::OperatorRow> {
    COFFER_TRY(const auto row, insert_new_operator(tx, fresh));
    append_audit_action(tx, {"server start", "create first operator", "{}", "done", row.name});
    return row;
  });
}

}  // namespace coffer::flows
