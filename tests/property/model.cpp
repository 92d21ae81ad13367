#include "property/model.h"

#include <algorithm>
#include <limits>

namespace coffer::property {
namespace {

constexpr Wide kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kHops = 5;

std::int64_t step_of(int decimals) {
  std::int64_t step = 10'000'000;
  for (int i = 0; i < decimals; ++i) step /= 10;
  return step;
}

bool same_leg(const TransferLeg& a, const TransferLeg& b) {
  return a.source_wallet == b.source_wallet && a.destination_wallet == b.destination_wallet &&
         a.sending_asset == b.sending_asset && a.amount == b.amount &&
         a.refs.from_ref == b.refs.from_ref && a.refs.to_ref == b.refs.to_ref &&
         a.description == b.description;
}

bool same_request(const PaymentRequest& a, const PaymentRequest& b) {
  return a.type == b.type && a.receiving_asset == b.receiving_asset &&
         a.min_receiving == b.min_receiving && a.memo == b.memo && a.legs.size() == b.legs.size() &&
         std::equal(a.legs.begin(), a.legs.end(), b.legs.begin(), same_leg);
}

bool has_shape(const PaymentRequest& request) {
  if (request.type == PaymentType::swap_own) {
    return request.receiving_asset != request.legs[0].sending_asset;
  }
  return std::none_of(request.legs.begin(), request.legs.end(), [](const TransferLeg& leg) {
    return *leg.source_wallet == *leg.destination_wallet;
  });
}

}  // namespace

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

bool Model::trusts(std::size_t wallet, std::size_t asset) const {
  const auto& list = wallets_[wallet].assets;
  return std::find(list.begin(), list.end(), asset) != list.end();
}

bool Model::fits(std::int64_t units, std::size_t asset) const {
  return units % step_of(assets_[asset].decimals) == 0;
}

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
  judge_wallet(*leg.destination_wallet, wrong);
  const auto asset = asset_index(leg.sending_asset);
  if (!asset) {
    wrong.insert(Slug::validation_failed);
    return;
  }
  if (!fits(leg.amount.units(), *asset)) wrong.insert(Slug::amount_precision);
  const auto from = wallet_index(*leg.source_wallet);
  const auto to = wallet_index(*leg.destination_wallet);
  if (from && !trusts(*from, *asset)) wrong.insert(Slug::trustline_missing);
  const bool swap = request.type == PaymentType::swap_own;
  if (!swap && to && !trusts(*to, *asset)) wrong.insert(Slug::trustline_missing);
}

void Model::judge_swap(const PaymentRequest& request, std::set<Slug>& wrong) const {
  // Without its leg there is nothing to swap, but the other asset is still judged.
  const bool resolved = !wrong.contains(Slug::not_found) && !wrong.contains(Slug::validation_failed) &&
                        !wrong.contains(Slug::trustline_missing);
  const auto buy = asset_index(*request.receiving_asset);
  if (!buy) wrong.insert(Slug::validation_failed);
  if (!buy || !resolved) return;
  const TransferLeg& leg = request.legs[0];
  if (!trusts(*wallet_index(*leg.destination_wallet), *buy)) wrong.insert(Slug::trustline_missing);
  if (request.min_receiving && !fits(request.min_receiving->units(), *buy)) {
    wrong.insert(Slug::amount_precision);
  }
  if (quote(*asset_index(leg.sending_asset), *buy, leg.amount.units()) == 0) {
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
    if (request.type != PaymentType::swap_own) moved[destination(leg)] += leg.amount.units();
  }
}

Verdict Model::judge(const PaymentRequest& request) const {
  if (!has_shape(request)) return {{Slug::validation_failed}};
  const auto stored = payments_.find(request.transaction_id);
  if (stored != payments_.end()) {
    if (same_request(stored->second.request, request)) return {{}, true};
    return {{Slug::transaction_id_conflict}};
  }
  Verdict verdict;
  for (const TransferLeg& leg : request.legs) judge_leg(request, leg, verdict.wrong);
  if (request.type == PaymentType::swap_own) judge_swap(request, verdict.wrong);
  if (verdict.wrong.empty()) judge_funds(request, verdict.wrong);
  return verdict;
}

