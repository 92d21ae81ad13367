// The statement is put together from the filters in use, so that each filter keeps its index.
// Every value is bound; only fixed fragments are joined.
#include "store/payment_list.h"

#include <algorithm>

#include "domain/events/event_type.h"

namespace coffer::store {
namespace {

/// Values of all filters under fixed parameter numbers; a fragment names those it uses.
///  ?1 tenant  ?2 status  ?3 type  ?4 wallet  ?5 asset  ?6 transactionId  ?7 reference
///  ?8 createdFrom  ?9 createdTo  ?10 updatedFrom  ?11 position  ?12 limit  ?13 beneficiary
///  ?14 connector
constexpr const char* kWalletOf = "(SELECT wallet FROM wallets WHERE id = ?4 AND tenant = ?1)";
constexpr const char* kAssetOf = "(SELECT asset FROM assets WHERE code = ?5)";

std::string conditions(const PaymentFilter& filter) {
  std::string sql = "p.tenant = ?1";
  const std::string asset = kAssetOf;
  if (filter.status) sql += " AND p.status = ?2";
  // Says nothing new, but without these words payments_not_succeeded is not used, and who looks for
  // what is under way reads every payment there ever was.
  if (filter.status && *filter.status != PaymentStatus::succeeded) sql += " AND p.status <> 2";
  if (filter.type) sql += " AND p.type = ?3";
  if (filter.asset) {
    sql += " AND (p.sending_asset = " + asset + " OR p.receiving_asset = " + asset +
           " OR EXISTS (SELECT 1 FROM payment_legs x WHERE x.payment = p.payment AND x.asset = " +
           asset + "))";
  }
  if (filter.transaction_id) sql += " AND p.transaction_id = ?6";
  if (filter.reference) {
    sql +=
        " AND (p.from_ref = ?7 OR p.to_ref = ?7 OR EXISTS (SELECT 1 FROM payment_legs y"
        " WHERE y.payment = p.payment AND (y.from_ref = ?7 OR y.to_ref = ?7)))";
  }
  if (filter.created_from) sql += " AND p.created_at >= ?8";
  if (filter.created_to) sql += " AND p.created_at < ?9";
  if (filter.updated_from) sql += " AND p.updated_at >= ?10";
  if (filter.beneficiary) {
    sql +=
        " AND p.beneficiary ="
        " (SELECT beneficiary FROM beneficiaries WHERE id = ?13 AND tenant = ?1)";
  }
  if (filter.connector) {
    sql += " AND p.connector = (SELECT connector FROM connectors WHERE id = ?14)";
  }
  return sql;
}

std::string beyond(const PageAt& page, const std::string& column) {
  if (!page.key) return {};
  return " AND " + column + (page.backward ? " > ?11" : " < ?11");
}

std::string ordered(const PageAt& page, const std::string& column) {
  return " ORDER BY " + column + (page.backward ? "" : " DESC") + " LIMIT ?12";
}

/// One arm per way a payment can touch the wallet, each along its own index.
std::string by_wallet(const PaymentFilter& filter, const PageAt& page) {
  const std::string wallet = kWalletOf;
  const std::string rest = conditions(filter) + beyond(page, "p.payment");
  std::string arms;
  const auto arm = [&](const std::string& from, const std::string& where) {
    if (!arms.empty()) arms += " UNION ";
    arms += "SELECT payment FROM (SELECT p.payment AS payment FROM " + from + " WHERE " + where +
            " = " + wallet + " AND " + rest + ordered(page, "p.payment") + ")";
  };
  arm("payments p", "p.source_wallet");
  arm("payments p", "p.destination_wallet");
  arm("payment_legs l JOIN payments p ON p.payment = l.payment", "l.source_wallet");
  arm("payment_legs l JOIN payments p ON p.payment = l.payment", "l.destination_wallet");
  return "SELECT payment, payment FROM (" + arms + ")" + ordered(page, "payment");
}

static_assert(stored(PaymentStatus::succeeded) == 2);
static_assert(stored(EventType::payment_refund_failed) == 6);

/// Events stand in the order of changes; the last one of a record is where it belongs.
std::string by_update(const PaymentFilter& filter, const PageAt& page) {
  std::string sql =
      "SELECT p.payment, e.sequence FROM events e JOIN payments p ON p.payment = e.payment"
      " AND p.version = e.version AND e.type <= 6 WHERE e.tenant = ?1 AND " +
      conditions(filter);
  if (filter.wallet) {
    const std::string wallet = kWalletOf;
    sql += " AND (p.source_wallet = " + wallet + " OR p.destination_wallet = " + wallet +
           " OR EXISTS (SELECT 1 FROM payment_legs z WHERE z.payment = p.payment"
           " AND (z.source_wallet = " +
           wallet + " OR z.destination_wallet = " + wallet + ")))";
  }
  return sql + beyond(page, "e.sequence") + ordered(page, "e.sequence");
}

std::string list_sql(const PaymentFilter& filter, const PageAt& page) {
  if (filter.sort == PaymentSort::updated_at) return by_update(filter, page);
  if (filter.wallet) return by_wallet(filter, page);
  return "SELECT p.payment, p.payment FROM payments p WHERE " + conditions(filter) +
         beyond(page, "p.payment") + ordered(page, "p.payment");
}

}  // namespace

PaymentPage list_payments(Connection& db, const Tenant& tenant, const PaymentFilter& filter,
                          const PageAt& page) {
  std::optional<std::string> asset;
  if (filter.asset) asset = filter.asset->value();
  PaymentPage out;
  std::vector<std::int64_t> keys;
  {
    Query query(db, db.interned(list_sql(filter, page)));
    const auto bind = [&](int index, const auto& value) {
      if (value) query.bind(index, *value);
    };
    query.bind(1, tenant.key);
    bind(2, filter.status);
    bind(3, filter.type);
    bind(4, filter.wallet);
    bind(5, asset);
    bind(6, filter.transaction_id);
    bind(7, filter.reference);
    bind(8, filter.created_from);
    bind(9, filter.created_to);
    bind(10, filter.updated_from);
    bind(11, page.key);
    query.bind(12, page.limit);
    bind(13, filter.beneficiary);
    bind(14, filter.connector);
    while (query.step()) {
      keys.push_back(query.integer(0));
      out.positions.push_back(query.integer(1));
    }
  }
  if (page.backward) {
    std::reverse(keys.begin(), keys.end());
    std::reverse(out.positions.begin(), out.positions.end());
  }
  for (const std::int64_t key : keys) out.records.push_back(*find_payment_by_key(db, key));
  return out;
}

}  // namespace coffer::store
