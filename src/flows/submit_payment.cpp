#include "flows/submit_payment.h"

#include <algorithm>
#include <optional>

#include "base/faults.h"
#include "domain/market.h"
#include "flows/events.h"
#include "store/catalog.h"
#include "store/journal.h"
#include "store/payments.h"
#include "store/wallets.h"

namespace coffer::flows {
namespace {

/// A request with every name in it resolved to rows.
struct Plan {
  store::PaymentKeys keys;
  std::vector<Posting> movements;  // what settlement will debit, in order
  std::optional<Amount> total;
};

class Planner {
 public:
  Planner(store::WriteTx& tx, const Caller& caller, const PaymentRequest& request)
      : tx_(tx), caller_(caller), request_(request) {}

  Result<Plan> plan() {
    for (std::size_t i = 0; i < request_.legs.size(); ++i) resolve_leg(i);
    if (request_.type == PaymentType::swap_own) resolve_swap();
    resolve_notification();
    if (!faults_.empty()) return unexpected(faults_.problem());
    COFFER_TRY_VOID(add_total());
    COFFER_TRY_VOID(check_funds());
    return std::move(plan_);
  }

 private:
  std::string field(std::size_t leg, const char* name) const {
    return request_.type == PaymentType::p2p_own_multi
               ? "transfers[" + std::to_string(leg) + "]." + name
               : name;
  }

  std::optional<store::WalletBrief> wallet(WalletId id, const std::string& name) {
    const auto brief = store::find_wallet_brief(tx_.db(), caller_.tenant, id);
    if (!brief) {
      faults_.add(Slug::not_found, name, "is not one of your wallets");
    } else if (brief->status != WalletStatus::verified) {
      faults_.add(Slug::wallet_not_verified, name,
                  "is " + std::string(coffer::name(brief->status)) +
                      "; only a Verified wallet can transact");
    }
    return brief;
  }

  std::optional<Asset> asset(const AssetCode& code, const std::string& name) {
    auto found = store::find_asset(tx_.db(), code);
    if (!found) {
      faults_.add(Slug::validation_failed, name,
                  "is no registered asset; GET /v1/assets lists them");
    }
    return found;
  }

  std::optional<AccountKey> trustline(const std::optional<store::WalletBrief>& wallet,
                                      const std::optional<Asset>& asset, const std::string& name) {
    if (!wallet || !asset) return std::nullopt;
    const auto account = store::find_trustline(tx_.db(), wallet->key, asset->key);
    if (!account) {
      faults_.add(Slug::trustline_missing, name,
                  "has no trustline for " + asset->code.value() +
                      "; add it with POST /v1/wallets/{walletId}/trustlines");
    }
    return account;
  }

  void check_precision(Amount amount, const std::optional<Asset>& asset, const std::string& name) {
    if (asset && truncate_to(amount, asset->decimals) != amount) {
      faults_.add(Slug::amount_precision, name,
                  asset->code.value() + " has " + std::to_string(asset->decimals) + " decimals");
    }
  }

  void resolve_leg(std::size_t index) {
    const TransferLeg& leg = request_.legs[index];
    const std::string source_field = field(index, "sourceWalletId");
    const std::string destination_field = field(index, "destinationWalletId");
    const auto source = wallet(leg.source_wallet, source_field);
    const auto destination = leg.destination_wallet == leg.source_wallet
                                 ? source
                                 : wallet(leg.destination_wallet, destination_field);
    const auto sending = asset(leg.sending_asset, field(index, "sendingAssetCode"));
    check_precision(leg.amount, sending, field(index, "amount"));
    const auto debit = trustline(source, sending, source_field);
    const bool swap = request_.type == PaymentType::swap_own;
    const auto credit = swap ? debit : trustline(destination, sending, destination_field);
    if (!source || !destination || !sending || !debit || !credit) return;
    plan_.keys.legs.push_back({source->key, destination->key, sending->key});
    // What a swap brings is known at settlement only; until then nothing is promised to anyone.
    plan_.movements.push_back({*debit, swap ? AccountKey{0} : *credit, leg.amount});
    destination_ = destination;
  }

  void resolve_swap() {
    const auto receiving = asset(*request_.receiving_asset, "receivingAssetCode");
    if (!receiving || plan_.keys.legs.empty()) return;
    plan_.keys.receiving_asset = receiving->key;
    trustline(destination_, receiving, "destinationWalletId");
    if (request_.min_receiving) {
      check_precision(*request_.min_receiving, receiving, "minReceivingAmount");
    }
    const auto rates = store::list_rates(tx_.db(), caller_.tenant.environment);
    const auto assets = store::list_assets(tx_.db());
    const auto path = best_path(rates, assets, plan_.keys.legs.front().asset, receiving->key,
                                request_.only().amount);
    if (!path) {
      faults_.add(Slug::validation_failed, "receivingAssetCode",
                  "the market has no path of at most " + std::to_string(kHopsMax) +
                      " rates to it that gives anything for this amount");
    }
  }

