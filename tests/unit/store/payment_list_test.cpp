// The lists of payments, of a tenant and of the operator, with random combinations of filters,
// compared with a plain model.
#include "store/lists/payment_list.h"

#include <catch2/catch.hpp>

#include "base/random.h"
#include "store/operations/payment_lists.h"
#include "unit/store/listed_ledger.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace payment_list_test {
namespace {

bool of_any_leg(const PaymentRecord& record, const std::function<bool(const TransferLeg&)>& fits) {
  return std::ranges::any_of(record.request.legs, fits);
}
bool touches(const PaymentRecord& record, WalletId wallet) {
  return of_any_leg(record, [&](const TransferLeg& leg) {
    return leg.source_wallet == wallet || leg.destination_wallet == wallet;
  });
}
bool has_reference(const PaymentRecord& record, const std::string& reference) {
  return of_any_leg(record, [&](const TransferLeg& leg) {
    return leg.refs.from_ref == reference || leg.refs.to_ref == reference;
  });
}

/// One value of a filter.
template <class Filter>
struct Value {
  std::string name;
  std::function<void(Filter&)> set;
  ListedLedger::Fits fits;
};
template <class Filter>
using Values = std::vector<Value<Filter>>;

/// The filters that both lists have.
template <class Filter>
std::vector<Values<Filter>> common_filters() {
  std::vector<Values<Filter>> out(2);
  for (const PaymentStatus status :
       {PaymentStatus::initiated, PaymentStatus::succeeded, PaymentStatus::failed}) {
    out[0].push_back({"status", [=](auto& f) { f.status = status; },
                      [=](const auto& r) { return r.status == status; }});
  }
  for (const PaymentType type : {PaymentType::p2p_own, PaymentType::p2p_own_multi}) {
    out[1].push_back({"type", [=](auto& f) { f.type = type; },
                      [=](const auto& r) { return r.request.type == type; }});
  }
  return out;
}

/// The filters of GET /v1/transactions.
std::vector<Values<PaymentFilter>> tenant_filters(const ListedLedger& ledger) {
  using F = PaymentFilter;
  using R = PaymentRecord;
  auto out = common_filters<F>();
  auto& wallets = out.emplace_back();
  for (const LedgerWallet* wallet : {&ledger.first, &ledger.second, &ledger.third}) {
    const WalletId id = wallet->id;
    wallets.push_back(
        {"wallet", [=](F& f) { f.wallet = id; }, [=](const R& r) { return touches(r, id); }});
  }
  auto& references = out.emplace_back();
  for (const char* text : {"REF-F", "REF-T", "REF-LEG", "NONE"}) {
    references.push_back({text, [=](F& f) { f.reference = text; },
                          [=](const R& r) { return has_reference(r, text); }});
  }
  const auto nothing = [](const R&) { return false; };
  const auto everything = [](const R&) { return true; };
  const AssetCode usdc = ledger.usdc.code, eurc = ledger.eurc.code;
  out.push_back({{"asset", [=](F& f) { f.asset = usdc; }, everything},
                 {"other asset", [=](F& f) { f.asset = eurc; }, nothing},
                 {"unknown asset", [](F& f) { f.asset = AssetCode::parse("NONE"); }, nothing}});
  out.push_back({{"transactionId", [](F& f) { f.transaction_id = "t5"; },
                  [](const R& r) { return r.request.transaction_id == "t5"; }}});
  const Timestamp from = ledger.records[9].created_at, to = ledger.records[21].created_at;
  out.push_back({{"createdFrom", [=](F& f) { f.created_from = from; },
                  [=](const R& r) { return r.created_at >= from; }}});
  out.push_back({{"createdTo", [=](F& f) { f.created_to = to; },
                  [=](const R& r) { return r.created_at < to; }}});
  const Timestamp changed = ledger.records[9].updated_at;
  out.push_back({{"updatedFrom", [=](F& f) { f.updated_from = changed; },
                  [=](const R& r) { return r.updated_at >= changed; }}});
  out.push_back({{"beneficiary", [](F& f) { f.beneficiary = BeneficiaryId(); }, nothing},
                 {"connector", [](F& f) { f.connector = ConnectorId(); }, nothing}});
  return out;
}

/// The filters of `coffer payment list`.
std::vector<Values<PaymentsWanted>> operator_filters(const ListedLedger& ledger) {
  using F = PaymentsWanted;
  using R = PaymentRecord;
  auto out = common_filters<F>();
  auto& wallets = out.emplace_back();
  for (const LedgerWallet* wallet : {&ledger.first, &ledger.third}) {
    const LedgerWallet one = *wallet;
    wallets.push_back({"wallet", [=](F& f) { f.wallet = one.key; },
                       [=](const R& r) { return touches(r, one.id); }});
  }
  const auto nothing = [](const R&) { return false; };
  const auto everything = [](const R&) { return true; };
  const Keys own{ledger.tenant.key}, other{ledger.tenant.key + 1};
  const Keys many{ledger.tenant.key, 91, 92, 93, 94, 95, 96, 97, 98};
  out.push_back({{"tenant", [=](F& f) { f.tenants = own; }, everything},
                 {"many tenants", [=](F& f) { f.tenants = many; }, everything},
                 {"other tenant", [=](F& f) { f.tenants = other; }, nothing},
                 {"no tenant", [](F& f) { f.tenants = Keys{}; }, nothing}});
  const auto begins = [](const char* text) {
    return [=](const R& r) { return r.request.transaction_id.starts_with(text); };
  };
  out.push_back({{"text", [](F& f) { f.text = "t1"; }, begins("t1")},
                 {"text of one", [](F& f) { f.text = "t12"; }, begins("t12")},
                 {"text of none", [](F& f) { f.text = "1"; }, nothing},
                 {"account number", [](F& f) { f.text = "Firs"; }, everything}});
  out.push_back(
      {{"failure", [](F& f) { f.failure = FailureCode::expired; },
        [](const R& r) { return r.failure == FailureCode::expired; }},
       {"other failure", [](F& f) { f.failure = FailureCode::account_closed; }, nothing}});
  const Timestamp from = ledger.records[9].created_at, to = ledger.records[21].created_at;
  out.push_back(
      {{"from", [=](F& f) { f.from = from; }, [=](const R& r) { return r.created_at >= from; }},
       {"to", [=](F& f) { f.to = to; }, [=](const R& r) { return r.created_at < to; }},
       {"one instant", [=](F& f) { f.from = to, f.to = to.plus_ms(1); },
        [=](const R& r) { return r.created_at == to; }}});
  out.push_back({{"beneficiary", [](F& f) { f.beneficiary = 1; }, nothing},
                 {"connector", [](F& f) { f.connector = 1; }, nothing},
                 {"open item", [](F& f) { f.open_item = OpenItem::unbooked; }, nothing}});
  return out;
}

/// A random combination of at most four filters.
template <class Filter>
struct Combination {
  Combination(SeededRandom& random, const std::vector<Values<Filter>>& filters) {
    for (const Values<Filter>& values : filters) {
      if (chosen.size() == 4 || random.next_u64() % 3 != 0) continue;
      chosen.push_back(&values[random.next_u64() % values.size()]);
      chosen.back()->set(filter);
      name += chosen.back()->name + ", ";
    }
  }
  bool fits(const PaymentRecord& record) const {
    return std::ranges::all_of(chosen, [&](const auto* value) { return value->fits(record); });
  }
  std::vector<const Value<Filter>*> chosen;
  Filter filter;
  std::string name;
};

/// Follows the pages in one direction. Each page starts where the previous one says.
Keys follow(Connection& db, const Tenant& tenant, const PaymentFilter& filter, PageAt page) {
  Keys out;
  do {
    PaymentPage found = list_payments(db, tenant, filter, page);
    CHECK(found.records.size() <= static_cast<std::size_t>(page.limit));
    CHECK(std::is_sorted(found.positions.rbegin(), found.positions.rend()));
    REQUIRE(found.records.size() == found.positions.size());
    if (page.backward) std::ranges::reverse(found.records);
    for (const PaymentRecord& record : found.records) out.push_back(record.key);
    page.key = found.next;
  } while (page.key);
  return out;
}

}  // namespace

