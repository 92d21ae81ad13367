// A second, simple implementation of the ledger's rules: balances in a map, rules as loops, 128-bit
// numbers. Shares no code with the ledger except the types of a request and of a provider's
// response.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "domain/payments/limit.h"
#include "domain/payments/payment.h"
#include "property/world.h"

namespace coffer::property {

__extension__ typedef __int128 Wide;

/// Mistakes that a model can be told to make, which the comparison must find.
enum class WrongRule {
  none,
  hold_leaves_out_the_fee,
  fee_rounds_down,
  refund_keeps_the_fee,
  failure_keeps_the_hold,
  pool_is_bottomless,
  swap_rounds_up,
  review_is_ignored,
  lost_submission_is_sent_again,
  quote_works_twice,
  underpayment_is_ignored,
  return_gives_back_the_fee,
  return_rounds_up,
  reversal_ignores_holds,
  refund_share_rounds_down,
  failure_keeps_its_count,
  limit_counts_the_fee,
  limit_day_lasts,
};
constexpr int kWrongRules = 18;

struct ModelAccount {
  Wide balance = 0;
  Wide held = 0;
};

/// The place of an account: (wallet, asset), both by index.
using Place = std::pair<std::size_t, std::size_t>;

/// The part of a payment at a provider.
struct ModelSide {
  std::size_t connector = 0;
  Wide send = 0, receive = 0, fee = 0, total = 0;
  ProviderState state = ProviderState::fresh;
  int submissions = 0;
  std::optional<std::int64_t> expires_at;
  Rate rate = {};                 // of the quote
  std::optional<Wide> collected;  // of an on-ramp, as last reported by its provider
  // To which it was first submitted; empty for a driver without addresses.
  std::string address = {};
};

/// A payout that came back, as its provider reports it.
struct ModelReturn {
  std::string id;
  Wide amount = 0;
  bool right_currency = true;
  bool with_fee = false;
};

struct ModelPayment {
  PaymentRequest request;
  PaymentId id;
  std::int64_t order = 0;  // of acceptance
  std::map<Place, Wide> holds;
  PaymentStatus status = PaymentStatus::initiated;
  std::optional<FailureCode> failure;
  std::optional<std::int64_t> receiving;
  std::optional<ModelSide> side;
  int asked = 0;  // of the job at the provider
  // Given back after success: of the sent amount, its part that belongs to returns, and the fee.
  Wide given = 0, of_returns = 0, fee_given = 0;
  Wide returned = 0;  // of the received amount
  std::vector<ModelReturn> waiting = {};
  // Of an on-ramp: what its payer gets and its wallet holds, while a refund is at the provider; and
  // what the wallet has given.
  Wide refunding = 0, share = 0, shares = 0;
  std::int64_t accepted_at = 0;

  bool gives_back() const {
    return request.type == PaymentType::onramp && status == PaymentStatus::refund_pending;
  }
  bool was_paid() const {
    const bool kept = request.type == PaymentType::onramp && status == PaymentStatus::refund_failed;
    return status == PaymentStatus::succeeded || given + fee_given > 0 || kept || gives_back();
  }
};

struct ModelQuote {
  QuoteId id;
  std::size_t connector = 0;
  Wide send = 0, receive = 0, fee = 0, total = 0;
  Rate rate = {};
  std::int64_t expires_at = 0;
  std::optional<std::size_t> beneficiary;
  bool used = false;
};

/// Whose limit it is, for payments in one asset.
struct LimitKey {
  enum class Holder { association, application, wallet };
  Holder holder = Holder::association;
  std::size_t wallet = 0;  // by index, of a wallet's limit
  std::size_t asset = 0;
  auto operator<=>(const LimitKey&) const = default;
};
struct ModelLimit {
  PaymentLimits limits;
  std::int64_t since = 0;  // the last payment before it was set
};
/// What counts of a day and of a month.
struct ModelUse {
  Wide day = 0, month = 0;
  std::int64_t day_payments = 0, month_payments = 0;
  bool operator==(const ModelUse&) const = default;
};

/// What becomes of a customer's payment on a reference.
struct ReferenceOutcome {
  Wide receive = 0;
  std::optional<FailureCode> failure;
};

/// The expected result of a submission or request: success, or a rejection for these reasons.
struct Verdict {
  std::set<Slug> wrong;
  bool replayed = false;
  /// The reason that is reported: 404 before 422 before 409; several with one status as its general
  /// slug.
  std::optional<Slug> slug() const;
  std::string words() const;
};

struct PriceQuestion {
  std::size_t connector = 0;
  Wide amount = 0;
  bool exact_receive = false;
  std::optional<std::size_t> beneficiary;
};

/// A call that a round must make.
struct ExpectedCall {
  std::string transaction_id;
  ProviderCall call;
  std::string address;  // to which the payment was first submitted
};

class Model {
 public:
  Model(const World& world, WrongRule wrong);

