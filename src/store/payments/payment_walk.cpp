#include "store/payments/payment_walk.h"

#include <algorithm>
#include <limits>

namespace coffer::store {
namespace {

#define ASSET "coalesce(sending_asset, receiving_asset, 0)"
constexpr KeyIndex kAll = COFFER_KEY_INDEX("payment", "payments", "true");
constexpr KeyIndex kOfKind = COFFER_KEY_INDEX("payment", "payments INDEXED BY payments_by_kind",
                                              "tenant = ?3 AND type = ?4 AND " ASSET " = ?5");
constexpr KeyIndex kSwappedTo =
    COFFER_KEY_INDEX("payment", "payments INDEXED BY payments_swapped_to",
                     "tenant = ?3 AND receiving_asset = ?4 AND sending_asset IS NOT NULL");
constexpr KeyIndex kOfStatus =
    COFFER_KEY_INDEX("payment", "payments INDEXED BY payments_not_succeeded",
                     "tenant = ?3 AND status = ?4 AND status <> 2");
constexpr KeyIndex kFromWallet =
    COFFER_KEY_INDEX("payment", "payments INDEXED BY payments_from", "source_wallet = ?3");
constexpr KeyIndex kToWallet =
    COFFER_KEY_INDEX("payment", "payments INDEXED BY payments_to", "destination_wallet = ?3");
constexpr KeyIndex kLegsFrom =
    COFFER_KEY_INDEX("payment", "payment_legs INDEXED BY payment_legs_from", "source_wallet = ?3");
constexpr KeyIndex kLegsTo = COFFER_KEY_INDEX("payment", "payment_legs INDEXED BY payment_legs_to",
                                              "destination_wallet = ?3");
constexpr KeyIndex kOfBeneficiary =
    COFFER_KEY_INDEX("payment", "payments INDEXED BY payments_of_beneficiary", "beneficiary = ?3");
constexpr KeyIndex kOfConnector =
    COFFER_KEY_INDEX("payment", "payments INDEXED BY payments_of_connector", "connector = ?3");
constexpr KeyIndex kFromRef = COFFER_KEY_INDEX("payment", "payments INDEXED BY payments_from_ref",
                                               "tenant = ?3 AND from_ref = ?4");
constexpr KeyIndex kToRef = COFFER_KEY_INDEX("payment", "payments INDEXED BY payments_to_ref",
                                             "tenant = ?3 AND to_ref = ?4");
// Contains the payments of all tenants; fits() checks the tenant.
constexpr KeyIndex kLegsFromRef =
    COFFER_KEY_INDEX("payment", "payment_legs INDEXED BY payment_legs_from_ref", "from_ref = ?3");
constexpr KeyIndex kLegsToRef =
    COFFER_KEY_INDEX("payment", "payment_legs INDEXED BY payment_legs_to_ref", "to_ref = ?3");
constexpr const char* kNextAsset =
    "SELECT " ASSET
    " FROM payments INDEXED BY payments_by_kind WHERE tenant = ?1 AND type = ?2 AND " ASSET
    " > ?3 ORDER BY " ASSET " LIMIT 1";
#undef ASSET
constexpr const char* kOfTransactionId =
    "SELECT payment FROM payments WHERE tenant = ? AND transaction_id = ?";
static_assert(stored(PaymentStatus::succeeded) == 2);
constexpr const char* kOfIdPrefix =
    "SELECT payment FROM payments WHERE tenant = ?1 AND transaction_id >= ?2 AND transaction_id < "
    "?3"
    " LIMIT ?4";
constexpr const char* kWalletsOfPrefix =
    "SELECT wallet FROM wallets WHERE account_number >= ?1 AND account_number < ?2 LIMIT ?3";
constexpr KeyIndex kOfOpenItem =
    COFFER_KEY_INDEX("payment", "provider_payments INDEXED BY provider_payments_open",
                     "open_item = ?3 AND open_item <> 0");
static_assert(stored(OpenItem::none) == 0);
constexpr const char* kOpenItem = "SELECT open_item FROM provider_payments WHERE payment = ?";
constexpr const char* kFailure = "SELECT failure FROM payments WHERE payment = ?";

constexpr const char* kBrief =
    "SELECT " COFFER_PAYMENT_FILTER_COLUMNS " FROM payments p WHERE p.payment = ?";
constexpr const char* kLegs =
    "SELECT source_wallet, destination_wallet, asset, from_ref, to_ref FROM payment_legs"
    " WHERE payment = ?";
constexpr const char* kTenants =
    "SELECT tenant FROM tenants WHERE tenant > ? AND association IS NOT NULL";
constexpr const char* kCreated =
    "SELECT payment, created_at FROM payments WHERE payment >= ? ORDER BY payment LIMIT 1";
constexpr const char* kLast = "SELECT max(payment) FROM payments";

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kSeveralAssets = 0;
// With more tenants, read the payments of all tenants instead.
constexpr std::size_t kTenantsMax = 8;
// If more transactionIds begin with a text, the rows are checked one by one.
constexpr std::size_t kOfPrefixMax = 2'000;
constexpr int kWalletsOfPrefixMax = 20;
// Sorts after every character of a transactionId and of an account number.
constexpr char kAboveAscii = '\x7f';

bool is_rare(const std::optional<PaymentStatus>& status) {
  return status && *status != PaymentStatus::succeeded;
}

}  // namespace

PaymentWalk::PaymentWalk(Connection& db, const PaymentsWanted& wanted, Order order,
                         RowBudget& budget)
    : db_(db),
      wanted_(wanted),
      budget_(budget),
      walk_(db, order, budget),
      lowest_(wanted.from ? first_payment_since(db, *wanted.from) : 1),
      below_(wanted.to ? first_payment_since(db, *wanted.to) : kEnd) {}

bool PaymentWalk::is_narrow() const {
  return wanted_.wallet || wanted_.beneficiary || wanted_.connector || is_rare(wanted_.status) ||
         wanted_.transaction_id || wanted_.reference || wanted_.type || wanted_.asset ||
         wanted_.from || wanted_.to || wanted_.failure || wanted_.text || wanted_.open_item;
}

std::unique_ptr<KeySet> PaymentWalk::of_wallet(std::int64_t wallet) const {
  KeySets out;
  for (const KeyIndex* index : {&kFromWallet, &kToWallet, &kLegsFrom, &kLegsTo}) {
    out.push_back(walk_.of(*index, wallet));
  }
  return walk_.any(std::move(out));
}

std::vector<std::int64_t> PaymentWalk::tenants() const {
  const std::int64_t before_all = 0;
  return wanted_.tenants ? *wanted_.tenants : integers(db_, kTenants, before_all);
}

std::unique_ptr<KeySet> PaymentWalk::of_reference() const {
  KeySets out;
  for (const std::int64_t tenant : tenants()) {
    out.push_back(walk_.of(kFromRef, tenant, *wanted_.reference));
    out.push_back(walk_.of(kToRef, tenant, *wanted_.reference));
  }
  out.push_back(walk_.of(kLegsFromRef, *wanted_.reference));
  out.push_back(walk_.of(kLegsToRef, *wanted_.reference));
  return walk_.any(std::move(out));
}

std::unique_ptr<KeySet> PaymentWalk::of_status() const {
  KeySets out;
  for (const std::int64_t tenant : tenants()) {
    out.push_back(walk_.of(kOfStatus, tenant, *wanted_.status));
  }
  return walk_.any(std::move(out));
}

std::unique_ptr<KeySet> PaymentWalk::of_failure() const {
  KeySets out;
  for (const std::int64_t tenant : tenants()) {
    for (const PaymentStatus status : {PaymentStatus::failed, PaymentStatus::refund_pending,
                                       PaymentStatus::refunded, PaymentStatus::refund_failed}) {
      out.push_back(walk_.of(kOfStatus, tenant, status));
    }
  }
  return walk_.any(std::move(out));
}

/// nullptr if so many transactionIds begin with the text that the rows are checked one by one.
std::unique_ptr<KeySet> PaymentWalk::of_text() {
  const std::string above = *wanted_.text + kAboveAscii;
  text_wallets_ = integers(db_, kWalletsOfPrefix, *wanted_.text, above, kWalletsOfPrefixMax);
  std::vector<std::int64_t> keys;
  for (const std::int64_t tenant : tenants()) {
    const int limit = static_cast<int>(kOfPrefixMax + 1 - keys.size());
    const auto some = integers(db_, kOfIdPrefix, tenant, *wanted_.text, above, limit);
    budget_.spend(static_cast<std::int64_t>(some.size()) + 1);
    keys.insert(keys.end(), some.begin(), some.end());
    if (keys.size() > kOfPrefixMax) return nullptr;
  }
  text_is_narrow_ = true;
  KeySets out;
  out.push_back(walk_.known(std::move(keys)));
  for (const std::int64_t wallet : text_wallets_) out.push_back(of_wallet(wallet));
  return walk_.any(std::move(out));
}

/// A payment through a connector has none of the types before offramp.
std::vector<PaymentType> PaymentWalk::types() const {
  if (wanted_.type) return {*wanted_.type};
  std::vector<PaymentType> out;
  const int first = wanted_.connector ? stored(PaymentType::offramp) : 0;
  for (int i = first; i < static_cast<int>(terms<PaymentType>().size()); ++i) {
    out.push_back(static_cast<PaymentType>(i));
  }
  return out;
}

void PaymentWalk::add_kinds(KeySets& out, std::int64_t tenant) const {
  const auto add = [&](PaymentType type, std::int64_t asset) {
    out.push_back(walk_.of(kOfKind, tenant, type, asset));
  };
  for (const PaymentType type : types()) {
    if (wanted_.asset) {
      add(type, *wanted_.asset);
      if (type == PaymentType::p2p_own_multi) add(type, kSeveralAssets);
      continue;
    }
    std::int64_t last = -1;
    while (const auto asset = first_integer(db_, kNextAsset, tenant, type, last)) {
      budget_.spend(1);
      add(type, *asset);
      last = *asset;
    }
  }
  if (wanted_.asset) out.push_back(walk_.of(kSwappedTo, tenant, *wanted_.asset));
}

std::unique_ptr<KeySet> PaymentWalk::of_kind(bool by_tenant) const {
  if (!by_tenant) return walk_.of(kAll);
  KeySets out;
  for (const std::int64_t tenant : *wanted_.tenants) add_kinds(out, tenant);
  return walk_.any(std::move(out));
}

KeySets PaymentWalk::sets() {
  KeySets out;
  if (wanted_.transaction_id && wanted_.tenants) {
    std::vector<std::int64_t> keys;
    for (const std::int64_t tenant : *wanted_.tenants) {
      const auto found = first_integer(db_, kOfTransactionId, tenant, *wanted_.transaction_id);
      if (found) keys.push_back(*found);
    }
    out.push_back(walk_.known(std::move(keys)));
  }
  if (wanted_.beneficiary) out.push_back(walk_.of(kOfBeneficiary, *wanted_.beneficiary));
  if (wanted_.wallet) out.push_back(of_wallet(*wanted_.wallet));
  if (wanted_.reference) out.push_back(of_reference());
  if (is_rare(wanted_.status)) out.push_back(of_status());
  if (wanted_.failure && !wanted_.status) out.push_back(of_failure());
  if (wanted_.open_item) out.push_back(walk_.of(kOfOpenItem, *wanted_.open_item));
  if (wanted_.text) {
    if (auto set = of_text()) out.push_back(std::move(set));
  }
  // The index of a connector contains the payments of all tenants.
  const bool of_tenant = !out.empty();
  if (wanted_.connector) out.push_back(walk_.of(kOfConnector, *wanted_.connector));
  const bool few = wanted_.tenants && wanted_.tenants->size() <= kTenantsMax;
  if (out.empty() || (few && (!of_tenant || wanted_.type || wanted_.asset))) {
    out.push_back(of_kind(few));
  }
  return out;
}

KeyWalk::Found PaymentWalk::read(std::optional<std::int64_t> beyond, int limit,
                                 std::unique_ptr<KeySet> also) {
  KeySets all = sets();
  if (also) all.push_back(std::move(also));
  return walk_.read(all, {beyond, lowest_, below_, limit}, [&](std::int64_t payment) {
    Query q(db_, kBrief, payment);
    return q.step() && fits(q);
  });
}

bool PaymentWalk::fits(const Query& q) {
  const auto differs = [&](const std::optional<std::int64_t>& wanted, int column) {
    return wanted && wanted != q.optional_integer(column);
  };
  budget_.spend(1);
  const std::int64_t payment = q.integer(0);
  if (payment < lowest_ || payment >= below_ || !contains(wanted_.tenants, q.integer(1))) {
    return false;
  }
  if (wanted_.type && *wanted_.type != q.enumeration<PaymentType>(2)) return false;
  if (wanted_.status && *wanted_.status != q.enumeration<PaymentStatus>(3)) return false;
  if (wanted_.updated_from && q.time(10) < *wanted_.updated_from) return false;
  if (differs(wanted_.beneficiary, 11) || differs(wanted_.connector, 12)) return false;
  if (wanted_.transaction_id && *wanted_.transaction_id != q.text(13)) return false;
  if (wanted_.failure && !failure_fits(payment)) return false;
  if (wanted_.open_item && first_integer(db_, kOpenItem, payment) != stored(*wanted_.open_item)) {
    return false;
  }
  if (wanted_.text && !text_is_narrow_ && !text_fits(q)) return false;
  return legs_fit(q);
}

bool PaymentWalk::failure_fits(std::int64_t payment) const {
  return first_integer(db_, kFailure, payment) == static_cast<std::int64_t>(*wanted_.failure);
}

bool PaymentWalk::text_fits(const Query& q) const {
  if (q.text(13).starts_with(*wanted_.text)) return true;
  const auto is_one = [&](int column) {
    const auto wallet = q.optional_integer(column);
    return wallet &&
           std::find(text_wallets_.begin(), text_wallets_.end(), *wallet) != text_wallets_.end();
  };
  return is_one(6) || is_one(7);
}

/// The wallets, references and possibly several assets of a multi-transfer are in its legs.
bool PaymentWalk::legs_fit(const Query& q) {
  bool wallet = !wanted_.wallet, asset = !wanted_.asset, reference = !wanted_.reference;
  const auto look = [&](const Query& row, int wallets, int assets, int references) {
    for (const int side : {0, 1}) {
      wallet = wallet || row.optional_integer(wallets + side) == wanted_.wallet;
      reference = reference || row.optional_text(references + side) == wanted_.reference;
    }
    asset = asset || row.optional_integer(assets) == wanted_.asset;
  };
  look(q, 6, 4, 8);
  asset = asset || q.optional_integer(5) == wanted_.asset;
  if (q.enumeration<PaymentType>(2) == PaymentType::p2p_own_multi) {
    Query leg(db_, kLegs, q.integer(0));
    while (!(wallet && asset && reference) && leg.step()) {
      budget_.spend(1);
      look(leg, 0, 2, 3);
    }
  }
  return wallet && asset && reference;
}

std::int64_t first_payment_since(Connection& db, Timestamp at) {
  std::int64_t low = 1;
  std::int64_t high = last_payment(db) + 1;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    Query query(db, kCreated, middle);
    const bool there = query.step();
    if (there && query.time(1) < at) {
      low = query.integer(0) + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::int64_t last_payment(Connection& db) { return first_integer(db, kLast).value_or(0); }

}  // namespace coffer::store
