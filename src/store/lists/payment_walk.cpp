#include "store/lists/payment_walk.h"

#include <algorithm>

#include "base/digest.h"
#include "store/payments/payments.h"

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
constexpr KeyIndex kOfTransactionId =
    COFFER_KEY_INDEX("payment", "payments", "tenant = ?3 AND transaction_id = ?4");
constexpr KeyIndex kOfMetadata =
    COFFER_KEY_INDEX("payment", "metadata_terms", "tenant = ?3 AND term = ?4");
constexpr const char* kMetadataText =
    "SELECT 1 FROM payments WHERE payment = ?1 AND"
    " iif(json_valid(metadata), json_extract(metadata, '$.\"' || ?2 || '\"'), NULL) = ?3";
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

// Without an index, which would make every payment more expensive: rows are read within the limit.
constexpr const char* kOfAmount =
    "SELECT 1 FROM payments WHERE payment = ?1 AND ((sending_amount >= ?2 AND sending_amount < ?3)"
    " OR (receiving_amount >= ?2 AND receiving_amount < ?3))";

constexpr const char* kBrief =
    "SELECT " COFFER_PAYMENT_FILTER_COLUMNS " FROM payments p WHERE p.payment = ?";
constexpr const char* kLegs =
    "SELECT source_wallet, destination_wallet, asset, from_ref, to_ref FROM payment_legs"
    " WHERE payment = ?";
constexpr const char* kTenants = "SELECT tenant FROM tenants WHERE association IS NOT NULL";
constexpr const char* kCreated =
    "SELECT payment, created_at FROM payments WHERE payment >= ? ORDER BY payment LIMIT 1";
constexpr const char* kLast = "SELECT max(payment) FROM payments";

constexpr std::int64_t kSeveralAssets = 0;
// With more tenants, read the payments of all tenants instead.
constexpr std::size_t kTenantsMax = 8;
// If more transactionIds begin with a text, the rows are checked one by one.
constexpr std::size_t kOfPrefixMax = 2'000;
constexpr int kWalletsOfPrefixMax = 20;
// Sorts after every character of a transactionId and of an account number.
constexpr char kAboveAscii = '\x7f';

ListRange range_of(Connection& db, const PaymentsWanted& wanted) {
  ListRange out;
  if (wanted.from) out.lowest = first_payment_since(db, *wanted.from);
  if (wanted.to) out.below = first_payment_since(db, *wanted.to);
  return out;
}

}  // namespace

PaymentWalk::PaymentWalk(Connection& db, const PaymentsWanted& wanted, KeyWalk& walk)
    : db_(db), wanted_(wanted), walk_(walk), range_(range_of(db, wanted)) {}

bool PaymentWalk::is_narrow() const {
  PaymentsWanted wide;
  wide.tenants = wanted_.tenants;
  wide.updated_from = wanted_.updated_from;
  if (wanted_.status == PaymentStatus::succeeded) wide.status = wanted_.status;
  return wanted_ != wide;
}

KeySources PaymentWalk::of_wallet(std::int64_t wallet) const {
  return {walk_.along(kFromWallet, wallet), walk_.along(kToWallet, wallet),
          walk_.along(kLegsFrom, wallet), walk_.along(kLegsTo, wallet)};
}

std::vector<std::int64_t> PaymentWalk::tenants() const {
  return wanted_.tenants ? *wanted_.tenants : integers(db_, kTenants);
}

template <class... Args>
void PaymentWalk::add_of_tenants(KeySources& out, const KeyIndex& index,
                                 const Args&... args) const {
  for (const std::int64_t tenant : tenants()) out.push_back(walk_.along(index, tenant, args...));
}

KeySources PaymentWalk::of_reference() const {
  const std::string& reference = *wanted_.reference;
  KeySources out{walk_.along(kLegsFromRef, reference), walk_.along(kLegsToRef, reference)};
  add_of_tenants(out, kFromRef, reference);
  add_of_tenants(out, kToRef, reference);
  return out;
}

KeySources PaymentWalk::of_statuses(const std::vector<PaymentStatus>& statuses) const {
  KeySources out;
  for (const PaymentStatus status : statuses) add_of_tenants(out, kOfStatus, status);
  return out;
}

/// nullopt if so many transactionIds begin with the text that the rows are checked one by one.
std::optional<KeySources> PaymentWalk::of_text() {
  const std::string above = *wanted_.text + kAboveAscii;
  text_wallets_ = integers(db_, kWalletsOfPrefix, *wanted_.text, above, kWalletsOfPrefixMax);
  std::vector<std::int64_t> keys;
  for (const std::int64_t tenant : tenants()) {
    const int limit = static_cast<int>(kOfPrefixMax + 1 - keys.size());
    const auto some = integers(db_, kOfIdPrefix, tenant, *wanted_.text, above, limit);
    walk_.spend(static_cast<std::int64_t>(some.size()) + 1);
    keys.insert(keys.end(), some.begin(), some.end());
    if (keys.size() > kOfPrefixMax) return std::nullopt;
  }
  KeySources out{walk_.known(std::move(keys))};
  for (const std::int64_t wallet : text_wallets_) {
    for (KeySource& source : of_wallet(wallet)) out.push_back(std::move(source));
  }
  return out;
}

void PaymentWalk::add_kinds(KeySources& out, std::int64_t tenant, PaymentType type) const {
  const auto add = [&](std::int64_t asset) {
    out.push_back(walk_.along(kOfKind, tenant, type, asset));
  };
  if (wanted_.asset) {
    add(*wanted_.asset);
    if (type == PaymentType::p2p_own_multi) add(kSeveralAssets);
    return;
  }
  std::int64_t last = -1;
  while (const auto asset = first_integer(db_, kNextAsset, tenant, type, last)) {
    walk_.spend(1);
    add(*asset);
    last = *asset;
  }
}

