#include "property/model.h"

#include <algorithm>
#include <limits>

#include "property/steps.h"

namespace coffer::property {
namespace {

constexpr Wide kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kHops = 5;
constexpr std::int64_t kWaitForReviewMs = 60'000;

bool same_leg(const TransferLeg& a, const TransferLeg& b, bool quoted) {
  return a.source_wallet == b.source_wallet && a.destination_wallet == b.destination_wallet &&
         (quoted || (a.sending_asset == b.sending_asset && a.amount == b.amount)) &&
         a.refs.from_ref == b.refs.from_ref && a.refs.to_ref == b.refs.to_ref &&
         a.description == b.description;
}

bool quoted(PaymentType type) {
  return type == PaymentType::offramp || type == PaymentType::onramp;
}
bool to_address(PaymentType type) {
  return type == PaymentType::p2p_beneficiary || type == PaymentType::swap_beneficiary;
}
bool swap(PaymentType type) {
  return type == PaymentType::swap_own || type == PaymentType::swap_beneficiary;
}

bool same_request(const PaymentRequest& a, const PaymentRequest& b) {
  return a.type == b.type && a.receiving_asset == b.receiving_asset &&
         a.min_receiving == b.min_receiving && a.memo == b.memo && a.beneficiary == b.beneficiary &&
         a.quote == b.quote && a.metadata == b.metadata && a.payer == b.payer &&
         a.legs.size() == b.legs.size() &&
         std::equal(a.legs.begin(), a.legs.end(), b.legs.begin(),
                    [&](const auto& x, const auto& y) { return same_leg(x, y, quoted(a.type)); });
}

bool has_shape(const PaymentRequest& request) {
  if (swap(request.type)) return request.receiving_asset != request.legs[0].sending_asset;
  return std::none_of(request.legs.begin(), request.legs.end(), [](const TransferLeg& leg) {
    return leg.source_wallet && leg.source_wallet == leg.destination_wallet;
  });
}

}  // namespace

std::optional<Slug> Verdict::slug() const {
  struct Rank {
    int status;
    Slug general;
  };
  for (const Rank& rank : {Rank{404, Slug::not_found}, Rank{422, Slug::validation_failed},
                           Rank{409, Slug::conflict}}) {
    std::vector<Slug> found;
    std::copy_if(wrong.begin(), wrong.end(), std::back_inserter(found),
                 [&](Slug slug) { return info(slug).status == rank.status; });
    if (!found.empty()) return found.size() == 1 ? found[0] : rank.general;
  }
  return wrong.empty() ? std::nullopt : std::optional(*wrong.begin());
}

std::string Verdict::words() const {
  const auto told = slug();
  return told ? std::string(info(*told).name) : "success";
}

Model::Model(const World& world, WrongRule wrong)
    : assets_(world.assets),
      wallets_(world.wallets),
      connectors_(world.connectors),
      beneficiaries_(world.beneficiaries),
      wrong_(wrong) {}

std::optional<std::size_t> Model::wallet_index(WalletId id) const {
  for (std::size_t i = 0; i < wallets_.size(); ++i) {
    if (wallets_[i].id == id && !wallets_[i].foreign) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> Model::asset_index(const AssetCode& code) const {
  for (std::size_t i = 0; i < assets_.size(); ++i) {
    if (assets_[i].code == code.value()) return i;
  }
  return std::nullopt;
}

const WorldBeneficiary* Model::beneficiary(const std::optional<BeneficiaryId>& id) const {
  for (const WorldBeneficiary& one : beneficiaries_) {
    if (id == one.id) return &one;
  }
  return nullptr;
}

bool Model::trusts(std::size_t wallet, std::size_t asset) const {
  const auto& list = wallets_[wallet].assets;
  return std::find(list.begin(), list.end(), asset) != list.end();
}

bool Model::fits(Wide units, int decimals) const { return units % step_of(decimals) == 0; }

Place Model::source(const TransferLeg& leg) const {
  return {*wallet_index(*leg.source_wallet), *asset_index(leg.sending_asset)};
}
Place Model::destination(const TransferLeg& leg) const {
  return {*wallet_index(*leg.destination_wallet), *asset_index(leg.sending_asset)};
}

Wide Model::available(Place place) const {
  const auto it = accounts_.find(place);
  return it == accounts_.end() ? 0 : it->second.balance - it->second.held;
}

// Judging
// ------------------------------------------------------------------------------------------

void Model::judge_wallet(WalletId id, std::set<Slug>& wrong) const {
  const auto index = wallet_index(id);
  if (!index) {
    wrong.insert(Slug::not_found);
  } else if (!wallets_[*index].usable) {
    wrong.insert(Slug::wallet_not_verified);
  }
}

void Model::judge_leg(const PaymentRequest& request, const TransferLeg& leg,
                      std::set<Slug>& wrong) const {
  judge_wallet(*leg.source_wallet, wrong);
  if (leg.destination_wallet) judge_wallet(*leg.destination_wallet, wrong);
  const auto asset = asset_index(leg.sending_asset);
  if (!asset) {
    wrong.insert(Slug::validation_failed);
    return;
  }
  if (!fits(leg.amount.units(), assets_[*asset].decimals)) wrong.insert(Slug::amount_precision);
  const auto from = wallet_index(*leg.source_wallet);
  if (from && !trusts(*from, *asset)) wrong.insert(Slug::trustline_missing);
  if (swap(request.type) || !leg.destination_wallet) return;
  const auto to = wallet_index(*leg.destination_wallet);
  if (to && !trusts(*to, *asset)) wrong.insert(Slug::trustline_missing);
}

void Model::judge_swap(const PaymentRequest& request, std::set<Slug>& wrong) const {
  // Without its leg there is nothing to swap, but the other asset is still checked.
  const bool resolved = !wrong.contains(Slug::not_found) &&
                        !wrong.contains(Slug::validation_failed) &&
                        !wrong.contains(Slug::trustline_missing);
  const auto buy = asset_index(*request.receiving_asset);
  if (!buy) wrong.insert(Slug::validation_failed);
  if (!buy || !resolved) return;
  const TransferLeg& leg = request.legs[0];
  if (!trusts(*wallet_index(*leg.destination_wallet), *buy)) wrong.insert(Slug::trustline_missing);
  if (request.min_receiving && !fits(request.min_receiving->units(), assets_[*buy].decimals)) {
    wrong.insert(Slug::amount_precision);
  }
  if (quote(*asset_index(leg.sending_asset), *buy, leg.amount.units()) == 0) {
    wrong.insert(Slug::validation_failed);
  }
}

void Model::judge_address(const PaymentRequest& request, std::set<Slug>& wrong) const {
  const TransferLeg& leg = request.legs[0];
  const auto sell = asset_index(leg.sending_asset);
  auto buy = sell;
  if (swap(request.type)) {
    buy = asset_index(*request.receiving_asset);
    if (!buy) wrong.insert(Slug::validation_failed);
    if (buy && request.min_receiving &&
        !fits(request.min_receiving->units(), assets_[*buy].decimals)) {
      wrong.insert(Slug::amount_precision);
    }
    if (buy && sell && quote(*sell, *buy, leg.amount.units()) == 0)
      wrong.insert(Slug::validation_failed);
  }
  const WorldBeneficiary* to = beneficiary(request.beneficiary);
  if (to == nullptr) {
    wrong.insert(Slug::not_found);
  } else if (buy && to->symbol != assets_[*buy].code) {
    wrong.insert(Slug::validation_failed);
  }
}

void Model::judge_funds(const PaymentRequest& request, std::set<Slug>& wrong) const {
  const bool one_asset = std::all_of(
      request.legs.begin(), request.legs.end(),
      [&](const TransferLeg& leg) { return leg.sending_asset == request.legs[0].sending_asset; });
  Wide total = 0;
  std::map<Place, Wide> moved;
  for (const TransferLeg& leg : request.legs) {
    total += leg.amount.units();
    if (one_asset && total > kMax) {
      wrong = {Slug::amount_out_of_range};
      return;
    }
  }
  for (const TransferLeg& leg : request.legs) {
    const Place from = source(leg);
    if (available(from) + moved[from] < leg.amount.units()) {
      wrong.insert(Slug::insufficient_funds);
      return;
    }
    moved[from] -= leg.amount.units();
    if (leg.destination_wallet && !swap(request.type))
      moved[destination(leg)] += leg.amount.units();
  }
}

Verdict Model::judge(const PaymentRequest& request, std::int64_t now) const {
  if (!has_shape(request)) return {{Slug::validation_failed}};
  const auto stored = payments_.find(request.transaction_id);
  if (stored != payments_.end()) {
    if (same_request(stored->second.request, request)) return {{}, true};
    return {{Slug::transaction_id_conflict}};
  }
  Verdict verdict;
  if (quoted(request.type)) {
    judge_quoted(request, now, verdict.wrong);
  } else {
    judge_unquoted(request, verdict.wrong);
  }
  if (verdict.wrong.empty() && exceeds(legs_out(request), now)) {
    verdict.wrong.insert(Slug::limit_exceeded);
  }
  return verdict;
}

void Model::judge_unquoted(const PaymentRequest& request, std::set<Slug>& wrong) const {
  for (const TransferLeg& leg : request.legs) judge_leg(request, leg, wrong);
  if (request.type == PaymentType::swap_own) judge_swap(request, wrong);
  if (to_address(request.type)) judge_address(request, wrong);
  if (wrong.empty()) judge_funds(request, wrong);
}

// Accepting and settling
// ---------------------------------------------------------------------------

/// The largest shortfall of each account during the movements.
std::map<Place, Wide> Model::holds_of(const PaymentRequest& request) const {
  std::map<Place, Wide> moved, holds;
  for (const TransferLeg& leg : request.legs) {
    const Place from = source(leg);
    moved[from] -= leg.amount.units();
    holds[from] = std::max(holds[from], -moved[from]);
    if (leg.destination_wallet && !swap(request.type))
      moved[destination(leg)] += leg.amount.units();
  }
  std::erase_if(holds, [](const auto& hold) { return hold.second == 0; });
  return holds;
}

void Model::accept(const PaymentRequest& request, PaymentId id, std::int64_t now) {
  ModelPayment payment{request, id, ++last_order_, {}, PaymentStatus::initiated, {}, {}, {}, 0};
  payment.accepted_at = now;
  if (quoted(request.type)) {
    accept_quoted(payment, now);
  } else {
    payment.holds = holds_of(request);
    settlement_.insert({now, payment.order, request.transaction_id});
  }
  for (const auto& [place, units] : payment.holds) accounts_[place].held += units;
  transactions_[id.uuid] = request.transaction_id;
  payments_.emplace(request.transaction_id, std::move(payment));
}

std::vector<std::string> Model::settle(std::size_t limit, std::int64_t now) {
  std::vector<std::string> out;
  for (const Job& job : settlement_) {
    if (job.due > now || out.size() == limit) break;
    out.push_back(job.id);
  }
  settlement_.erase(settlement_.begin(),
                    std::next(settlement_.begin(), static_cast<std::ptrdiff_t>(out.size())));
  for (const std::string& id : out) settle_one(payments_.at(id), now);
  return out;
}

void Model::give_back(ModelPayment& payment) {
  for (const auto& [place, units] : payment.holds) accounts_[place].held -= units;
}

void Model::fail(ModelPayment& payment, FailureCode code) {
  if (wrong_ != WrongRule::failure_keeps_the_hold) give_back(payment);
  payment.status = PaymentStatus::failed;
  payment.failure = code;
}

std::optional<Place> Model::arrival(const ModelPayment& payment, std::size_t asset,
                                    FailureCode& why) const {
  if (!to_address(payment.request.type)) {
    return Place{*wallet_index(*payment.request.legs[0].destination_wallet), asset};
  }
  const WorldBeneficiary& to = *beneficiary(payment.request.beneficiary);
  why = FailureCode::destination_not_found;
  if (!to.wallet) return std::nullopt;
  why = FailureCode::compliance_rejected;
  if (!wallets_[*to.wallet].usable && wrong_ != WrongRule::review_is_ignored) return std::nullopt;
  why = FailureCode::trustline_missing;
  if (!trusts(*to.wallet, asset)) return std::nullopt;
  return Place{*to.wallet, asset};
}

void Model::settle_one(ModelPayment& payment, std::int64_t now) {
  const PaymentRequest& request = payment.request;
  payment.status = PaymentStatus::processing;
  if (request.type == PaymentType::onramp_reference) {
    const Place to{*wallet_index(*request.legs[0].destination_wallet),
                   connectors_[kReferenceConnector].asset};
    if (!wallets_[to.first].usable) {
      settlement_.insert({now + kWaitForReviewMs, payment.order, request.transaction_id});
      return;
    }
    accounts_[to].balance += *payment.receiving;
    clearing_[kReferenceConnector] -= *payment.receiving;
    payment.status = PaymentStatus::succeeded;
    return;
  }
  const std::size_t asset = *asset_index(request.legs[0].sending_asset);
  FailureCode why{};
  if (swap(request.type)) {
    const auto to = arrival(payment, *asset_index(*request.receiving_asset), why);
    return to ? settle_swap(payment, to) : fail(payment, why);
  }
  if (to_address(request.type)) {
    const auto to = arrival(payment, asset, why);
    if (!to) return fail(payment, why);
    accounts_[*to].balance += request.legs[0].amount.units();
    accounts_[source(request.legs[0])].balance -= request.legs[0].amount.units();
  } else {
    for (const TransferLeg& leg : request.legs) {
      accounts_[source(leg)].balance -= leg.amount.units();
      accounts_[destination(leg)].balance += leg.amount.units();
    }
  }
  give_back(payment);
  payment.status = PaymentStatus::succeeded;
}

void Model::settle_swap(ModelPayment& payment, std::optional<Place> to) {
  const TransferLeg& leg = payment.request.legs[0];
  const Place from = source(leg);
  const Wide receiving = quote(from.second, to->second, leg.amount.units());
  if (receiving == 0) return fail(payment, FailureCode::no_market_path);
  if (payment.request.min_receiving && receiving < payment.request.min_receiving->units()) {
    return fail(payment, FailureCode::slippage_exceeded);
  }
  if (pools_[to->second] < receiving && wrong_ != WrongRule::pool_is_bottomless) {
    return fail(payment, FailureCode::insufficient_liquidity);
  }
  give_back(payment);
  payment.status = PaymentStatus::succeeded;
  payment.receiving = static_cast<std::int64_t>(receiving);
  accounts_[from].balance -= leg.amount.units();
  pools_[from.second] += leg.amount.units();
  pools_[to->second] -= receiving;
  accounts_[*to].balance += receiving;
}

// Reversals
// ----------------------------------------------------------------------------------------

Place Model::receiver(const ModelPayment& payment) const {
  const TransferLeg& leg = payment.request.legs[0];
  if (payment.side) {
    return {*wallet_index(*leg.destination_wallet), connectors_[payment.side->connector].asset};
  }
  if (!to_address(payment.request.type)) return destination(leg);
  return {*beneficiary(payment.request.beneficiary)->wallet, *asset_index(leg.sending_asset)};
}

/// The most that can be given back: of an on-ramp, what was collected, without an excess.
Wide Model::most_of(const ModelPayment& payment) const {
  if (payment.request.type != PaymentType::onramp) return payment.request.legs[0].amount.units();
  const ModelSide& side = *payment.side;
  return std::min(side.collected.value_or(side.send), side.send);
}

/// What the wallet gives, in addition to what it gave, for this part of the collected amount.
Wide Model::share_of(const ModelPayment& payment, Wide amount) const {
  const Wide most = most_of(payment);
  const Wide step = step_of(assets_[receiver(payment).second].decimals);
  Wide kept = *payment.receiving * (most - payment.given - amount) / most;
  if (wrong_ == WrongRule::refund_share_rounds_down && kept % step != 0) kept += step;
  return *payment.receiving - (kept - kept % step) - payment.shares;
}

Wide Model::left_of(const ModelPayment& payment) const { return most_of(payment) - payment.given; }

std::optional<Slug> Model::judge_reversal(const std::string& transaction_id, Wide amount) const {
  const ModelPayment& payment = payments_.at(transaction_id);
  const PaymentType type = payment.request.type;
  if (swap(type)) return Slug::forbidden;
  const bool collects = type == PaymentType::onramp;
  if (type != PaymentType::p2p_own && type != PaymentType::p2p_beneficiary && !collects) {
    return Slug::validation_failed;
  }
  if (!payment.was_paid() || payment.gives_back()) return Slug::conflict;
  const Wide left = left_of(payment);
  const Wide wanted = amount == 0 ? left : amount;
  const Place to = receiver(payment);
  const int decimals = collects ? connectors_[payment.side->connector].terms.send_decimals()
                                : assets_[to.second].decimals;
  if (wanted != left && !fits(wanted, decimals)) return Slug::amount_precision;
  if (wanted > left || left == 0) return Slug::reversal_exceeds_payment;
  if (collects) {
    if (!wallets_[to.first].usable) return Slug::wallet_not_verified;
    const Wide share = share_of(payment, wanted);
    const bool strands = wanted != left && payment.shares + share == *payment.receiving;
    if (share <= 0 || strands) return Slug::validation_failed;
    if (share > available(to)) return Slug::insufficient_funds;
    return std::nullopt;
  }
  const std::size_t from = *wallet_index(*payment.request.legs[0].source_wallet);
  if (wallets_[to.first].foreign) return Slug::forbidden;
  if (!wallets_[to.first].usable || !wallets_[from].usable) return Slug::wallet_not_verified;
  const auto account = accounts_.find(to);
  const Wide funds = wrong_ == WrongRule::reversal_ignores_holds && account != accounts_.end()
                         ? account->second.balance
                         : available(to);
  if (wanted > funds) return Slug::insufficient_funds;
  return std::nullopt;
}

void Model::reverse(const std::string& transaction_id, Wide amount, std::int64_t now) {
  ModelPayment& payment = payments_.at(transaction_id);
  const Wide moved = amount == 0 ? left_of(payment) : amount;
  if (payment.side) {
    payment.refunding = moved;
    payment.share = share_of(payment, moved);
    accounts_[receiver(payment)].held += payment.share;
    payment.status = PaymentStatus::refund_pending;
    payment.side->state = ProviderState::fresh;
    payment.asked = 0;
    lane_of(payment).insert({now, payment.order, transaction_id});
    return;
  }
  accounts_[receiver(payment)].balance -= moved;
  accounts_[source(payment.request.legs[0])].balance += moved;
  payment.given += moved;
  payment.status = PaymentStatus::refunded;
}

// The market
// ---------------------------------------------------------------------------------------

void Model::walk(std::vector<std::size_t>& path, Wide units, std::size_t buy, Wide& best) const {
  if (path.back() == buy) best = std::max(best, units);
  if (path.size() > kHops) return;
  for (const auto& [pair, rate] : rates_) {
    const bool seen = std::find(path.begin(), path.end(), pair.second) != path.end();
    if (pair.first != path.back() || seen) continue;
    const Wide bought = units * rate.numerator / rate.denominator;
    const Wide step = step_of(assets_[pair.second].decimals);
    const Wide kept = wrong_ == WrongRule::swap_rounds_up ? (bought + step - 1) / step * step
                                                          : bought - bought % step;
    if (bought > kMax || kept == 0) continue;
    path.push_back(pair.second);
    walk(path, kept, buy, best);
    path.pop_back();
  }
}

Wide Model::quote(std::size_t sell, std::size_t buy, Wide units) const {
  std::vector<std::size_t> path{sell};
  Wide best = 0;
  walk(path, units, buy, best);
  return best;
}

bool Model::can_issue(std::size_t asset, Wide units) const {
  const auto issued = issued_.find(asset);
  return (issued == issued_.end() ? 0 : issued->second) + units <= kMax;
}

void Model::fund(Place place, Wide units) {
  accounts_[place].balance += units;
  issued_[place.second] += units;
}

void Model::add_liquidity(std::size_t asset, Wide units) {
  pools_[asset] += units;
  issued_[asset] += units;
}

// Comparing
// ----------------------------------------------------------------------------------------

std::string Model::transaction_of(PaymentId id) const {
  const auto it = transactions_.find(id.uuid);
  return it == transactions_.end() ? "" : it->second;
}

std::map<Model::AccountName, ModelAccount> Model::expected_accounts() const {
  const auto of = [](AccountKind kind) { return static_cast<std::int64_t>(kind); };
  std::map<AccountName, ModelAccount> out;
  for (const auto& [place, account] : accounts_) {
    out[{of(AccountKind::wallet), wallets_[place.first].key, 0, assets_[place.second].key}] =
        account;
  }
  const auto add = [&](AccountKind kind, const std::map<std::size_t, Wide>& units, Wide sign) {
    for (const auto& [asset, balance] : units)
      out[{of(kind), 0, 0, assets_[asset].key}].balance = sign * balance;
  };
  add(AccountKind::issuance, issued_, -1);
  add(AccountKind::liquidity, pools_, 1);
  add(AccountKind::fee, fees_, 1);
  for (const auto& [connector, balance] : clearing_) {
    const WorldConnector& at = connectors_[connector];
    out[{of(AccountKind::clearing), 0, at.terms.key, assets_[at.asset].key}].balance = balance;
  }
  return out;
}

std::string Model::difference(const std::vector<StoredAccount>& stored) const {
  const auto words = [](const AccountName& name, Wide balance, Wide held) {
    return "account of kind " + std::to_string(name[0]) + " wallet " + std::to_string(name[1]) +
           " connector " + std::to_string(name[2]) + " asset " + std::to_string(name[3]) + ": " +
           std::to_string(static_cast<std::int64_t>(balance)) + " held " +
           std::to_string(static_cast<std::int64_t>(held));
  };
  auto expected = expected_accounts();
  for (const StoredAccount& account : stored) {
    const AccountName name{account.kind, account.wallet, account.connector, account.asset};
    const ModelAccount here = expected[name];
    expected.erase(name);
    if (here.balance == account.balance && here.held == account.held) continue;
    return "stored " + words(name, account.balance, account.held) + ", expected " +
           words(name, here.balance, here.held);
  }
  for (const auto& [name, account] : expected) {
    if (account.balance != 0 || account.held != 0)
      return "missing " + words(name, account.balance, account.held);
  }
  return {};
}

}  // namespace coffer::property