TEST_CASE("payment list: random filters in both orders, page by page forwards and back") {
  ListedLedger ledger;
  const auto filters = tenant_filters(ledger);
  SeededRandom random(11);
  Tenant other = ledger.tenant;
  other.key += 1;
  std::size_t matches = 0;
  ledger.read([&](Connection& db) {
    for (int round = 0; round < 400; ++round) {
      Combination<PaymentFilter> wanted(random, filters);
      const auto fits = [&](const PaymentRecord& record) { return wanted.fits(record); };
      for (const PaymentSort sort : {PaymentSort::created_at, PaymentSort::updated_at}) {
        wanted.filter.sort = sort;
        Keys expected = sort == PaymentSort::created_at ? ledger.expected(fits)
                                                        : ledger.expected_by_change(fits);
        matches += expected.size();
        const int limit = round % 3 == 0 ? 1 : round % 3 == 1 ? 4 : 100;
        INFO(wanted.name << "sort " << static_cast<int>(sort) << ", limit " << limit);
        CHECK(follow(db, ledger.tenant, wanted.filter, {.limit = limit}) == expected);
        std::ranges::reverse(expected);
        CHECK(follow(db, ledger.tenant, wanted.filter, {.limit = limit, .backward = true}) ==
              expected);
        CHECK(list_payments(db, other, wanted.filter, {.limit = 100}).records.empty());
      }
    }
    return 0;
  });
  CHECK(matches > 2'000);  // control
  CHECK(ledger.verify().empty());
}

TEST_CASE("payment list: a list by change is the same with and without an index of its filter") {
  ListedLedger ledger;
  ledger.pay_many(2'000);  // more than are sorted in memory
  ledger.read([&](Connection& db) {
    for (const PaymentStatus status : {PaymentStatus::initiated, PaymentStatus::succeeded}) {
      PaymentFilter filter;
      filter.status = status;
      filter.type = PaymentType::p2p_own;
      filter.sort = PaymentSort::updated_at;
      const auto found = follow(db, ledger.tenant, filter, {.limit = 100});
      filter.created_to = ledger.records.back().created_at.plus_ms(1);
      const auto few = follow(db, ledger.tenant, filter, {.limit = 100});
      CHECK(Keys(found.end() - static_cast<std::ptrdiff_t>(few.size()), found.end()) == few);
      CHECK(found.size() == few.size() + (status == PaymentStatus::initiated ? 2'000 : 0));
    }
    return 0;
  });
}

TEST_CASE("payment list: the operator's list and count with random filters") {
  ListedLedger ledger;
  const auto filters = operator_filters(ledger);
  SeededRandom random(12);
  std::size_t matches = 0;
  ledger.read([&](Connection& db) {
    for (int round = 0; round < 600; ++round) {
      const Combination<PaymentsWanted> wanted(random, filters);
      const Keys expected =
          ledger.expected([&](const PaymentRecord& record) { return wanted.fits(record); });
      matches += expected.size();
      for (const int limit : {1, 7, 100}) {
        INFO(wanted.name << "limit " << limit);
        Keys listed;
        PageAt page{.limit = limit};
        do {
          const KeyPage found = newest_payments(db, wanted.filter, page);
          listed.insert(listed.end(), found.keys.begin(), found.keys.end());
          page.key = found.next;
        } while (page.key);
        CHECK(listed == expected);
      }
      const PaymentCount count = count_payments(db, wanted.filter);
      CHECK(count.exact);
      CHECK(static_cast<std::size_t>(count.payments) == expected.size());
    }
    return 0;
  });
  CHECK(matches > 1'000);  // control
}

TEST_CASE("payment list: a count that ends early is at least what a page shows") {
  ListedLedger ledger;
  ledger.pay_many(5'000);
  ledger.read([&](Connection& db) {
    PaymentsWanted wanted;
    wanted.tenants = std::vector{ledger.tenant.key};
    wanted.status = PaymentStatus::initiated;
    const PaymentCount count = count_payments(db, wanted);
    CHECK_FALSE(count.exact);
    CHECK(count.payments < 5'005);
    CHECK(count.payments > 4'000);
    return 0;
  });
}

TEST_CASE("payment list: records are complete") {
  ListedLedger ledger;
  PaymentFilter filter;
  filter.transaction_id = "t7";
  const auto page =
      ledger.read([&](Connection& db) { return list_payments(db, ledger.tenant, filter, {}); });
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
  ledger.read([&](Connection& db) {
    CHECK(list_payments(db, ledger.tenant, filter, {}).records.empty());
    return 0;
  });
  CHECK(ledger.count("payments") == 30);
}

}  // namespace payment_list_test
