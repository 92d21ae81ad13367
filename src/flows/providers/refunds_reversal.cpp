// Reversals, by integrators and operators.
#include <algorithm>

#include "base/check.h"
#include "flows/ledger/market_changes.h"
#include "flows/payments/payment_steps.h"
#include "flows/providers/collection_refunds.h"
#include "flows/providers/provider_movements.h"
#include "flows/providers/refunds.h"
#include "store/identity/tenants.h"
#include "store/ledger/wallets.h"
#include "store/operations/payment_lists.h"
#include "store/parties/beneficiaries.h"

namespace coffer::flows {
namespace {

using store::Movement;
using store::PaymentRecord;
using store::ProviderView;
using store::RefundRow;
using store::SettlementView;

enum class ReversedBy { integrator, operating };

/// Whether payments of this type can be reversed, and by whom.
Result<void> check_reversible(PaymentType type, ReversedBy by) {
  if (by == ReversedBy::operating && (is_swap(type) || type == PaymentType::offramp)) return {};
  if (is_swap(type)) {
    return unexpected(Slug::forbidden,
                      "Only the operator can reverse a swap, because it moves back at the original "
                      "amounts, whatever the rate is now. Swap back instead.");
  }
  const char* why = nullptr;
  if (has_legs(type)) {
    why =
        "A multi-transfer cannot be reversed. Transfer the amounts back with a new one, which also "
        "settles completely or not at all.";
  } else if (type == PaymentType::offramp) {
    why =
        "A payout cannot be reversed, because the recipient's bank has the money. If the bank "
        "returns it, coffer credits the wallet.";
  }
  if (why != nullptr) return unexpected(Slug::validation_failed, why);
  return {};
}

/// The wallet that received a payment between wallets. `forbidden` if it belongs to another
/// association and the caller is an integrator.
Result<std::int64_t> receiving_wallet(store::WriteTx& tx, const Tenant& tenant,
                                      const SettlementView& payment, ReversedBy by) {
  if (!is_to_address(payment.type)) return *payment.keys.legs.front().destination_wallet;
  const auto row = store::find_destination_by_key(tx.db(), *payment.keys.destination);
  COFFER_CHECK(row.has_value());
  const auto& address = std::get<CryptoDetails>(row->detail.details).wallet_address;
  if (by == ReversedBy::integrator && !store::find_wallet_by_public_key(tx.db(), tenant, address)) {
    return unexpected(
        Slug::forbidden,
        "Another association received this payment. Ask it to pay you back, or ask the operator.");
  }
  const auto owner = store::find_address(tx.db(), payment.environment, address);
  COFFER_CHECK(owner.has_value());
  return owner->wallet;
}

/// The movements that give back `amount` of the sent amount; the received amount of a swap, which
/// goes back as a whole.
Result<std::vector<Movement>> reversal_movements(store::WriteTx& tx, const Tenant& tenant,
                                                 const PaymentRecord& record,
                                                 const SettlementView& payment, Amount amount,
                                                 ReversedBy by) {
  if (is_collection(payment.type)) return collection_movements(tx, record, payment, amount);
  if (payment.type == PaymentType::offramp) {
    auto out = refund_movements(tx, store::provider_view(tx, payment.key));
    out.resize(1);
    out.front().posting.amount = amount;
    return out;
  }
  const auto& leg = payment.keys.legs.front();
  COFFER_TRY(const std::int64_t from, receiving_wallet(tx, tenant, payment, by));
  for (const std::int64_t wallet : {from, *leg.source_wallet}) {
    if (store::wallet_status(tx.db(), wallet) == WalletStatus::verified) continue;
    return unexpected(Slug::wallet_not_verified,
                      "Both wallets of the payment must be verified to reverse it.");
  }
  const AccountKey source = trustline(tx, *leg.source_wallet, *leg.asset);
  if (!is_swap(payment.type)) {
    return std::vector<Movement>{{{trustline(tx, from, *leg.asset), source, amount}, 0}};
  }
  const auto pool = [&](std::int64_t asset) {
    return store::operator_account(tx, payment.environment, AccountKind::liquidity, asset);
  };
  const std::int64_t received = *payment.receiving_asset;
  return std::vector<Movement>{
      {{trustline(tx, from, received), pool(received), *payment.receiving_amount}, 0},
      {{pool(*leg.asset), source, amount}, 0}};
}

/// The amount to give back.
Result<Amount> reversal_amount(store::WriteTx& tx, const PaymentRecord& record,
                               const SettlementView& payment, const Reversal& reversal) {
  const GivenBack before = given_back(tx.db(), payment);
  const Amount left = reversible(record) - before.amount;
  const Amount amount = reversal.amount.value_or(left);
  const std::string code = record.sending_asset->value();
  const int decimals = record.sending_decimals;
  // What is left may have more places than the asset has now.
  if (amount != left && truncate_to(amount, decimals) != amount) {
    return unexpected(Problem(Slug::amount_precision, "The amount is too precise.",
                              {{"amount", decimals_rule(code, decimals)}}));
  }
  if (amount > left || !left.is_positive()) {
    return unexpected(
        Problem(Slug::reversal_exceeds_payment,
                "The payment has " + left.to_string(decimals) + " " + code + " left to reverse.",
                {{"amount", "exceeds what is left of the payment"}}));
  }
  // Failed ones are in the history of each event too.
  const auto failed = std::ranges::count(store::refunds_of(tx.db(), payment.key),
                                         RefundState::failed, &RefundRow::state);
  const std::size_t parts = before.parts + static_cast<std::size_t>(failed);
  if (parts >= kRefundsMax) {
    return unexpected(Slug::conflict, "The reversal of this payment has been tried " +
                                          std::to_string(parts) +
                                          " times. Give the money back in another way.");
  }
  if (parts + 1 == kRefundsMax && amount != left) {
    return unexpected(Slug::validation_failed,
                      "This is the last of " + std::to_string(kRefundsMax) +
                          " parts in which a payment can be reversed. Reverse all that is left.");
  }
  if (is_swap(record.request.type) && amount != *record.sending_amount) {
    return unexpected(Slug::validation_failed, "A swap is reversed as a whole.");
  }
  return amount;
}

Result<void> check_reversal_state(store::WriteTx& tx, const PaymentRecord& record,
                                  const SettlementView& payment) {
  if (!was_paid(payment)) {
    return unexpected(Slug::conflict,
                      "Only a payment that has succeeded can be reversed. This one is " +
                          std::string(name(payment.status)) + ".");
  }
  if (record.provider && record.provider->open_item == OpenItem::contradicted) {
    return unexpected(Slug::conflict,
                      "The provider contradicts the status of this payment. The operator decides "
                      "first.");
  }
  const bool asks = record.provider && (is_checking(record.provider->open_item) ||
                                        store::find_provider_job(tx.db(), record.key));
  if (!asks) return {};
  return unexpected(Slug::conflict, "A request to the provider is in progress.");
}

Result<void> check_reversal_funds(store::WriteTx& tx, Environment environment,
                                  const std::vector<Movement>& movements) {
  for (const Movement& movement : movements) {
    if (!may_enter(tx, environment, movement.posting)) {
      return unexpected(Slug::conflict, "The ledger cannot hold this amount.");
    }
    if (is_covered(tx, {movement})) continue;
    const bool wallet = tx.balances().get(movement.posting.debit).kind == AccountKind::wallet;
    return unexpected(Problem(Slug::insufficient_funds,
                              wallet ? "The recipient does not have sufficient available funds."
                                     : "The market does not hold enough of the asset.",
                              {{"amount", "exceeds the available balance"}}));
  }
  return {};
}

/// The result of an earlier request with this transactionId, if there is one.
Result<std::optional<Submission>> earlier_reversal(store::WriteTx& tx, const Tenant& tenant,
                                                   const Reversal& reversal) {
  const auto known = store::find_reversal(tx.db(), tenant, reversal.transaction_id);
  if (!known) {
    if (store::find_by_transaction_id(tx.db(), tenant, reversal.transaction_id)) {
      return transaction_id_conflict({"transactionId"});
    }
    return std::optional<Submission>();
  }
  std::vector<std::string> differing;
  const auto payment = store::find_payment(tx.db(), tenant, reversal.payment);
  if (!payment || payment->key != known->payment) differing.emplace_back("transactionRecordId");
  if (known->wanted != reversal.amount) differing.emplace_back("amount");
  if (known->reason != reversal.reason) differing.emplace_back("reason");
  if (!differing.empty()) return transaction_id_conflict(differing);
  return std::optional(Submission{reversal.payment, true});
}

Result<Submission> reverse(const Context& context, store::WriteTx& tx, const Tenant& tenant,
                           const Reversal& reversal, ReversedBy by) {
  COFFER_TRY(const auto before, earlier_reversal(tx, tenant, reversal));
  if (before) return *before;
  if (by == ReversedBy::integrator) {
    COFFER_TRY_VOID(require_active(tx.association_status(tenant)));
    COFFER_TRY_VOID(tx.check_quota(tenant, Quota::file_bytes));
  }
  COFFER_TRY(const auto record,
             existing(store::find_payment(tx.db(), tenant, reversal.payment), "payment"));
  SettlementView payment = store::settlement_view(tx.db(), record.key);
  COFFER_TRY_VOID(check_reversible(payment.type, by));
  COFFER_TRY_VOID(check_reversal_state(tx, record, payment));
  COFFER_TRY(const Amount amount, reversal_amount(tx, record, payment, reversal));
  COFFER_TRY(const auto movements, reversal_movements(tx, tenant, record, payment, amount, by));
  COFFER_TRY_VOID(check_reversal_funds(tx, payment.environment, movements));
  RefundRow row;
  row.payment = payment.key;
  row.tenant = tenant.key;
  row.reason = reversal.reason;
  row.transaction_id = reversal.transaction_id;
  row.wanted = reversal.amount;
  if (is_collection(payment.type)) {
    row.asked = amount;
    row.held = movements.front().posting.amount;
    ProviderView view = store::provider_view(tx, payment.key);
    begin_refund(context, tx, view, row);
  } else {
    row.amount = amount;
    book_refund(context, tx, payment, row, movements);
  }
  return Submission{reversal.payment, false};
}

}  // namespace

Result<Submission> reverse_payment(const Context& context, const Caller& caller,
                                   const Reversal& reversal, bool validate_only) {
  return context.write(
      [&](store::WriteTx& tx) {
        return reverse(context, tx, caller.tenant, reversal, ReversedBy::integrator);
      },
      commit_unless(validate_only));
}

Result<Submission> reverse_for_operator(const Context& context, const Reversal& reversal,
                                        bool validate_only) {
  return context.write(
      [&](store::WriteTx& tx) -> Result<Submission> {
        COFFER_TRY(const auto key,
                   existing(store::payment_key(tx.db(), reversal.payment), "payment"));
        const Tenant tenant =
            store::tenant_by_key(tx.db(), store::find_payment_by_key(tx.db(), key)->tenant);
        return reverse(context, tx, tenant, reversal, ReversedBy::operating);
      },
      commit_unless(validate_only));
}

}  // namespace coffer::flows
