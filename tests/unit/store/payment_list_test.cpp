// Every filter in every order and direction, compared with a plain model of the list.
#include "store/payments/payment_list.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace payment_list_test {
namespace {

using Keys = std::vector<std::int64_t>;

/// Payments of several kinds and states, some of another tenant, which must never be listed.
class ListedLedger : public SmallLedger {
 public:
  ListedLedger() {
    for (int i = 0; i < 24; ++i) {
      clock.advance_ms(1'000);
      PaymentRequest request = transfer("t" + std::to_string(i), 100 + i, i % 3 == 0);
      if (i % 4 == 1) request.legs[0].refs.from_ref = "REF-F";
      if (i % 6 == 2) request.legs[0].refs.to_ref = "REF-T";
      if (i % 8 == 7) make_multi(request);
      keys.push_back(pay(request));
    }
    // Settled in a different order than accepted, and some not settled.
    for (int i = 23; i >= 0; i -= 2) finish(keys[static_cast<std::size_t>(i)], i % 5 == 0);
    records = read([&](Connection& db) {
      std::vector<PaymentRecord> out;
      for (const std::int64_t key : keys) out.push_back(*find_payment_by_key(db, key));
      return out;
    });
  }

  Keys listed(const PaymentFilter& filter, const PageAt& page) {
    return read([&](Connection& db) { return keys_of(list_payments(db, tenant, filter, page)); });
  }
  static Keys keys_of(const PaymentPage& page) {
    CHECK(page.records.size() == page.positions.size());
    Keys out;
    for (const PaymentRecord& record : page.records) out.push_back(record.key);
    return out;
  }

  /// The matches of the filter, newest first.
  Keys expected(const std::function<bool(const PaymentRecord&)>& wanted, PaymentSort sort) const {
    std::vector<const PaymentRecord*> kept;
    for (const PaymentRecord& record : records) {
      if (wanted(record)) kept.push_back(&record);
    }
    std::sort(kept.begin(), kept.end(), [&](const PaymentRecord* a, const PaymentRecord* b) {
      if (sort == PaymentSort::created_at) return a->key > b->key;
      return last_event(*a) > last_event(*b);
    });
    Keys out;
    for (const PaymentRecord* record : kept) out.push_back(record->key);
    return out;
  }

  Keys keys;
  std::vector<PaymentRecord> records;

 private:
  void make_multi(PaymentRequest& request) const {
    request.type = PaymentType::p2p_own_multi;
    request.legs.push_back(transfer("", 7, true).legs[0]);
    request.legs.back().refs.to_ref = "REF-LEG";
  }
  void finish(std::int64_t key, bool fails) {
    clock.advance_ms(1'000);
    write([&](WriteTx& tx) -> Result<void> {
      settle(tx, key, fails ? std::optional(FailureCode::expired) : std::nullopt);
      return {};
    }).value();
    order_.push_back(key);
  }
  std::ptrdiff_t last_event(const PaymentRecord& record) const {
    const auto at = std::find(order_.begin(), order_.end(), record.key);
    return at == order_.end() ? record.key - 1'000 : at - order_.begin();
  }
  Keys order_;  // of the last change
};

struct Case {
  const char* name;
  PaymentFilter filter;
  std::function<bool(const PaymentRecord&)> wanted;
};

bool touches(const PaymentRecord& record, WalletId wallet) {
  return std::any_of(record.request.legs.begin(), record.request.legs.end(),
                     [&](const TransferLeg& leg) {
                       return leg.source_wallet == wallet || leg.destination_wallet == wallet;
                     });
}

bool has_reference(const PaymentRecord& record, const std::string& reference) {
  return std::any_of(record.request.legs.begin(), record.request.legs.end(),
                     [&](const TransferLeg& leg) {
                       return leg.refs.from_ref == reference || leg.refs.to_ref == reference;
                     });
}

template <class F>
PaymentFilter with(F&& set) {
  PaymentFilter filter;
  set(filter);
  return filter;
}

std::vector<Case> plain_cases(const ListedLedger& ledger) {
  const Timestamp middle = ledger.records[12].created_at;
  return {
      {"all", {}, [](const PaymentRecord&) { return true; }},
      {"status", with([](auto& f) { f.status = PaymentStatus::succeeded; }),
       [](const PaymentRecord& r) { return r.status == PaymentStatus::succeeded; }},
      {"open", with([](auto& f) { f.status = PaymentStatus::initiated; }),
       [](const PaymentRecord& r) { return r.status == PaymentStatus::initiated; }},
      {"failed", with([](auto& f) { f.status = PaymentStatus::failed; }),
       [](const PaymentRecord& r) { return r.status == PaymentStatus::failed; }},
      {"type", with([](auto& f) { f.type = PaymentType::p2p_own_multi; }),
       [](const PaymentRecord& r) { return r.request.type == PaymentType::p2p_own_multi; }},
      {"asset", with([&](auto& f) { f.asset = ledger.usdc.code; }),
       [](const PaymentRecord&) { return true; }},
      {"other asset", with([&](auto& f) { f.asset = ledger.eurc.code; }),
       [](const PaymentRecord&) { return false; }},
      {"unknown asset", with([](auto& f) { f.asset = AssetCode::parse("NONE"); }),
       [](const PaymentRecord&) { return false; }},
      {"transactionId", with([](auto& f) { f.transaction_id = "t5"; }),
       [](const PaymentRecord& r) { return r.request.transaction_id == "t5"; }},
      {"createdFrom", with([&](auto& f) { f.created_from = middle; }),
       [middle](const PaymentRecord& r) { return r.created_at >= middle; }},
      {"createdTo", with([&](auto& f) { f.created_to = middle; }),
       [middle](const PaymentRecord& r) { return r.created_at < middle; }},
      {"beneficiary", with([](auto& f) { f.beneficiary = BeneficiaryId(); }),
       [](const PaymentRecord&) { return false; }},
      {"connector", with([](auto& f) { f.connector = ConnectorId(); }),
       [](const PaymentRecord&) { return false; }},
  };
}

std::vector<Case> all_cases(const ListedLedger& ledger) {
  auto cases = plain_cases(ledger);
  for (const char* reference : {"REF-F", "REF-T", "REF-LEG", "NONE"}) {
    cases.push_back({reference, with([&](auto& f) { f.reference = reference; }),
                     [reference](const PaymentRecord& r) { return has_reference(r, reference); }});
  }
  for (const LedgerWallet* wallet : {&ledger.first, &ledger.second, &ledger.third}) {
    const WalletId id = wallet->id;
    cases.push_back({"wallet", with([&](auto& f) { f.wallet = id; }),
                     [id](const PaymentRecord& r) { return touches(r, id); }});
  }
  const Timestamp changed = ledger.records[9].updated_at;
  cases.push_back({"updatedFrom", with([&](auto& f) { f.updated_from = changed; }),
                   [changed](const PaymentRecord& r) { return r.updated_at >= changed; }});
  const WalletId first = ledger.first.id;
  cases.push_back({"several together", with([&](auto& f) {
                     f.wallet = first;
                     f.status = PaymentStatus::succeeded;
                     f.reference = "REF-F";
                     f.type = PaymentType::p2p_own;
                   }),
                   [first](const PaymentRecord& r) {
                     return touches(r, first) && has_reference(r, "REF-F") &&
                            r.status == PaymentStatus::succeeded &&
                            r.request.type == PaymentType::p2p_own;
                   }});
  return cases;
}

/// Reads the list page by page in both directions; each must give the complete list.
void check_pages(ListedLedger& ledger, const PaymentFilter& filter, const Keys& expected,
                 int limit) {
  const auto page_at = [&](const PageAt& at) {
    return ledger.read(
        [&](Connection& db) { return list_payments(db, ledger.tenant, filter, at); });
  };
  Keys forward;
  std::vector<std::int64_t> positions;
  PageAt at{std::nullopt, false, limit};
  for (;;) {
    const PaymentPage page = page_at(at);
    if (page.records.empty()) break;
    for (const std::int64_t key : ListedLedger::keys_of(page)) forward.push_back(key);
    positions.insert(positions.end(), page.positions.begin(), page.positions.end());
    at.key = page.positions.back();
  }
  CHECK(forward == expected);
  CHECK(std::is_sorted(positions.rbegin(), positions.rend()));
  if (positions.empty()) return;

  Keys backward;
  at = {positions.back(), true, limit};
  for (;;) {
    const PaymentPage page = page_at(at);
    if (page.records.empty()) break;
    Keys keys = ListedLedger::keys_of(page);
    backward.insert(backward.begin(), keys.begin(), keys.end());
    at.key = page.positions.front();
  }
  backward.push_back(expected.back());
  CHECK(backward == expected);
}

}  // namespace

TEST_CASE("payment list: every filter, both orders, page by page forwards and back") {
  ListedLedger ledger;
  for (Case& c : all_cases(ledger)) {
    for (const PaymentSort sort : {PaymentSort::created_at, PaymentSort::updated_at}) {
      c.filter.sort = sort;
      const Keys expected = ledger.expected(c.wanted, sort);
      for (const int limit : {1, 5, 100}) {
        INFO(c.name << ", sort " << static_cast<int>(sort) << ", limit " << limit);
        check_pages(ledger, c.filter, expected, limit);
      }
    }
  }
  CHECK(ledger.verify().empty());
}

TEST_CASE("payment list: a page is stable while payments arrive") {
  ListedLedger ledger;
  const PageAt start{std::nullopt, false, 5};
  const auto first =
      ledger.read([&](Connection& db) { return list_payments(db, ledger.tenant, {}, start); });
  const PageAt next{first.positions.back(), false, 5};
  const Keys before = ledger.listed({}, next);
  ledger.pay(ledger.transfer("later", 1));
  CHECK(ledger.listed({}, next) == before);
}

TEST_CASE("payment list: another tenant finds nothing with any filter") {
  ListedLedger ledger;
  Tenant other = ledger.tenant;
  other.key += 1;
  ledger.read([&](Connection& db) {
    for (Case& c : all_cases(ledger)) {
      for (const PaymentSort sort : {PaymentSort::created_at, PaymentSort::updated_at}) {
        c.filter.sort = sort;
        INFO(c.name);
        CHECK(list_payments(db, other, c.filter, {std::nullopt, false, 100}).records.empty());
      }
    }
    return 0;
  });
}

TEST_CASE("payment list: records are complete") {
  ListedLedger ledger;
  const auto page = ledger.read([&](Connection& db) {
    return list_payments(db, ledger.tenant, with([](auto& f) { f.transaction_id = "t7"; }), {});
  });
  REQUIRE(page.records.size() == 1);
  const PaymentRecord& record = page.records[0];
  CHECK(record.request.type == PaymentType::p2p_own_multi);
  REQUIRE(record.request.legs.size() == 2);
  CHECK(record.request.legs[1].refs.to_ref == "REF-LEG");
  CHECK(record.leg_decimals == std::vector<int>{7, 7});
  CHECK(record.sending_amount == Amount::from_units(107 + 7));
  CHECK(record.tenant == ledger.tenant.key);
  CHECK(record.ledger_hash);
}

TEST_CASE("payment list: a text from outside is a value, never a statement") {
  ListedLedger ledger;
  PaymentFilter filter;
  filter.transaction_id = "' OR 1=1 --";
  filter.reference = "x'; DROP TABLE payments; --";
  CHECK(ledger.listed(filter, {}).empty());
  CHECK(ledger.count("payments") == 24);
}

}  // namespace payment_list_test