  // Payments between wallets and to addresses
  Verdict judge(const PaymentRequest& request, std::int64_t now) const;
  void accept(const PaymentRequest& request, PaymentId id, std::int64_t now);
  /// Settles up to `limit` due payments, which end or wait; returns their transactionIds.
  std::vector<std::string> settle(std::size_t limit, std::int64_t now);

  /// Why a reversal is rejected; `amount` 0: all that is left.
  std::optional<Slug> judge_reversal(const std::string& transaction_id, Wide amount) const;
  /// What is left of a payment that can be reversed.
  Wide left_of(const ModelPayment& payment) const;
  void reverse(const std::string& transaction_id, Wide amount, std::int64_t now);
  /// A return with an ID that was not reported before.
  void hear_return(const std::string& transaction_id, const ModelReturn& report, std::int64_t now);

  // Limits: what counts is counted anew from the payments.
  void set_limit(const LimitKey& key, const PaymentLimits& limits);
  void remove_limit(const LimitKey& key) { limits_.erase(key); }
  const std::map<LimitKey, ModelLimit>& limits() const { return limits_; }
  ModelUse use_of(const LimitKey& key, std::int64_t now) const;
  /// Whether a quote is beyond the limit of the association.
  bool exceeds(const ModelQuote& quote, std::int64_t now) const;

  // The market and the operator
  /// False if the circulating amount would exceed the capacity of one account.
  bool can_issue(std::size_t asset, Wide units) const;
  void fund(Place place, Wide units);
  void add_liquidity(std::size_t asset, Wide units);
  void set_rate(std::size_t sell, std::size_t buy, Rate rate) { rates_[{sell, buy}] = rate; }
  void remove_rate(std::size_t sell, std::size_t buy) { rates_.erase({sell, buy}); }
  bool has_rate(std::size_t sell, std::size_t buy) const { return rates_.contains({sell, buy}); }
  void set_usable(std::size_t wallet, bool usable) { wallets_[wallet].usable = usable; }
  void set_paused(std::size_t connector, bool paused);
  /// False while payments are in progress at the present address, if that differs.
  bool may_move(std::size_t connector, const std::string& address) const;
  void move(std::size_t connector, const std::string& address);
  void set_fee(std::size_t connector, const std::optional<FeeRule>& fee);
  bool has_fee(std::size_t connector) const { return fees_of_.contains(connector); }
  /// The proceeds of a swap now; 0 if there is no path.
  Wide quote(std::size_t sell, std::size_t buy, Wide units) const;

  // Providers
  /// The errors in a request before the provider is called.
  Verdict judge_question(const PriceQuestion& question) const;
  /// The result of the provider's response; without errors, the price is in `out`.
  Verdict judge_price(const PriceQuestion& question, const Result<outbound::ProviderQuote>& answer,
                      std::int64_t now, ModelQuote& out) const;
  void add_quote(const ModelQuote& quote) { quotes_.push_back(quote); }
  Verdict judge_expiry(std::size_t quote, std::int64_t now) const;
  void expire_quote(std::size_t quote, std::int64_t now) { quotes_[quote].expires_at = now; }
  /// The calls of a round, in order; `taken` counts the jobs.
  std::vector<ExpectedCall> begin_round(std::int64_t lane, int limit, std::int64_t now, int& taken);
  void hear(const std::string& transaction_id, const flows::ProviderReply& reply, std::int64_t now);
  /// Empty: done, or nothing to do.
  Verdict decide(const std::string& transaction_id, std::optional<FailureCode> failure,
                 std::int64_t now);
  void hurry(const std::string& transaction_id, std::int64_t now);
  /// The amount that a customer's payment on a reference credits; 0 if it is too small.
  Wide reference_price(Wide amount) const;
  void accept_reference(const PaymentRequest& request, PaymentId id,
                        const ReferenceOutcome& outcome, std::int64_t now);

  Wide available(Place place) const;
  std::size_t open_count() const { return settlement_.size(); }
  std::size_t provider_jobs(std::int64_t lane) const;
  const std::map<std::string, ModelPayment>& payments() const { return payments_; }
  const std::vector<ModelQuote>& quotes() const { return quotes_; }
  std::string transaction_of(PaymentId id) const;
  /// The first difference between the stored accounts and these, or empty.
  std::string difference(const std::vector<StoredAccount>& stored) const;

 private:
  struct Job {
    std::int64_t due;
    std::int64_t order;
    std::string id;
    auto operator<=>(const Job&) const = default;
  };
  using Jobs = std::set<Job>;
  /// (kind, wallet, connector, asset), by the keys of the store.
  using AccountName = std::array<std::int64_t, 4>;

