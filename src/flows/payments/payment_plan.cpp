#include "flows/payments/payment_plan.h"

#include "domain/ledger/market.h"
#include "store/ledger/catalog.h"
#include "store/ledger/known_rows.h"

namespace coffer::flows {
namespace {

/// The field name as the caller wrote it.
std::string leg_field(const PaymentRequest& request, std::size_t leg, const char* name) {
  return has_legs(request.type) ? "transfers[" + std::to_string(leg) + "]." + name : name;
}

/// In an own-wallet payment, the registered addresses are in the details of the receiving wallet.
void check_notification(PlanChecks& checks, const PaymentRequest& request) {
  if (!request.notify_email && !request.notify_whatsapp) return;
  const auto row =
      store::find_wallet(checks.db(), checks.caller().tenant, *request.only().destination_wallet);
  const bool known = row && row->metadata;
  checks.notification(request, known && email(*row->metadata), known && phone(*row->metadata));
}

std::optional<store::WalletBrief> plan_leg(PlanChecks& checks, const PaymentRequest& request,
                                           std::size_t index, PaymentPlan& plan) {
  const TransferLeg& leg = request.legs[index];
  const std::string source_field = leg_field(request, index, "sourceWalletId");
  const std::string destination_field = leg_field(request, index, "destinationWalletId");
  const auto source = checks.wallet(*leg.source_wallet, source_field);
  const auto destination = leg.destination_wallet == leg.source_wallet
                               ? source
                               : checks.wallet(*leg.destination_wallet, destination_field);
  const Asset* sending =
      checks.asset(leg.sending_asset, leg_field(request, index, "sendingAssetCode"));
  checks.precision(leg.amount, sending, leg_field(request, index, "amount"));
  const auto debit = checks.trustline(source, sending, source_field);
  const bool swap = is_swap(request.type);
  const auto credit = swap ? debit : checks.trustline(destination, sending, destination_field);
  if (!source || !destination || sending == nullptr || !debit || !credit) return destination;
  plan.keys.legs.push_back({source->key, destination->key, sending->key});
  // The proceeds of a swap are known only at settlement, so its movement has no receiving account.
  plan.movements.push_back({*debit, swap ? AccountKey{0} : *credit, leg.amount});
  return destination;
}

void plan_swap(PlanChecks& checks, const PaymentRequest& request,
               const std::optional<store::WalletBrief>& destination, PaymentPlan& plan) {
  const Asset* receiving = checks.asset(*request.receiving_asset, "receivingAssetCode");
  if (receiving == nullptr || plan.keys.legs.empty()) return;
  plan.keys.receiving_asset = receiving->key;
  checks.trustline(destination, receiving, "destinationWalletId");
  if (request.min_receiving) {
    checks.precision(*request.min_receiving, receiving, "minReceivingAmount");
  }
  const auto sending = store::find_asset(checks.db(), *plan.keys.legs.front().asset);
  checks.market_path(*sending, *receiving, request.only().amount);
}

/// Legs in different assets have no total.
Result<void> add_total(const PaymentRequest& request, PaymentPlan& plan) {
  for (const auto& leg : plan.keys.legs) {
    if (leg.asset != plan.keys.legs.front().asset) return {};
  }
  Amount total;
  for (std::size_t i = 0; i < request.legs.size(); ++i) {
    const auto sum = total.add(request.legs[i].amount);
    if (!sum) {
      return unexpected(
          Problem(Slug::amount_out_of_range, "The sum of the transfers is too large.",
                  {{leg_field(request, i, "amount"), "makes the sum of the transfers too large"}}));
    }
    total = *sum;
  }
  plan.total = total;
  return {};
}

}  // namespace

std::optional<store::WalletBrief> PlanChecks::wallet(WalletId id, const std::string& field) {
  const auto brief = tx_.known().wallet(caller_.tenant, id);
  if (!brief) {
    errors_.add(Slug::not_found, field, "is not one of your wallets");
  } else if (brief->status != WalletStatus::verified) {
    errors_.add(
        Slug::wallet_not_verified, field,
        "is " + std::string(coffer::name(brief->status)) + "; only a Verified wallet can transact");
  }
  return brief;
}

const Asset* PlanChecks::asset(const AssetCode& code, const std::string& field) {
  const Asset* found = tx_.known().asset(code);
  if (found == nullptr) {
    errors_.add(Slug::validation_failed, field,
                "is not a registered asset; list assets with GET /v1/assets");
  }
  return found;
}

std::optional<AccountKey> PlanChecks::trustline(const std::optional<store::WalletBrief>& wallet,
                                                const Asset* asset, const std::string& field) {
  if (!wallet || asset == nullptr) return std::nullopt;
  const auto account = tx_.known().trustline(wallet->key, asset->key);
  if (!account) {
    errors_.add(Slug::trustline_missing, field,
                "has no trustline for " + asset->code.value() +
                    "; add it with POST /v1/wallets/{walletId}/trustlines");
  }
  return account;
}

void PlanChecks::precision(Amount amount, const Asset* asset, const std::string& field) {
  if (asset != nullptr && truncate_to(amount, asset->decimals) != amount) {
    errors_.add(Slug::amount_precision, field, decimals_rule(asset->code.value(), asset->decimals));
  }
}

std::optional<store::BeneficiaryRow> PlanChecks::beneficiary(BeneficiaryId id) {
  auto row = store::find_beneficiary(db(), caller_.tenant, id);
  if (!row || row->archived) {
    errors_.add(Slug::not_found, "beneficiaryId", "is not one of your beneficiaries");
    return std::nullopt;
  }
  return row;
}

std::optional<store::DestinationRow> PlanChecks::named_destination(
    const store::BeneficiaryRow& beneficiary, DestinationId id) {
  auto row = store::find_destination(db(), caller_.tenant, id);
  if (!row || row->archived || row->beneficiary != beneficiary.key) {
    errors_.add(Slug::not_found, "destinationId", "is not a destination of this beneficiary");
    return std::nullopt;
  }
  return row;
}

void PlanChecks::market_path(const Asset& sending, const Asset& receiving, Amount amount) {
  const auto rates = store::list_rates(db(), caller_.tenant.environment);
  const auto assets = store::list_assets(db());
  if (best_path(rates, assets, sending.key, receiving.key, amount)) return;
  errors_.add(Slug::validation_failed, "receivingAssetCode",
              "is not available: the market has no path of at most " + std::to_string(kHopsMax) +
                  " rates to it for this amount");
}

void PlanChecks::notification(const PaymentRequest& request, bool has_email, bool has_phone) {
  const std::string needs = request.beneficiary ? "needs a beneficiary with a registered "
                                                : "needs a receiving wallet with a registered ";
  if (request.notify_email && !has_email) {
    errors_.add(Slug::validation_failed, "notifyEmail", needs + "e-mail address");
  }
  if (request.notify_whatsapp && !has_phone) {
    errors_.add(Slug::validation_failed, "notifyWhatsApp", needs + "mobile number");
  }
}

Result<void> PlanChecks::funds(const std::vector<Posting>& movements,
                               const std::vector<std::string>& fields) {
  std::vector<AccountState> accounts;
  for (const Posting& movement : movements) {
    accounts.push_back(tx_.balances().get(movement.debit));
    if (movement.credit != 0) accounts.push_back(tx_.balances().get(movement.credit));
  }
  const std::ptrdiff_t leg = first_uncovered(movements, accounts);
  if (leg < 0) return {};
  return unexpected(
      Problem(Slug::insufficient_funds, "The source wallet does not have sufficient funds.",
              {{fields[static_cast<std::size_t>(leg)], "exceeds the available balance"}}));
}

Result<PaymentPlan> plan_own(PlanChecks& checks, const PaymentRequest& request) {
  PaymentPlan plan;
  plan.request = request;
  std::optional<store::WalletBrief> destination;
  std::vector<std::string> fields;
  for (std::size_t i = 0; i < request.legs.size(); ++i) {
    destination = plan_leg(checks, request, i, plan);
    fields.push_back(leg_field(request, i, "amount"));
  }
  if (is_swap(request.type)) plan_swap(checks, request, destination, plan);
  check_notification(checks, request);
  COFFER_TRY_VOID(checks.errors().check());
  COFFER_TRY_VOID(add_total(request, plan));
  COFFER_TRY_VOID(checks.funds(plan.movements, fields));
  return plan;
}

Result<PaymentPlan> plan_payment(const Context& context, store::WriteTx& tx, const Caller& caller,
                                 const PaymentRequest& request, CheckedFields& checked) {
  PlanChecks checks(context, tx, caller, checked);
  switch (request.type) {
    case PaymentType::p2p_own:
    case PaymentType::p2p_own_multi:
    case PaymentType::swap_own:
      return plan_own(checks, request);
    case PaymentType::p2p_beneficiary:
    case PaymentType::swap_beneficiary:
      return plan_to_address(checks, request);
    case PaymentType::offramp:
      return plan_offramp(checks, request);
    case PaymentType::onramp:
      return plan_collection(checks, request);
    case PaymentType::onramp_reference:
      break;
  }
  throw InternalError("no submission of payments of type " + std::string(name(request.type)));
}

}  // namespace coffer::flows
