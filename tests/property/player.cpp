#include "property/player.h"

#include <algorithm>
#include <limits>

#include "flows/ledger/market_changes.h"
#include "flows/ledger/wallet_changes.h"
#include "flows/payments/submit_payment.h"
#include "flows/providers/refunds.h"
#include "flows/settlement/settle_payment.h"

namespace coffer::property {
namespace {

constexpr std::size_t kHugeAsset = 3;
/// Maximum number of rounds until all payments end; providers make no errors then.
constexpr int kLastRounds = 200;
constexpr std::int64_t kLongPauseMs = 301'000;

}  // namespace

Player::Player(std::uint64_t seed, WrongRule wrong)
    : dice_(seed), world_(seed), model_(world_, wrong) {
  for (std::int64_t& price : prices_) price = 1 + dice_.roll(1'000);
  for (std::size_t asset = 0; asset < world_.assets.size(); ++asset) add_liquidity(asset);
  for (int i = 0; i < 12; ++i) fund();
  change_prices();
  check_balances();
  check_invariants(true);
}

void Player::step() {
  act();
  compare();
}

void Player::compare() {
  check_balances();
  check_limits();
  check_invariants(false);
}

void Player::act() {
  if (dice_.one_in(25)) return act_on_books();
  const std::int64_t kind = dice_.roll(100);
  if (kind < 24) return submit(some_request());
  if (kind < 28) return reverse();
  if (kind < 36) return submit(some_address_request());
  if (kind < 46) return ask_price();
  if (kind < 48) return send_back();
  if (kind < 58) {
    if (const auto request = some_quoted_request()) submit(*request);
    return;
  }
  if (kind < 64) return replay();
  if (kind < 74) return settle(some_pause());
  if (kind < 80) return run_providers(0, some_pause());
  if (kind < 84) {
    run_providers(world_.connectors[kFarConnector].lane, some_pause());
    if (dice_.one_in(2)) move_connector();  // while its payments are in progress
    return;
  }
  if (kind < 86) return decide();
  if (kind < 87) return hurry();
  if (kind < 89) return pay_on_reference();
  if (kind < 91) return review();
  if (kind < 94) return fund();
  if (kind < 95) return change_prices();
  if (kind < 96) return remove_rate(index(world_.assets.size()), index(world_.assets.size()));
  if (kind < 97) return add_liquidity(index(world_.assets.size()));
  if (kind < 98) return let_quote_expire();
  if (kind < 99) return change_terms();
  did("reopen");
  world_.reopen();
}

// Comparing
// ----------------------------------------------------------------------------------------

void Player::expect(bool holds, const std::string& what) const {
  if (!holds) throw Disagreement(what);
}

void Player::check_balances() {
  const std::string difference = model_.difference(world_.accounts());
  expect(difference.empty(), difference);
  expect(world_.payment_count() == static_cast<std::int64_t>(model_.payments().size()),
         "number of payments");
}

void Player::check_invariants(bool deep) {
  for (const store::Violation& violation : world_.verify(deep)) {
    throw Disagreement(violation.invariant + ": " + violation.detail);
  }
}

void Player::check_record(const std::string& id) {
  const ModelPayment& expected = model_.payments().at(id);
  const auto record = world_.payment(id);
  expect(record.has_value(), "payment " + id + " is not there");
  expect(record->status == expected.status, "payment " + id + " is " +
                                                std::string(name(record->status)) + ", expected " +
                                                std::string(name(expected.status)));
  check_details(expected, *record);
  did("ended " + std::string(name(record->request.type)) + " " + std::string(name(record->status)));
}

void Player::check_details(const ModelPayment& expected, const store::PaymentRecord& record) const {
  const std::string id = "payment " + expected.request.transaction_id;
  expect(record.id == expected.id, id + ": id");
  expect(record.failure == expected.failure, id + ": reason of failure");
  expect(record.receiving_amount.has_value() == expected.receiving.has_value(), id + ": receives");
  if (expected.receiving) {
    expect(record.receiving_amount->units() == *expected.receiving,
           id + " receives " + std::to_string(record.receiving_amount->units()) + ", expected " +
               std::to_string(*expected.receiving));
  }
  if (expected.side) {
    expect(record.provider->fee.units() == expected.side->fee, id + ": fee");
    expect(record.provider->total.units() == expected.side->total, id + ": total");
    expect(record.provider->state == expected.side->state, id + ": state at the provider");
  }
  for (const std::string& field : differing_fields(record.request, expected.request)) {
    throw Disagreement(id + ": stored " + field);
  }
}

void Player::finish() {
  world_.provider.calm_down();
  for (std::size_t connector = 0; connector < world_.connectors.size(); ++connector) {
    model_.set_paused(connector, false);
    world_.set_paused(connector, false);
  }
  const std::int64_t other_lane = world_.connectors[kFarConnector].lane;
  if (!world_.verified(kReviewedWallet)) {
    while (!world_.verified(kReviewedWallet)) review();
  }
  for (int round = 0; round < kLastRounds; ++round) {
    if (model_.open_count() + model_.provider_jobs(0) + model_.provider_jobs(other_lane) == 0)
      break;
    settle(kLongPauseMs);
    run_providers(0, 0);
    run_providers(other_lane, 0);
  }
  expect(model_.open_count() + model_.provider_jobs(0) + model_.provider_jobs(other_lane) == 0,
         "something does not come to its end");
  for (const auto& [id, expected] : model_.payments()) check_record(id);
  check_balances();
  check_limits();
  check_invariants(true);
  for (int i = 0; i < 6; ++i) check_report();
}

// Payments
// -----------------------------------------------------------------------------------------

std::size_t Player::index(std::size_t size) {
  return static_cast<std::size_t>(dice_.roll(static_cast<std::int64_t>(size)));
}

AssetCode Player::code(std::size_t asset) const {
  return *AssetCode::parse(world_.assets[asset].code);
}

/// The smallest amount of an asset, in units.
std::int64_t Player::grain(std::size_t asset) const {
  std::int64_t out = 10'000'000;
  for (int i = 0; i < world_.assets[asset].decimals; ++i) out /= 10;
  return out;
}

/// Usually an amount that can be paid; sometimes all of it, one more, too many places, or an absurd
/// one.
std::int64_t Player::some_amount(Place from) {
  const std::int64_t step = grain(from.second);
  const auto available = static_cast<std::int64_t>(model_.available(from));
  switch (dice_.roll(12)) {
    case 0:
      return available > 0 ? available : step;
    case 1:
      return available < std::numeric_limits<std::int64_t>::max() - step ? available + step : step;
    case 2:
      return step + 1;
    case 3:
      return std::numeric_limits<std::int64_t>::max() - dice_.roll(3) * step;
    default:
      return step * (1 + dice_.roll(std::max<std::int64_t>(available / step / 4, 1)));
  }
}

TransferLeg Player::some_leg() {
  // Sometimes any wallet and asset; usually two that can transact with each other.
  const bool careless = dice_.one_in(8);
  Place from{index(careless ? world_.wallets.size() : kOwnWallets), 0};
  from.second =
      careless ? index(world_.assets.size()) : dice_.pick(world_.wallets[from.first].assets);
  std::size_t to = index(careless ? world_.wallets.size() : kOwnWallets);
  for (int i = 0; !careless && i < 20; ++i) {
    const auto& list = world_.wallets[to].assets;
    if (to != from.first && std::find(list.begin(), list.end(), from.second) != list.end()) break;
    to = index(kOwnWallets);
  }
  TransferLeg leg;
  leg.source_wallet = world_.wallets[from.first].id;
  leg.destination_wallet = world_.wallets[to].id;
  leg.sending_asset = careless && dice_.one_in(4) ? *AssetCode::parse("NONE") : code(from.second);
  leg.amount = Amount::from_units(some_amount(from));
  if (careless && dice_.one_in(4)) leg.source_wallet->uuid.bytes[15] ^= 1;
  if (dice_.one_in(4)) leg.refs.from_ref = "R" + std::to_string(dice_.roll(3));
  if (dice_.one_in(4)) leg.description = "text";
  return leg;
}

PaymentRequest Player::some_request() {
  PaymentRequest request;
  request.transaction_id = "t" + std::to_string(++last_id_);
  request.legs = {some_leg()};
  const std::int64_t kind = dice_.roll(10);
  if (kind < 3) {
    request.type = PaymentType::p2p_own_multi;
    for (std::int64_t more = dice_.roll(5); more > 0; --more) request.legs.push_back(some_leg());
  } else if (kind < 6) {
    request.type = PaymentType::swap_own;
    const std::size_t to = index(kOwnWallets);
    request.legs[0].destination_wallet = world_.wallets[to].id;
    make_swap(request, dice_.one_in(6) ? index(world_.assets.size())
                                       : dice_.pick(world_.wallets[to].assets));
  }
  return request;
}

PaymentRequest Player::some_address_request() {
  PaymentRequest request;
  request.transaction_id = "t" + std::to_string(++last_id_);
  request.type = PaymentType::p2p_beneficiary;
  request.legs = {some_leg()};
  request.legs[0].destination_wallet.reset();
  const WorldBeneficiary& to = dice_.pick(world_.beneficiaries);
  request.beneficiary = to.id;
  if (dice_.one_in(30)) request.beneficiary->uuid.bytes[15] ^= 1;
  if (dice_.one_in(3)) {
    request.type = PaymentType::swap_beneficiary;
    make_swap(request, to.symbol == "EURC" ? 1 : 0);
  } else if (!to.symbol.empty() && !dice_.one_in(6)) {
    // An asset that the address accepts, from a wallet that has it.
    const std::size_t asset = to.symbol == "EURC" ? 1 : 0;
    const Place from{dice_.one_in(2) ? std::size_t{0} : std::size_t{1}, asset};
    request.legs[0].source_wallet = world_.wallets[from.first].id;
    request.legs[0].sending_asset = code(asset);
    request.legs[0].amount = Amount::from_units(some_amount(from));
  }
  return request;
}

void Player::make_swap(PaymentRequest& request, std::size_t buy) {
  const TransferLeg& leg = request.legs[0];
  request.receiving_asset = dice_.one_in(20) ? *AssetCode::parse("NONE") : code(buy);
  if (!dice_.one_in(3)) return;
  // Around the market's present result; prices may change before settlement.
  std::int64_t now = 0;
  for (std::size_t sell = 0; sell < world_.assets.size(); ++sell) {
    if (code(sell) == leg.sending_asset) {
      now = static_cast<std::int64_t>(model_.quote(sell, buy, leg.amount.units()));
    }
  }
  const auto near =
      Amount::from_units(now).add(Amount::from_units((dice_.roll(3) - 1) * grain(buy)));
  request.min_receiving = near && near->is_positive() ? *near : Amount::from_units(1);
}

void Player::submit(const PaymentRequest& request) {
  if (dice_.one_in(6)) send(request, true);
  send(request, false);
}

void Player::replay() {
  if (model_.payments().empty()) return;
  auto it = model_.payments().begin();
  std::advance(it, dice_.roll(static_cast<std::int64_t>(model_.payments().size())));
  PaymentRequest request = it->second.request;
  if (request.type == PaymentType::onramp_reference) return;  // integrators cannot submit these
  if (dice_.one_in(2)) {
    TransferLeg& leg = request.legs[index(request.legs.size())];
    if (dice_.one_in(2) && !is_quoted(request.type)) {
      leg.amount = Amount::from_units(leg.amount.units() > 1 ? leg.amount.units() - 1 : 2);
    } else {
      leg.refs.to_ref = "other";
    }
  }
  send(request, dice_.one_in(8));
}

void Player::send(const PaymentRequest& request, bool validate_only) {
  const std::int64_t now = world_.clock.now().ms;
  const Verdict verdict = model_.judge(request, now);
  const auto got =
      flows::submit_payment(world_.context(), world_.caller(), request, "r", validate_only);
  const std::string what =
      "submission " + request.transaction_id + " of type " + std::string(name(request.type));
  expect(got.has_value() == verdict.wrong.empty(),
         what +
             (got ? " is accepted, expected "
                  : " is rejected: " + got.error().detail + "; expected ") +
             verdict.words());
  if (!got) {
    did("rejected " + std::string(info(got.error().slug).name));
    expect(got.error().slug == verdict.slug(),
           what + " is rejected as " + std::string(info(got.error().slug).name) + ", expected " +
               verdict.words() + ": " + got.error().detail);
    return;
  }
  expect(got->replayed == verdict.replayed, what + ": replayed");
  if (verdict.replayed) {
    did("replayed");
    expect(got->id == model_.payments().at(request.transaction_id).id, what + ": other record");
  } else if (!validate_only) {
    did("accepted " + std::string(name(request.type)));
    model_.accept(request, got->id, now);
  }
}

/// Usually a part of a transfer or on-ramp that has succeeded; sometimes of any payment, and twice.
void Player::reverse() {
  std::vector<const ModelPayment*> all, paid;
  for (const auto& [id, payment] : model_.payments()) {
    const PaymentType type = payment.request.type;
    if (type == PaymentType::onramp_reference) continue;
    all.push_back(&payment);
    const bool moves_back = type == PaymentType::p2p_own || type == PaymentType::p2p_beneficiary ||
                            type == PaymentType::onramp;
    if (payment.was_paid() && moves_back) paid.push_back(&payment);
  }
  if (all.empty()) return;
  const ModelPayment& payment = *dice_.pick(paid.empty() || dice_.one_in(8) ? all : paid);
  const std::string id = payment.request.transaction_id;
  const auto left = static_cast<std::int64_t>(model_.left_of(payment));
  std::int64_t units = dice_.one_in(4) || left <= 0 ? 0 : 1 + dice_.roll(left);
  if (units > 0 && !dice_.one_in(4)) {
    const std::int64_t step = Amount::kUnitsPerWhole / 100;
    units = std::max(units - units % step, step);
  }
  if (dice_.one_in(12) && left < std::numeric_limits<std::int64_t>::max()) units = left + 1;
  flows::Reversal reversal{payment.id, "r" + std::to_string(++last_id_), {}, "why"};
  if (dice_.one_in(10)) reversal.transaction_id = id;
  if (units > 0) reversal.amount = Amount::from_units(units);
  auto expected = model_.judge_reversal(id, units);
  if (reversal.transaction_id == id) expected = Slug::transaction_id_conflict;
  const auto send = [&](bool validate_only) {
    const auto got =
        flows::reverse_payment(world_.context(), world_.caller(), reversal, validate_only);
    const std::string slug =
        got ? (got->replayed ? "replayed" : "") : std::string(info(got.error().slug).name);
    return slug;
  };
  const std::string slug = expected ? std::string(info(*expected).name) : std::string();
  for (const bool validate_only : {true, false}) {
    const std::string got = send(validate_only);
    expect(got == slug, "reversal of " + id + ": \"" + got + "\", expected \"" + slug + "\"");
  }
  did(slug.empty() ? "reversed" : "reversal rejected " + slug);
  if (expected) return;
  model_.reverse(id, units, world_.clock.now().ms);
  expect(send(false) == "replayed", "a repeated reversal of " + id);
  check_record(id);
}

void Player::settle(std::int64_t advance_ms) {
  world_.clock.advance_ms(advance_ms);
  const auto limit = static_cast<int>(1 + dice_.roll(12));
  const auto settled = model_.settle(static_cast<std::size_t>(limit), world_.clock.now().ms);
  const auto round = flows::settle_due_payments(world_.context(), limit).value();
  expect(round.settled == static_cast<int>(settled.size()), "number of payments settled");
  expect(round.next_due.has_value() == (model_.open_count() > 0), "more to settle");
  for (const std::string& id : settled) check_record(id);
}

// The market and the operator
// ----------------------------------------------------------------------

void Player::fund() {
  const std::size_t wallet = index(kOwnWallets);
  const std::size_t asset = dice_.pick(world_.wallets[wallet].assets);
  std::int64_t units = grain(asset) * (1 + dice_.roll(1'000'000));
  if (dice_.one_in(2)) units = Amount::kUnitsPerWhole * (1 + dice_.roll(20'000));
  if (asset == kHugeAsset) units = std::numeric_limits<std::int64_t>::max() / (1 + dice_.roll(4));
  const bool possible = model_.can_issue(asset, units);
  const auto got =
      flows::fund_sandbox_wallet(world_.context(), world_.caller().tenant,
                                 world_.wallets[wallet].id, code(asset), Amount::from_units(units));
  expect(got.has_value() == possible, "funding");
  if (possible) model_.fund({wallet, asset}, units);
}

void Player::add_liquidity(std::size_t asset) {
  std::int64_t units = grain(asset) * (1 + dice_.roll(3'000'000));
  if (dice_.one_in(2)) units = Amount::kUnitsPerWhole * (1 + dice_.roll(50'000));
  const bool possible = model_.can_issue(asset, units);
  const auto got = flows::add_liquidity(world_.context(), Environment::sandbox, code(asset),
                                        Amount::from_units(units));
  expect(got.has_value() == possible, "liquidity");
  if (possible) model_.add_liquidity(asset, units);
}

/// Prices with a spread, so that a cycle never yields a gain. A rate that is not renewed is
/// removed, because an old one could make a cycle profitable, in which case the best path is not
/// guaranteed.
void Player::change_prices() {
  for (std::int64_t& price : prices_)
    price = std::max<std::int64_t>(1, price + dice_.roll(21) - 10);
  for (std::size_t sell = 0; sell < world_.assets.size(); ++sell) {
    for (std::size_t buy = 0; buy < world_.assets.size(); ++buy) {
      if (sell == buy) continue;
      if (dice_.one_in(5)) {
        remove_rate(sell, buy);
        continue;
      }
      const Rate rate{prices_[sell] * (950 + dice_.roll(50)), prices_[buy] * 1'000};
      flows::set_rate(world_.context(), Environment::sandbox, code(sell), code(buy), rate).value();
      model_.set_rate(sell, buy, rate);
    }
  }
}

void Player::remove_rate(std::size_t sell, std::size_t buy) {
  const auto got =
      flows::remove_rate(world_.context(), Environment::sandbox, code(sell), code(buy));
  expect(got.has_value() == model_.has_rate(sell, buy), "removing a rate");
  model_.remove_rate(sell, buy);
}

/// Reviews a third party's wallet: verifies or rejects a pending one, and returns another to the
/// review with new details.
void Player::review() {
  const WalletId id = world_.wallets[kReviewedWallet].id;
  const Tenant& tenant = world_.caller().tenant;
  std::optional<WalletStatusReason> reason;
  if (dice_.one_in(4)) reason = WalletStatusReason{"documents", "A document is missing."};
  auto row = flows::review_wallet(world_.context(), tenant, id, reason);
  if (!row) {
    expect(row.error().slug == Slug::conflict, "review of a wallet that does not wait");
    row = flows::update_wallet(world_.context(), tenant, id, {{}, world_.new_details()});
    expect(row->status == WalletStatus::pending, "new details are not reviewed");
  }
  did("wallet " + std::string(name(row->status)));
  model_.set_usable(kReviewedWallet, row->status == WalletStatus::verified);
}

}  // namespace coffer::property
