// `coffer demo --seed N`: a week of history in a new demo, made by the flows that also serve the
// API.
#include <array>
#include <iterator>
#include <string>

#include "app/app.h"
#include "base/digest.h"
#include "base/random.h"
#include "cli/demo/demo_seed.h"
#include "embedded/embedded.h"
#include "flows/ledger/wallet_changes.h"
#include "flows/parties/beneficiary_changes.h"
#include "flows/payments/make_quote.h"
#include "flows/payments/submit_payment.h"
#include "flows/providers/arrivals.h"
#include "flows/providers/references.h"
#include "store/identity/tenants.h"

namespace coffer::cli {
namespace {

constexpr int kPerDay = 16;
constexpr int kDays = 7;
constexpr std::int64_t kSlotMs = kHistoryMs / (kPerDay * kDays);
/// Weights of the payees of history.json, whose last digits select the outcome
/// (docs/sandbox.md#magic-numbers). Most payments succeed.
constexpr std::array<std::size_t, 16> kPaidTo = {0, 0, 0, 0, 1, 1, 1, 1, 0, 2, 3, 4, 5, 6, 6, 7};
constexpr std::array<std::string_view, 8> kPayerAccounts = {
    "0200300401", "0200300402", "0200300403", "0200300404",
    "0200301103", "0200301201", "0200301501", "0200300405"};
constexpr std::array<std::string_view, 6> kThirdParties = {"Eze",    "Mensah", "Diallo",
                                                           "Okafor", "Traore", "Banda"};

class History {
 public:
  History(App& app, ManualClock& clock, const DemoWorld& world, std::uint64_t seed)
      : app_(app), flows_(app.flows()), clock_(clock), world_(world), choice_(seed) {}

