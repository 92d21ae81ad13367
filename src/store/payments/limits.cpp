#include "store/payments/limits.h"

#include "store/payments/payment_seal.h"
#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"
#include "store/rows/key_walk.h"
#include "store/rows/members.h"

namespace coffer::store {
namespace {

std::vector<Column<LimitRow>> limit_columns() {
  auto out = member_columns<LimitRow, &LimitRow::limits>("l.");
  out.insert(out.end(),
             {joined<&LimitRow::key>("l.payment_limit"),
              joined<&LimitRow::holder, &LimitHolder::tenant>("l.tenant"),
              joined<&LimitRow::holder, &LimitHolder::application>("l.application"),
              joined<&LimitRow::holder, &LimitHolder::wallet>("l.wallet"),
              joined<&LimitRow::holder, &LimitHolder::asset>("l.asset"),
              joined<&LimitRow::since>("l.since"),
              joined<&LimitRow::use, &LimitUse::day, &PeriodUse::start>("u.day"),
              joined<&LimitRow::use, &LimitUse::day, &PeriodUse::amount>("u.day_amount"),
              joined<&LimitRow::use, &LimitUse::day, &PeriodUse::payments>("u.day_payments"),
              joined<&LimitRow::use, &LimitUse::month, &PeriodUse::start>("u.month"),
              joined<&LimitRow::use, &LimitUse::month, &PeriodUse::amount>("u.month_amount"),
              joined<&LimitRow::use, &LimitUse::month, &PeriodUse::payments>("u.month_payments"),
              joined<&LimitRow::asset, &Asset::code>("c.code"),
              joined<&LimitRow::asset, &Asset::decimals>("c.decimals"),
              joined<&LimitRow::application>(
                  "(SELECT id FROM applications a WHERE a.application = l.application)"),
              joined<&LimitRow::wallet>("(SELECT id FROM wallets w WHERE w.wallet = l.wallet)"),
              joined<&LimitRow::updated_at>("l.updated_at")});
  return out;
}
const auto kLimitColumns = limit_columns();
#define OF_HOLDER                                                 \
  " WHERE tenant = ?1 AND ifnull(application, 0) = ifnull(?2, 0)" \
  " AND ifnull(wallet, 0) = ifnull(?3, 0) AND asset = ?4"
const std::string kSelectLimit = select(kLimitColumns) +
                                 " FROM payment_limits l JOIN limit_use u USING (payment_limit)"
                                 " JOIN assets c ON c.asset = l.asset";
const std::string kFindLimit = kSelectLimit +
                               " WHERE l.payment_limit = (SELECT payment_limit FROM"
                               " payment_limits" OF_HOLDER ")";
const std::string kListLimits = kSelectLimit + " ORDER BY l.tenant, l.payment_limit";
constexpr const char* kHasLimits = "SELECT 1 FROM payment_limits WHERE tenant = ? LIMIT 1";
constexpr const char* kPutLimit =
    "INSERT INTO payment_limits (tenant, application, wallet, asset, per_payment, per_day,"
    " per_month, count_per_day, count_per_month, since, created_at, updated_at)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?11, ?10, ?10)"
    " ON CONFLICT (tenant, ifnull(application, 0), ifnull(wallet, 0), asset) DO UPDATE SET"
    " per_payment = excluded.per_payment, per_day = excluded.per_day,"
    " per_month = excluded.per_month, count_per_day = excluded.count_per_day,"
    " count_per_month = excluded.count_per_month, updated_at = excluded.updated_at";
constexpr const char* kLimitKey = "SELECT payment_limit FROM payment_limits" OF_HOLDER;
constexpr const char* kApplicationOf = "SELECT application FROM payments WHERE payment = ?";
constexpr const char* kBeginUse =
    "INSERT OR IGNORE INTO limit_use (payment_limit, day, day_amount, day_payments, month,"
    " month_amount, month_payments) VALUES (?1, ?2, 0, 0, ?3, 0, 0)";
constexpr const char* kStoreUse =
    "UPDATE limit_use SET day = ?2, day_amount = ?3, day_payments = ?4, month = ?5,"
    " month_amount = ?6, month_payments = ?7 WHERE payment_limit = ?1";
#undef OF_HOLDER

}  // namespace

bool has_limits(Connection& db, std::int64_t tenant) {
  return Query(db, kHasLimits, tenant).step();
}

std::optional<LimitRow> find_limit(Connection& db, const LimitHolder& holder) {
  auto row = first_row<LimitRow>(db, kFindLimit, kLimitColumns, holder.tenant, holder.application,
                                 holder.wallet, holder.asset);
  if (row) {
    require_intact(db, "payment_limits", row->key,
                   {{"tenant", holder.tenant},
                    {"application", holder.application},
                    {"wallet", holder.wallet},
                    {"asset", holder.asset}});
  }
  return row;
}

std::vector<LimitRow> list_limits(Connection& db) {
  return all_rows<LimitRow>(Query(db, kListLimits.c_str()), kLimitColumns);
}

std::vector<LimitRow> limits_on(Connection& db, const LimitHolder& payer) {
  std::vector<LimitRow> out;
  const auto add = [&](const LimitHolder& holder) {
    if (auto row = find_limit(db, holder)) out.push_back(*std::move(row));
  };
  add({payer.tenant, {}, {}, payer.asset});
  add({payer.tenant, payer.application, {}, payer.asset});
  add({payer.tenant, {}, payer.wallet, payer.asset});
  return out;
}

void put_limit(WriteTx& tx, const LimitHolder& holder, const PaymentLimits& limits) {
  tx.db().run(kPutLimit, holder.tenant, holder.application, holder.wallet, holder.asset,
              limits.per_payment, limits.per_day, limits.per_month, limits.payments_per_day,
              limits.payments_per_month, tx.now(), ledger_head(tx).payments);
  const auto key = first_integer(tx.db(), kLimitKey, holder.tenant, holder.application,
                                 holder.wallet, holder.asset);
  tx.db().run(kBeginUse, *key, day_start(tx.now()), month_start(tx.now()));
}

bool delete_limit(WriteTx& tx, const LimitHolder& holder) {
  const auto row = find_limit(tx.db(), holder);
  if (!row) return false;
  tx.db().run("DELETE FROM limit_use WHERE payment_limit = ?", row->key);
  tx.db().run("DELETE FROM payment_limits WHERE payment_limit = ?", row->key);
  return true;
}

void store_limit_use(WriteTx& tx, const LimitRow& row) {
  const auto& [day, month] = row.use;
  tx.db().run(kStoreUse, row.key, day.start, day.amount, day.payments, month.start, month.amount,
              month.payments);
  COFFER_CHECK(tx.db().changes() == 1);
}

void recount_limits(WriteTx& tx, const SettlementView& payment,
                    const std::optional<Amount>& refunded, const PaymentState& after) {
  for (std::size_t i = 0; i < payment.keys.legs.size(); ++i) {
    const PaymentKeys::Leg& leg = payment.keys.legs[i];
    if (!leg.source_wallet) continue;
    const Amount sent = payment.amounts[i];
    const Amount before = counted_by_limits(payment.status, sent, refunded);
    const Amount now = counted_by_limits(after.status, sent, after.refunded);
    if (before == now || !has_limits(tx.db(), payment.tenant)) continue;
    const auto application = first_integer(tx.db(), kApplicationOf, payment.key);
    for (LimitRow& row :
         limits_on(tx.db(), {payment.tenant, application, leg.source_wallet, *leg.asset})) {
      if (payment.key <= row.since) continue;
      recount_use(row.use, now - before, int{now.is_positive()} - int{before.is_positive()},
                  payment.sealed.created_at);
      store_limit_use(tx, row);
    }
  }
}

}  // namespace coffer::store
