#include "flows/identity/operator_change.h"

#include "auth/password.h"
#include "auth/password_quality.h"
#include "auth/recovery_code.h"
#include "auth/secret_hash.h"
#include "flows/identity/user_changes.h"

namespace coffer::flows {
namespace {

constexpr int kRecoveryCodes = 10;

Result<store::OperatorRow> changed(store::WriteTx& tx, std::optional<store::OperatorRow> row,
                                   const OperatorChange& change) {
  if (!row) return unexpected(unknown_operator());
  COFFER_TRY_VOID(change(tx, *row));
  store::update_operator(tx, *row);
  return *store::find_operator(tx.db(), row->id);
}

}  // namespace

Problem unknown_operator() { return Problem(Slug::not_found, "The operator was not found."); }

Result<std::optional<store::OperatorRow>> find_operator_named(const Context& context,
                                                              const std::string& name) {
  return context.read([&](store::Connection& db) {
    return store::find_operator_by_name(db, folded_username(name));
  });
}

Result<store::OperatorRow> change_operator_named(const Context& context, const std::string& name,
                                                 const OperatorChange& change) {
  return context.write([&](store::WriteTx& tx) {
    return changed(tx, store::find_operator_by_name(tx.db(), folded_username(name)), change);
  });
}

Result<store::OperatorRow> change_operator(const Context& context, OperatorId id,
                                           const OperatorChange& change) {
  return context.write(
      [&](store::WriteTx& tx) { return changed(tx, store::find_operator(tx.db(), id), change); });
}

Result<store::OperatorRow> insert_new_operator(store::WriteTx& tx, const store::OperatorRow& row) {
  if (store::find_operator_by_name(tx.db(), row.name)) {
    return unexpected(Slug::conflict, "An operator with this name already exists.");
  }
  store::insert_operator(tx, row);
  return *store::find_operator(tx.db(), row.id);
}

Result<void> require_person(const store::OperatorRow& row) {
  if (!row.token) return {};
  return unexpected(Slug::conflict, row.name + " is a program with a token and cannot sign in.");
}

std::vector<Secret> new_recovery_codes(const Context& context) {
  std::vector<Secret> out;
  for (int i = 0; i < kRecoveryCodes; ++i) {
    out.push_back(auth::generate_recovery_code(context.random));
  }
  return out;
}

void store_recovery_codes(const Context& context, store::WriteTx& tx, OperatorId id,
                          const std::vector<Secret>& codes) {
  store::delete_recovery_codes(tx, id);
  for (const Secret& code : codes) {
    store::insert_recovery_code(
        tx, id, as_text(context.hasher->hash(*auth::parse_recovery_code(code.reveal()))));
  }
}

Result<std::string> operator_password_hash(const Context& context, const Secret& password,
                                           std::string_view name) {
  const std::string fault = auth::password_fault(password.reveal(), name);
  if (fault.empty()) return auth::hash_password(password, context.random, context.password_cost);
  return unexpected(Problem(Slug::validation_failed, "The password does not meet the requirements.",
                            {{"password", fault}}));
}

}  // namespace coffer::flows