  std::optional<std::size_t> wallet_index(WalletId id) const;
  std::optional<std::size_t> asset_index(const AssetCode& code) const;
  const WorldBeneficiary* beneficiary(const std::optional<BeneficiaryId>& id) const;
  const ModelQuote* find_quote(const std::optional<QuoteId>& id) const;
  bool trusts(std::size_t wallet, std::size_t asset) const;
  bool fits(Wide units, int decimals) const;
  void judge_wallet(WalletId id, std::set<Slug>& wrong) const;
  void judge_leg(const PaymentRequest& request, const TransferLeg& leg,
                 std::set<Slug>& wrong) const;
  void judge_unquoted(const PaymentRequest& request, std::set<Slug>& wrong) const;
  void judge_swap(const PaymentRequest& request, std::set<Slug>& wrong) const;
  void judge_address(const PaymentRequest& request, std::set<Slug>& wrong) const;
  const ModelQuote* judge_quote(const PaymentRequest& request, std::int64_t now,
                                std::set<Slug>& wrong) const;
  void judge_quoted(const PaymentRequest& request, std::int64_t now, std::set<Slug>& wrong) const;
  void judge_funds(const PaymentRequest& request, std::set<Slug>& wrong) const;
  using Legs = std::vector<std::pair<Place, Wide>>;
  /// What a payment takes out of wallets.
  Legs legs_out(const PaymentRequest& request) const;
  Wide counted(const ModelPayment& payment, Wide sent) const;
  bool exceeds(const Legs& legs, std::int64_t now) const;
  bool exceeds(const Legs& legs, const LimitKey& key, const PaymentLimits& most,
               std::int64_t now) const;
  Place source(const TransferLeg& leg) const;
  Place destination(const TransferLeg& leg) const;
  std::map<Place, Wide> holds_of(const PaymentRequest& request) const;
  void accept_quoted(ModelPayment& payment, std::int64_t now);
  void walk(std::vector<std::size_t>& path, Wide units, std::size_t buy, Wide& best) const;
  void settle_one(ModelPayment& payment, std::int64_t now);
  void settle_swap(ModelPayment& payment, std::optional<Place> to);
  /// The account that receives an address payment, or why it fails.
  std::optional<Place> arrival(const ModelPayment& payment, std::size_t asset,
                               FailureCode& why) const;
  void give_back(ModelPayment& payment);
  void fail(ModelPayment& payment, FailureCode code);

  Jobs& lane_of(const ModelPayment& payment);
  const Job* job_of(const ModelPayment& payment) const;
  void move_job(ModelPayment& payment, std::int64_t due, int asked);
  void end(ModelPayment& payment, PaymentStatus status);
  void ask_again(ModelPayment& payment, std::int64_t now);
  void send_again(ModelPayment& payment, std::int64_t now);
  void debit(ModelPayment& payment);
  void refund(ModelPayment& payment);
  Wide most_of(const ModelPayment& payment) const;
  Wide share_of(const ModelPayment& payment, Wide amount) const;
  void end_refund(ModelPayment& payment, bool given);
  void hear_refund(ModelPayment& payment, const outbound::PayoutResponse& answer, std::int64_t now);
  void settle_return(ModelPayment& payment, const ModelReturn& report);
  Place receiver(const ModelPayment& payment) const;
  void hear_payout(ModelPayment& payment, const outbound::PayoutResponse& answer, std::int64_t now);
  void payout_failed(ModelPayment& payment, const outbound::PayoutResponse& answer,
                     std::int64_t now);
  Wide credit_of(const ModelSide& side) const;
  void collected(ModelPayment& payment, std::int64_t now);
  void hear_collection(ModelPayment& payment, const outbound::CollectionResponse& answer,
                       std::int64_t now);
  std::map<AccountName, ModelAccount> expected_accounts() const;

  std::vector<WorldAsset> assets_;
  std::vector<WorldWallet> wallets_;
  std::vector<WorldConnector> connectors_;
  std::vector<WorldBeneficiary> beneficiaries_;
  const WrongRule wrong_;
  std::map<Place, ModelAccount> accounts_;
  std::map<std::size_t, Wide> issued_, pools_, fees_;  // by asset
  std::map<std::size_t, Wide> clearing_;               // by connector
  std::map<std::pair<std::size_t, std::size_t>, Rate> rates_;
  std::map<LimitKey, ModelLimit> limits_;
  std::map<std::size_t, FeeRule> fees_of_;  // by connector: the fees of this association
  std::vector<ModelQuote> quotes_;
  std::map<std::string, ModelPayment> payments_;
  std::map<Uuid, std::string> transactions_;
  std::int64_t last_order_ = 0;
  Jobs settlement_;
  std::map<std::int64_t, Jobs> lanes_;
};

}  // namespace coffer::property
