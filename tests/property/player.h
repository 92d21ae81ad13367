// Performs all operations of integrators, the operator and providers on the ledger and its model,
// as the dice decide, and compares after every operation.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "flows/providers/run_provider_jobs.h"
#include "property/model.h"
#include "property/seeds.h"
#include "property/world.h"

namespace coffer::property {

/// The ledger and its model disagree, or an invariant does not hold.
class Disagreement : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Player {
 public:
  explicit Player(std::uint64_t seed, WrongRule wrong = WrongRule::none);

  /// One operation, and everything compared after it; throws Disagreement.
  void step();
  /// All balances and every invariant; throws Disagreement.
  void compare();
  /// Brings all payments to their end and compares every record with the model.
  void finish();
  /// How often each operation occurred: an operation that never occurs is not tested.
  const std::map<std::string, int>& deeds() const { return deeds_; }
  World& world() { return world_; }

 private:
  void act();
  void did(const std::string& what) { ++deeds_[what]; }
  void expect(bool holds, const std::string& what) const;
  void check_balances();
  void check_invariants(bool deep);
  void check_record(const std::string& id);
  void check_details(const ModelPayment& expected, const store::PaymentRecord& record) const;

  // Payments
  std::size_t index(std::size_t size);
  AssetCode code(std::size_t asset) const;
  std::int64_t grain(std::size_t asset) const;
  std::int64_t some_amount(Place from);
  TransferLeg some_leg();
  PaymentRequest some_request();
  PaymentRequest some_address_request();
  void make_swap(PaymentRequest& request, std::size_t buy);
  void submit(const PaymentRequest& request);
  void send(const PaymentRequest& request, bool validate_only);
  void replay();
  void settle(std::int64_t advance_ms);

  // Limits, the calendar and reports
  void act_on_books();
  void change_limit();
  PaymentLimits some_limits(const LimitKey& key);
  void pass_midnight();
  void check_limits();
  void check_report();

  // The market and the operator
  void fund();
  void add_liquidity(std::size_t asset);
  void change_prices();
  void remove_rate(std::size_t sell, std::size_t buy);
  void review();
  void change_terms();

  // Providers
  void ask_price();
  std::optional<PaymentRequest> some_quoted_request();
  void let_quote_expire();
  void run_providers(std::int64_t lane, std::int64_t advance_ms);
  void decide();
  void hurry();
  void move_connector();
  void pay_on_reference();
  void reverse();
  void send_back();
  std::int64_t some_pause();
  const ModelPayment* some_provider_payment();

  Dice dice_;
  World world_;
  Model model_;
  flows::JobClaims claims_;
  std::array<std::int64_t, 4> prices_{};
  std::int64_t last_id_ = 0;
  std::int64_t last_arrival_ = 0;
  std::int64_t last_return_ = 0;
  PaymentRequest last_reference_payment_;
  std::string last_arrival_id_;
  std::map<LimitKey, ModelUse> uses_;  // at the last comparison
  std::int64_t uses_at_ = 0;
  std::map<std::string, int> deeds_;
};

}  // namespace coffer::property
