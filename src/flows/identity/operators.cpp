#include "flows/identity/operators.h"

#include <algorithm>

#include "auth/secret_hash.h"
#include "flows/identity/operator_change.h"
#include "flows/identity/user_changes.h"

namespace coffer::flows {
namespace {

constexpr std::string_view kLinkPrefix = "ol_";

Problem wrong_link() {
  return Problem(
      Slug::unauthorized,
      "This link was already used or has expired. Get a new one with `coffer admin link`.");
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
  return unexpected(
      Slug::conflict,
      "This operator is the only administrator. Add another one first (coffer operator add).");
}

Result<store::OperatorRow> insert(store::WriteTx& tx, const store::OperatorRow& row) {
  if (store::find_operator_by_name(tx.db(), row.name)) {
    return unexpected(Slug::conflict, "An operator with this name already exists.");
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
  COFFER_TRY(out.row,
             change_operator_named(
                 context, name, [&](store::WriteTx& tx, store::OperatorRow& row) -> Result<void> {
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
  COFFER_TRY(fresh.password_hash, operator_password_hash(context, password, fresh.name));
  return store::run_for<store::OperatorRow>(
      context.queue, [&](store::WriteTx& tx) -> Result<store::OperatorRow> {
        COFFER_TRY(const auto given, good_link(tx.db(), as_text(hash), tx.now()));
        store::delete_operator_link(tx, as_text(hash));
        if (!given.for_whom) return insert(tx, fresh);
        auto row = store::find_operator(tx.db(), *given.for_whom);
        if (!row) return unexpected(wrong_link());
        row->password_hash = fresh.password_hash;
        ++row->version;
        store::update_operator(tx, *row);
        return *store::find_operator(tx.db(), row->id);
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
  return store::run_for<store::OperatorRow>(context.queue,
                                            [&](store::WriteTx& tx) { return insert(tx, fresh); });
}

}  // namespace coffer::flows