  /// The receiving wallet's own details are the registered addresses of an own-wallet payment.
  void resolve_notification() {
    if (!request_.notify_email && !request_.notify_whatsapp) return;
    const auto row = store::find_wallet(tx_.db(), caller_.tenant, request_.only().destination_wallet);
    bool email = false, phone = false;
    if (row && row->metadata) {
      if (const auto* person = std::get_if<PersonMetadata>(&*row->metadata)) {
        email = person->email.has_value();
        phone = person->phone.has_value();
      } else {
        email = std::get<BusinessMetadata>(*row->metadata).contact_email.has_value();
      }
    }
    if (request_.notify_email && !email) {
      faults_.add(Slug::validation_failed, "notifyEmail", "the receiver has no registered e-mail");
    }
    if (request_.notify_whatsapp && !phone) {
      faults_.add(Slug::validation_failed, "notifyWhatsApp",
                  "the receiver has no registered mobile number");
    }
  }

  /// Legs in different assets have no total.
  Result<void> add_total() {
    for (const auto& leg : plan_.keys.legs) {
      if (leg.asset != plan_.keys.legs.front().asset) return {};
    }
    Amount total;
    for (std::size_t i = 0; i < request_.legs.size(); ++i) {
      const auto sum = total.add(request_.legs[i].amount);
      if (!sum) {
        return unexpected(Problem(Slug::amount_out_of_range, "The sum of the transfers is too large.",
                                  {{field(i, "amount"), "makes the sum too large"}}));
      }
      total = *sum;
    }
    plan_.total = total;
    return {};
  }

  Result<void> check_funds() {
    std::vector<AccountState> accounts;
    for (const Posting& movement : plan_.movements) {
      accounts.push_back(tx_.balances().get(movement.debit));
      if (movement.credit != 0) accounts.push_back(tx_.balances().get(movement.credit));
    }
    const std::ptrdiff_t leg = first_uncovered(plan_.movements, accounts);
    if (leg < 0) return {};
    return unexpected(Problem(
        Slug::insufficient_funds, "The source wallet does not cover the amount.",
        {{field(static_cast<std::size_t>(leg), "amount"), "exceeds the available balance"}}));
  }

  store::WriteTx& tx_;
  const Caller& caller_;
  const PaymentRequest& request_;
  Faults faults_;
  Plan plan_;
  std::optional<store::WalletBrief> destination_;
};

/// The first acknowledgement again, or the conflict with the names of what differs.
Result<Submission> replay(const store::PaymentRecord& stored, const PaymentRequest& request) {
  const auto differing = differing_fields(stored.request, request);
  if (differing.empty()) return Submission{stored.id, true};
  Problem problem(Slug::transaction_id_conflict,
                  "This transactionId was used for a payment with other content.");
  for (const std::string& field : differing) {
    problem.fields.push_back({field, "differs from the first submission"});
  }
  return unexpected(std::move(problem));
}

Result<Submission> accept(const Context& context, store::WriteTx& tx, const Caller& caller,
                          const PaymentRequest& request, PaymentId id,
                          std::string_view request_id) {
  if (const auto stored =
          store::find_by_transaction_id(tx.db(), caller.tenant, request.transaction_id)) {
    return replay(*stored, request);
  }
  COFFER_TRY(const Plan plan, Planner(tx, caller, request).plan());
  COFFER_TRY(const auto holds, holds_for(plan.movements));
  const std::int64_t payment = store::insert_payment(
      tx, caller.tenant,
      {id, caller.application_key, request_id, request, plan.keys, plan.total});
  for (const Hold& hold : holds) store::place_hold(tx, payment, hold);
  emit_payment_event(tx, context.random, caller.tenant.key, payment, PaymentStatus::initiated, 1);
  store::add_settlement_job(tx, {tx.now().plus_ms(context.settle_delay_ms), payment});
  tx.signal(store::Signal::settlement);
  return Submission{id, false};
}

}  // namespace

Result<Submission> submit_payment(const Context& context, const Caller& caller,
                                  const PaymentRequest& request, std::string_view request_id,
                                  bool validate_only) {
  COFFER_TRY_VOID(check_request(request));
  const auto id = context.random.id<PaymentId>(context.clock.now());
  return store::run_for<Submission>(
      context.queue,
      [&](store::WriteTx& tx) { return accept(context, tx, caller, request, id, request_id); },
      validate_only ? store::CommitQueue::Mode::dry_run : store::CommitQueue::Mode::commit);
}

}  // namespace coffer::flows
