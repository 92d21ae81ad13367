// What the ledger must do, said again in the plainest way: balances in a map, rules as loops, 128-bit
// numbers. Shares no code with the ledger beyond the types of a request.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "domain/payment.h"
#include "property/world.h"

namespace coffer::property {

__extension__ typedef __int128 Wide;

struct ModelAccount {
  Wide balance = 0;
  Wide held = 0;
};

/// Where an account lies: (wallet, asset), both by index.
using Place = std::pair<std::size_t, std::size_t>;

struct ModelPayment {
  PaymentRequest request;
  std::map<Place, Wide> holds;
  PaymentStatus status = PaymentStatus::initiated;
  std::optional<FailureCode> failure;
  std::optional<std::int64_t> receiving;
};

/// What a submission must come to: nothing wrong, or one of these slugs. Several: any refusal.
struct Verdict {
  std::set<Slug> wrong;
  bool replayed = false;
};

class Model {
 public:
  explicit Model(const World& world) : assets_(world.assets), wallets_(world.wallets) {}

  Verdict judge(const PaymentRequest& request) const;
  void accept(const PaymentRequest& request);
  /// The oldest `limit` open payments reach their end; their transactionIds.
  std::vector<std::string> settle(std::size_t limit);

  /// False when more of the asset would circulate than one account can hold.
  bool can_issue(std::size_t asset, Wide units) const;
  void fund(Place place, Wide units) { accounts_[place].balance += units; }
  void add_liquidity(std::size_t asset, Wide units) { pools_[asset] += units; }
  void set_rate(std::size_t sell, std::size_t buy, Rate rate) { rates_[{sell, buy}] = rate; }
  void remove_rate(std::size_t sell, std::size_t buy) { rates_.erase({sell, buy}); }
  bool has_rate(std::size_t sell, std::size_t buy) const { return rates_.contains({sell, buy}); }
  /// What a swap would bring now; 0: no way.
  Wide quote(std::size_t sell, std::size_t buy, Wide units) const;

  Wide available(Place place) const;
  std::size_t open_count() const { return open_.size(); }
  const std::map<std::string, ModelPayment>& payments() const { return payments_; }
  /// In words, where the stored accounts differ from these; empty: nowhere.
  std::string difference(const std::vector<StoredAccount>& stored) const;

 private:
  std::optional<std::size_t> wallet_index(WalletId id) const;
  std::optional<std::size_t> asset_index(const AssetCode& code) const;
  bool trusts(std::size_t wallet, std::size_t asset) const;
  bool fits(std::int64_t units, std::size_t asset) const;
  void judge_wallet(WalletId id, std::set<Slug>& wrong) const;
  void judge_leg(const PaymentRequest& request, const TransferLeg& leg, std::set<Slug>& wrong) const;
  void judge_swap(const PaymentRequest& request, std::set<Slug>& wrong) const;
  void judge_funds(const PaymentRequest& request, std::set<Slug>& wrong) const;
  Place source(const TransferLeg& leg) const;
  Place destination(const TransferLeg& leg) const;
  void walk(std::vector<std::size_t>& path, Wide units, std::size_t buy, Wide& best) const;
  void settle_one(ModelPayment& payment);
  void settle_swap(ModelPayment& payment);

  std::vector<WorldAsset> assets_;
  std::vector<WorldWallet> wallets_;
  std::map<Place, ModelAccount> accounts_;
  std::map<std::size_t, Wide> pools_;
  std::map<std::pair<std::size_t, std::size_t>, Rate> rates_;
  std::map<std::string, ModelPayment> payments_;
  std::vector<std::string> open_;  // in the order of acceptance
};

}  // namespace coffer::property