/// The payments of the tenants, of one type and asset if these are wanted.
KeySources PaymentWalk::of_kind() const {
  KeySources out;
  for (const std::int64_t tenant : *wanted_.tenants) {
    for (std::size_t i = 0; i < terms<PaymentType>().size(); ++i) {
      const auto type = static_cast<PaymentType>(i);
      if (wanted_.type.value_or(type) == type) add_kinds(out, tenant, type);
    }
    if (wanted_.asset) out.push_back(walk_.along(kSwappedTo, tenant, *wanted_.asset));
  }
  return out;
}

std::vector<KeySources> PaymentWalk::filters() {
  std::vector<KeySources> out;
  if (wanted_.transaction_id) {
    add_of_tenants(out.emplace_back(), kOfTransactionId, *wanted_.transaction_id);
  }
  for (const auto& [key, text] : wanted_.metadata) {
    add_of_tenants(out.emplace_back(), kOfMetadata, metadata_term(key, text));
  }
  if (wanted_.beneficiary) out.push_back({walk_.along(kOfBeneficiary, *wanted_.beneficiary)});
  if (wanted_.wallet) out.push_back(of_wallet(*wanted_.wallet));
  if (wanted_.reference) out.push_back(of_reference());
  if (wanted_.status && *wanted_.status != PaymentStatus::succeeded) {
    out.push_back(of_statuses({*wanted_.status}));
  } else if (wanted_.failure && !wanted_.status) {
    out.push_back(of_statuses({PaymentStatus::failed, PaymentStatus::refund_pending,
                               PaymentStatus::refunded, PaymentStatus::refund_failed}));
  }
  if (wanted_.text) {
    if (auto sources = of_text()) out.push_back(*std::move(sources));
  }
  // The indexes that follow contain the payments of all tenants.
  const bool few = wanted_.tenants && wanted_.tenants->size() <= kTenantsMax;
  if (few && (out.empty() || wanted_.type || wanted_.asset)) out.push_back(of_kind());
  if (wanted_.open_item) out.push_back({walk_.along(kOfOpenItem, *wanted_.open_item)});
  if (wanted_.connector) out.push_back({walk_.along(kOfConnector, *wanted_.connector)});
  if (out.empty()) out.push_back({walk_.along(kAll)});
  return out;
}

KeyPage PaymentWalk::read(const KeySources& also) {
  std::vector<KeySources> all = filters();
  if (!also.empty()) all.push_back(also);
  const auto is_match = [&](std::int64_t payment) {
    Query q(db_, kBrief, payment);
    return q.step() && fits(q);
  };
  return walk_.read(all, is_match, range_);
}

bool PaymentWalk::fits(const Query& q) {
  const auto differs = [&](const std::optional<std::int64_t>& wanted, int column) {
    return wanted && wanted != q.optional_integer(column);
  };
  const std::int64_t payment = q.integer(0);
  if (payment < range_.lowest || payment >= range_.below) return false;
  if (!contains(wanted_.tenants, q.integer(1))) return false;
  if (wanted_.type && *wanted_.type != q.enumeration<PaymentType>(2)) return false;
  if (wanted_.status && *wanted_.status != q.enumeration<PaymentStatus>(3)) return false;
  if (wanted_.updated_from && q.time(10) < *wanted_.updated_from) return false;
  if (differs(wanted_.beneficiary, 11) || differs(wanted_.connector, 12)) return false;
  if (wanted_.transaction_id && *wanted_.transaction_id != q.text(13)) return false;
  // A payment that was corrected to succeeded keeps the failure of its first status.
  if (wanted_.failure && (q.enumeration<PaymentStatus>(3) == PaymentStatus::succeeded ||
                          q.optional_integer(14) != stored(*wanted_.failure))) {
    return false;
  }
  if (wanted_.open_item && first_integer(db_, kOpenItem, payment) != stored(*wanted_.open_item)) {
    return false;
  }
  return amount_fits(payment) && metadata_fits(payment) && legs_fit(q);
}

bool PaymentWalk::amount_fits(std::int64_t payment) {
  const auto& wanted = wanted_.amount;
  return !wanted || first_integer(db_, kOfAmount, payment, wanted->lowest, wanted->below);
}

bool PaymentWalk::metadata_fits(std::int64_t payment) {
  return std::ranges::all_of(wanted_.metadata, [&](const auto& one) {
    return first_integer(db_, kMetadataText, payment, one.first, one.second).has_value();
  });
}

/// The wallets, references and possibly several assets of a multi-transfer are in its legs.
bool PaymentWalk::legs_fit(const Query& q) {
  bool wallet = !wanted_.wallet, asset = !wanted_.asset, reference = !wanted_.reference;
  bool text = !wanted_.text || q.text(13).starts_with(*wanted_.text);
  const auto look = [&](const Query& row, int wallets, int assets, int references) {
    for (const int side : {0, 1}) {
      const auto found = row.optional_integer(wallets + side);
      wallet = wallet || found == wanted_.wallet;
      text = text || (found && std::ranges::find(text_wallets_, *found) != text_wallets_.end());
      reference = reference || row.optional_text(references + side) == wanted_.reference;
    }
    asset = asset || row.optional_integer(assets) == wanted_.asset;
  };
  look(q, 6, 4, 8);
  asset = asset || q.optional_integer(5) == wanted_.asset;
  if (q.enumeration<PaymentType>(2) == PaymentType::p2p_own_multi) {
    Query leg(db_, kLegs, q.integer(0));
    while (!(wallet && asset && reference && text) && leg.step()) {
      walk_.spend(1);
      look(leg, 0, 2, 3);
    }
  }
  return wallet && asset && reference && text;
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