void Model::accept(const PaymentRequest& request) {
  ModelPayment payment{request, {}, PaymentStatus::initiated, {}, {}};
  // How far each account dips below where it stands, on the way.
  std::map<Place, Wide> moved;
  for (const TransferLeg& leg : request.legs) {
    const Place from = source(leg);
    moved[from] -= leg.amount.units();
    payment.holds[from] = std::max(payment.holds[from], -moved[from]);
    if (request.type != PaymentType::swap_own) moved[destination(leg)] += leg.amount.units();
  }
  std::erase_if(payment.holds, [](const auto& hold) { return hold.second == 0; });
  for (const auto& [place, units] : payment.holds) accounts_[place].held += units;
  payments_.emplace(request.transaction_id, std::move(payment));
  open_.push_back(request.transaction_id);
}

std::vector<std::string> Model::settle(std::size_t limit) {
  const auto end = open_.begin() + static_cast<std::ptrdiff_t>(std::min(limit, open_.size()));
  std::vector<std::string> out(open_.begin(), end);
  open_.erase(open_.begin(), end);
  for (const std::string& id : out) settle_one(payments_.at(id));
  return out;
}

void Model::settle_one(ModelPayment& payment) {
  for (const auto& [place, units] : payment.holds) accounts_[place].held -= units;
  if (payment.request.type == PaymentType::swap_own) return settle_swap(payment);
  for (const TransferLeg& leg : payment.request.legs) {
    accounts_[source(leg)].balance -= leg.amount.units();
    accounts_[destination(leg)].balance += leg.amount.units();
  }
  payment.status = PaymentStatus::succeeded;
}

void Model::settle_swap(ModelPayment& payment) {
  const TransferLeg& leg = payment.request.legs[0];
  const std::size_t buy = *asset_index(*payment.request.receiving_asset);
  const Place from = source(leg);
  const Wide receiving = quote(from.second, buy, leg.amount.units());
  payment.status = PaymentStatus::failed;
  if (receiving == 0) {
    payment.failure = FailureCode::no_market_path;
  } else if (payment.request.min_receiving && receiving < payment.request.min_receiving->units()) {
    payment.failure = FailureCode::slippage_exceeded;
  } else if (pools_[buy] < receiving) {
    payment.failure = FailureCode::insufficient_liquidity;
  } else {
    payment.status = PaymentStatus::succeeded;
    payment.receiving = static_cast<std::int64_t>(receiving);
    accounts_[from].balance -= leg.amount.units();
    pools_[from.second] += leg.amount.units();
    pools_[buy] -= receiving;
    accounts_[{destination(leg).first, buy}].balance += receiving;
  }
}

void Model::walk(std::vector<std::size_t>& path, Wide units, std::size_t buy, Wide& best) const {
  if (path.back() == buy) best = std::max(best, units);
  if (path.size() > kHops) return;
  for (const auto& [pair, rate] : rates_) {
    const bool seen = std::find(path.begin(), path.end(), pair.second) != path.end();
    if (pair.first != path.back() || seen) continue;
    const Wide bought = units * rate.numerator / rate.denominator;
    const Wide kept = bought - bought % step_of(assets_[pair.second].decimals);
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
  Wide circulating = units;
  for (const auto& [place, account] : accounts_) {
    if (place.second == asset) circulating += account.balance;
  }
  const auto pool = pools_.find(asset);
  if (pool != pools_.end()) circulating += pool->second;
  return circulating <= kMax;
}

std::string Model::difference(const std::vector<StoredAccount>& stored) const {
  const auto asset_of = [&](std::int64_t key) {
    return static_cast<std::size_t>(
        std::find_if(assets_.begin(), assets_.end(), [&](const auto& a) { return a.key == key; }) -
        assets_.begin());
  };
  for (const StoredAccount& account : stored) {
    ModelAccount expected;
    std::string where = "operator";
    if (account.kind == static_cast<int>(AccountKind::issuance)) continue;  // minus the rest: an invariant
    if (account.wallet == 0) {
      const auto pool = pools_.find(asset_of(account.asset));
      if (pool != pools_.end()) expected.balance = pool->second;
    }
    for (std::size_t i = 0; i < wallets_.size(); ++i) {
      if (wallets_[i].key != account.wallet) continue;
      where = wallets_[i].name;
      const auto it = accounts_.find({i, asset_of(account.asset)});
      if (it != accounts_.end()) expected = it->second;
    }
    if (expected.balance == account.balance && expected.held == account.held) continue;
    return where + " " + assets_[asset_of(account.asset)].code + ": stored " +
           std::to_string(account.balance) + " held " + std::to_string(account.held) + ", expected " +
           std::to_string(static_cast<std::int64_t>(expected.balance)) + " held " +
           std::to_string(static_cast<std::int64_t>(expected.held));
  }
  return {};
}

}  // namespace coffer::property