  Result<void> run(ApplicationId application, const ProgressFunction& progress) {
    COFFER_TRY_VOID(prepare(application, progress));
    constexpr int kSlots = kPerDay * kDays;
    for (int slot = 0; slot < kSlots; ++slot) {
      progress({"creating a week of history", slot, kSlots, Progress::Unit::steps});
      const auto before = static_cast<std::int64_t>(below(kSlotMs / 2));
      clock_.advance_ms(before);
      COFFER_TRY_VOID(pay(static_cast<std::size_t>(slot)));
      if (slot % (kSlots / static_cast<int>(kThirdParties.size())) == kPerDay / 2) {
        COFFER_TRY_VOID(review());
      }
      work();
      // The last slot ends before the present.
      clock_.advance_ms(kSlotMs - before - kWorkMs - 1'000);
      app_.background().deliver_once();
    }
    return {};
  }

 private:
  static constexpr int kRounds = 5;
  static constexpr std::int64_t kRoundMs = 3'000;
  static constexpr std::int64_t kWorkMs = kRounds * kRoundMs;

  std::size_t below(std::int64_t limit) {
    std::array<std::uint8_t, 4> bytes{};
    choice_.fill(bytes);
    return from_big_endian(as_text(bytes)) % static_cast<std::uint64_t>(limit);
  }
  /// Takes the elements in turn, from a start that the seed selects, so that every history contains
  /// every outcome.
  template <class List>
  const auto& next_of(const List& list, std::size_t& turn) {
    return list[(start_ + turn++) % std::size(list)];
  }
  /// Whole units and cents, like invoices.
  Amount amount(std::int64_t units_max) {
    const auto units = static_cast<std::int64_t>(1 + below(units_max));
    const auto cents = static_cast<std::int64_t>(below(4)) * 25;
    return Amount::from_units(units * Amount::kUnitsPerWhole +
                              cents * (Amount::kUnitsPerWhole / 100));
  }

  /// Does the work that a server's workers do in the seconds after a payment.
  void work() {
    for (int round = 0; round < kRounds; ++round) {
      clock_.advance_ms(kRoundMs);
      app_.background().settle_once();
      app_.background().deliver_once();
    }
  }

  Result<void> prepare(ApplicationId application, const ProgressFunction& progress) {
    COFFER_TRY(const auto row, flows_.read([&](store::Connection& db) {
      return *store::find_application(db, application);
    }));
    caller_ = {row.id, row.key, *row.tenant, *row.association_status, row.scopes};
    // The endpoint of the webhook has no listener. Its type is not one of `*`, so that the user of
    // the demo can still register a webhook for all payment events.
    COFFER_TRY_VOID(apply_declarations(app_, embedded::demo_history(), progress));
    COFFER_TRY(payees_, beneficiaries_with_tag(app_, caller_.tenant, "history"));
    const auto& terms = connector("Nigeria virtual accounts");
    COFFER_TRY(reference_,
               flows::register_reference(flows_, caller_,
                                         {terms.id, world_.wallets[0].public_key, "CUSTOMER-1"}));
    return {};
  }

  const ConnectorTerms& connector(std::string_view name) const {
    for (const ConnectorTerms& terms : world_.connectors) {
      if (terms.name == name) return terms;
    }
    throw InternalError("the demo has no connector " + std::string(name));
  }

  /// Makes every kind of payment in turn, with more payouts than other kinds.
  Result<void> pay(std::size_t slot) {
    using Pay = Result<void> (History::*)();
    static constexpr std::array<Pay, 12> kKinds = {
        &History::payout,   &History::transfer,   &History::collection, &History::payout,
        &History::swap,     &History::to_address, &History::payout,     &History::multi,
        &History::incoming, &History::payout,     &History::collection, &History::swap_to_address};
    return (this->*kKinds[slot % kKinds.size()])();
  }

  PaymentRequest request(PaymentType type, std::string_view prefix) {
    PaymentRequest out;
    out.type = type;
    out.transaction_id = std::string(prefix) + "-" + std::to_string(1001 + payments_++);
    return out;
  }
  static TransferLeg leg(const store::WalletRow& from, const AssetCode& asset, Amount amount) {
    TransferLeg out;
    out.source_wallet = from.id;
    out.sending_asset = asset;
    out.amount = amount;
    return out;
  }
  Result<void> submit(const PaymentRequest& wanted) {
    COFFER_TRY_VOID(flows::submit_payment(flows_, caller_, wanted,
                                          "history-" + std::to_string(payments_), false));
    return {};
  }
  static AssetCode usdc() { return AssetCode::parse("USDC").value(); }
  static AssetCode eurc() { return AssetCode::parse("EURC").value(); }

  Result<void> transfer() {
    PaymentRequest wanted = request(PaymentType::p2p_own, "TOPUP");
    wanted.legs.push_back(leg(world_.wallets[0], usdc(), amount(5'000)));
    wanted.legs.back().destination_wallet = world_.wallets[1].id;
    wanted.legs.back().description = "Float of the operations wallet";
    return submit(wanted);
  }

  Result<void> multi() {
    PaymentRequest wanted = request(PaymentType::p2p_own_multi, "SWEEP");
    for (int i = 0; i < 3; ++i) {
      wanted.legs.push_back(leg(world_.wallets[1], usdc(), amount(300)));
      wanted.legs.back().destination_wallet = world_.wallets[0].id;
    }
    return submit(wanted);
  }

  Result<void> swap() {
    PaymentRequest wanted = request(PaymentType::swap_own, "FX");
    wanted.legs.push_back(leg(world_.wallets[0], usdc(), amount(2'000)));
    wanted.legs.back().destination_wallet = world_.wallets[2].id;
    wanted.receiving_asset = eurc();
    // Every third swap requires more than the market offers.
    if (below(3) == 0) wanted.min_receiving = wanted.only().amount;
    return submit(wanted);
  }

  /// The beneficiary with addresses on the ledger, which the demo creates last.
  PaymentRequest to_ledger_partner(PaymentType type, std::size_t destination) {
    const auto& partner = world_.beneficiaries.back();
    PaymentRequest wanted = request(type, "INVOICE");
    wanted.legs.push_back(leg(world_.wallets[0], usdc(), amount(1'500)));
    wanted.legs.back().refs.from_ref = "INV-" + std::to_string(payments_);
    wanted.beneficiary = partner.beneficiary.id;
    wanted.destination = partner.destinations.at(destination).id;
    return wanted;
  }
  Result<void> to_address() { return submit(to_ledger_partner(PaymentType::p2p_beneficiary, 0)); }
  Result<void> swap_to_address() {
    PaymentRequest wanted = to_ledger_partner(PaymentType::swap_beneficiary, 1);
    wanted.receiving_asset = eurc();
    return submit(wanted);
  }

  Result<void> payout() {
    const auto& payee = payees_.at(next_of(kPaidTo, payouts_));
    PaymentRequest wanted = request(PaymentType::offramp, "SALARY");
    wanted.beneficiary = payee.beneficiary.id;
    wanted.destination = payee.destinations.front().id;
    flows::QuoteRequest price{.amount = amount(900),
                              .connector = connector("Kenya bank payout").id};
    price.beneficiary = wanted.beneficiary;
    price.destination = wanted.destination;
    COFFER_TRY(const auto quoted, flows::make_quote(flows_, caller_.tenant, price));
    wanted.quote = quoted.quote.id;
    TransferLeg from;
    from.source_wallet = world_.wallets[1].id;
    from.refs.to_ref = "SAL-" + std::to_string(payments_);
    wanted.legs.push_back(std::move(from));
    wanted.compliance = Compliance{"SALARY", "BUSINESS_INCOME", "EMPLOYEE"};
    return submit(wanted);
  }

  Result<void> collection() {
    PaymentRequest wanted = request(PaymentType::onramp, "DEPOSIT");
    const auto shillings = static_cast<std::int64_t>(1'000 + below(90'000));
    flows::QuoteRequest price{.amount = Amount::from_units(shillings * Amount::kUnitsPerWhole),
                              .connector = connector("Kenya mobile money collection").id};
    COFFER_TRY(const auto quoted, flows::make_quote(flows_, caller_.tenant, price));
    wanted.quote = quoted.quote.id;
    TransferLeg to;
    to.destination_wallet = world_.wallets[0].id;
    wanted.legs.push_back(std::move(to));
    wanted.payer =
        Payer{"Grace Achieng", std::string(next_of(kPayerAccounts, collections_)), std::nullopt};
    return submit(wanted);
  }

  Result<void> incoming() {
    flows::ReferenceArrival arrival;
    arrival.reference = reference_.reference;
    arrival.provider_payment_id = "NG-" + std::to_string(++payments_);
    const auto naira = static_cast<std::int64_t>(5'000 + below(500'000));
    arrival.amount = std::to_string(naira);
    arrival.currency = "NGN";
    arrival.payer.name = "Chidi Nwosu";
    COFFER_TRY_VOID(flows::accept_reference_payment(flows_, connector("Nigeria virtual accounts"),
                                                    arrival,
                                                    "history-" + std::to_string(payments_)));
    return {};
  }

  /// Creates and reviews a third party's wallet: most are approved, one is rejected, the last ones
  /// stay pending.
  Result<void> review() {
    if (reviews_ == kThirdParties.size()) return {};
    const std::size_t turn = reviews_++;
    PersonMetadata person;
    person.first_name = "Sam";
    person.last_name = kThirdParties.at(turn);
    person.date_of_birth = "1988-07-01";
    person.nationality = "GHA";
    flows::NewWallet wanted{"Sam " + person.last_name, usdc(), false, person};
    COFFER_TRY(const auto wallet, flows::register_wallet(flows_, caller_.tenant, wanted));
    if (turn + 2 >= kThirdParties.size()) return {};
    clock_.advance_ms(kRoundMs);
    std::optional<WalletStatusReason> reason;
    if (turn == 1) reason = WalletStatusReason{"document_unreadable", "Send a better scan."};
    COFFER_TRY_VOID(flows::review_wallet(flows_, caller_.tenant, wallet.id, reason));
    return {};
  }

  App& app_;
  const flows::Context& flows_;
  ManualClock& clock_;
  const DemoWorld& world_;
  SeededRandom choice_;
  Caller caller_;
  std::vector<flows::BeneficiaryState> payees_;
  store::ReferenceRow reference_;
  int payments_ = 0;
  std::size_t start_ = below(kPaidTo.size());
  std::size_t payouts_ = 0;
  std::size_t collections_ = 0;
  std::size_t reviews_ = 0;
};

}  // namespace

Result<void> make_demo_history(App& app, ManualClock& clock, const DemoWorld& world,
                               ApplicationId application, std::uint64_t seed,
                               const ProgressFunction& progress) {
  return History(app, clock, world, seed).run(application, progress);
}

}  // namespace coffer::cli
