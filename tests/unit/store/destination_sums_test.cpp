// The sums of off-ramps to a destination: exact for every window, and fast for any number of
// payments.
#include "store/payments/destination_sums.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "store/parties/beneficiaries.h"
#include "store/providers/connectors.h"
#include "unit/store/ledger_fixture.h"
#include "unit/store/statement_steps.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

/// A ledger with a connector and a destination that was changed once.
struct Payouts : SmallLedger {
  Payouts() {
    write([&](WriteTx& tx) -> Result<void> {
      ConnectorRow row;
      row.terms.id = random.id<ConnectorId>(tx.now());
      row.terms.name = row.terms.provider = "Provider";
      row.terms.country = "KE";
      row.terms.currency = "KES";
      row.terms.asset = usdc;
      row.terms.rate = Rate{};
      row.terms.min_amount = row.terms.max_amount = Amount::from_units(1);
      connector = insert_connector(tx, row, {});
      BeneficiaryRow beneficiary;
      beneficiary.id = random.id<BeneficiaryId>(tx.now());
      beneficiary.detail.party = Individual{.first_name = "Ada", .last_name = "Obi"};
      insert_beneficiary(tx, tenant, beneficiary);
      DestinationRow one;
      one.id = random.id<DestinationId>(tx.now());
      one.beneficiary = beneficiary.key;
      one.detail.method = DestinationMethod::mobile_money;
      one.detail.country = "KE";
      one.detail.currency = "KES";
      one.detail.details = MobileMoneyDetails{"M-Pesa", "+254712345678", {}};
      insert_destination(tx, tenant, one);
      archive_destination(tx, tenant, one);
      before = one.key;
      insert_destination(tx, tenant, one);
      present = one.key;
      return {};
    }).value();
  }

  /// Stores an off-ramp like an acceptance, and returns its key.
  std::int64_t send(WriteTx& tx, std::int64_t units, std::int64_t destination) {
    PaymentRequest request = transfer("s" + std::to_string(++sent_), units);
    request.type = PaymentType::offramp;
    request.legs.front().destination_wallet.reset();
    PaymentKeys keys;
    keys.legs.push_back({first.key, std::nullopt, usdc.key});
    keys.connector = connector;
    keys.destination = destination;
    const Amount amount = Amount::from_units(units);
    const std::int64_t payment =
        insert_payment(tx, tenant,
                       {random.id<PaymentId>(tx.now()), application, "req", request, keys, amount,
                        ProviderTerms{Amount(), amount, amount, std::nullopt}});
    seal_payment(tx, payment, request.type);
    return payment;
  }
  void fail(WriteTx& tx, std::int64_t payment) {
    SettlementView view = settlement_view(tx.db(), payment);
    change_status(tx, view, {PaymentStatus::failed, FailureCode::operator_failed, {}, {}});
  }
  /// Adds settled off-ramps of 1 unit, 100 every second, without their other rows.
  void send_many(std::int64_t count) {
    for (std::int64_t done = 0; done < count; done += 100) {
      clock.advance_ms(1'000);
      write([&](WriteTx& tx) -> Result<void> {
        tx.db().execute(
            "WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 99)"
            " INSERT INTO payments (tenant, id, transaction_id, application, request_id, type, "
            "status,"
            " sending_amount, created_at, destination, connector) SELECT " +
            std::to_string(tenant.key) + ", randomblob(16), 'm' || (" + std::to_string(done) +
            " + i), " + std::to_string(application) + ", 'r', 5, 2, 1, " +
            std::to_string(tx.now().ms) + ", " + std::to_string(present) + ", " +
            std::to_string(connector) + " FROM n");
        for (int i = 0; i < 100; ++i) count_sent(tx, {connector, present, Amount::from_units(1)});
        tx.chain_head() = {};  // read again with these payments
        return {};
      }).value();
    }
  }

  std::int64_t sent_since(Timestamp since) {
    return read(
        [&](Connection& db) { return sent_to_destination(db, connector, present, since).units(); });
  }
  /// The same sum, computed from the payments alone.
  std::int64_t scan_since(Timestamp since) {
    return read([&](Connection& db) {
      return number(db,
                    "SELECT ifnull(sum(sending_amount), 0) FROM payments WHERE type = 5"
                    " AND status IN (0, 1, 2) AND created_at > " +
                        std::to_string(since.ms));
    });
  }

  std::int64_t connector = 0;
  std::int64_t before = 0;  // rows of one destination
  std::int64_t present = 0;

 private:
  int sent_ = 0;
};

}  // namespace

TEST_CASE("sent to a destination: which payments count, and from when") {
  Payouts file;
  const Timestamp start = file.clock.now();
  const auto send = [&](std::int64_t destination, bool fails = false) {
    file.write([&](WriteTx& tx) -> Result<void> {
          const std::int64_t payment = file.send(tx, 100, destination);
          if (fails) file.fail(tx, payment);
          return {};
        })
        .value();
  };
  send(file.present);
  file.clock.advance_ms(1'000);
  send(file.present);
  send(file.present, true);
  send(file.before);  // before the destination was changed
  CHECK(file.sent_since(start.plus_ms(-1)) == 300);
  CHECK(file.sent_since(start) == 200);  // exactly as old as the window, so outside
  CHECK(file.sent_since(start.plus_ms(1'000)) == 0);
  file.read([&](Connection& db) {
    CHECK(sent_to_destination(db, file.connector + 1, file.present, start.plus_ms(-1)) == Amount());
    return 0;
  });
}

TEST_CASE("sent to a destination: equals a scan for every window, with later failures") {
  Payouts file;
  std::vector<Timestamp> times;
  std::vector<std::int64_t> open;
  // More than 64 x 64, many of them at one instant, and failures long before the last payment.
  for (int i = 0; i < 350; ++i) {
    file.write([&](WriteTx& tx) -> Result<void> {
          times.push_back(tx.now());
          const int burst = i % 40 == 0 ? 150 : static_cast<int>(file.random.next_u64() % 25);
          for (int n = 0; n < burst; ++n) {
            const auto units = static_cast<std::int64_t>(1 + file.random.next_u64() % 1'000);
            open.push_back(file.send(tx, units, n % 3 == 0 ? file.before : file.present));
          }
          for (int n = 0; n < 3 && !open.empty(); ++n) {
            const std::size_t at = file.random.next_u64() % open.size();
            file.fail(tx, open[at]);
            open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
          }
          return {};
        })
        .value();
    file.clock.advance_ms(static_cast<std::int64_t>(file.random.next_u64() % 5));
  }
  CHECK(open.size() > 2'500);
  for (const Timestamp at : times) {
    for (const std::int64_t shift : {-1, 0, 1}) {
      const Timestamp since = at.plus_ms(shift);
      if (file.sent_since(since) != file.scan_since(since)) FAIL("differs since " << since.ms);
    }
  }
  const auto levels = file.read([&](Connection& db) {
    return number(db,
                  "SELECT count(DISTINCT level) FROM destination_sums GROUP BY connector"
                  " HAVING count(*) > 30");
  });
  CHECK(levels == 3);
}

TEST_CASE("sent to a destination: a rejected command leaves no trace in the sums") {
  Payouts file;
  const Timestamp start = file.clock.now();
  CHECK_FALSE(file.write([&](WriteTx& tx) -> Result<void> {
    file.send(tx, 5, file.present);
    return unexpected(Slug::conflict, "no");
  }));
  CHECK(file.sent_since(start.plus_ms(-1)) == 0);
  CHECK(file.count("destination_sums") == 0);
}

TEST_CASE("sent to a destination: the work does not grow with the payments") {
  constexpr std::int64_t kCount = 100'000;
  Payouts file;
  file.send_many(kCount);
  const Timestamp end = file.clock.now();
  std::int64_t most = 0;
  for (std::int64_t back = 0; back <= 1'000; back += 10) {
    file.read([&](Connection& db) {
      const std::int64_t already = steps_so_far(db);
      CHECK(sent_to_destination(db, file.connector, file.present, end.plus_ms(-back * 1'000)) ==
            Amount::from_units(back * 100));
      most = std::max(most, steps_so_far(db) - already);
      return 0;
    });
  }
  const std::int64_t scan = file.read([&](Connection& db) {
    const std::int64_t already = steps_so_far(db);
    number(db, "SELECT sum(sending_amount) FROM payments WHERE destination = " +
                   std::to_string(file.present) + " AND connector = " +
                   std::to_string(file.connector) + " AND created_at > 0 AND status < 3");
    return steps_so_far(db) - already;
  });
  INFO("at most " << most << " steps for a window; a scan makes " << scan);
  CHECK(most > 0);
  // At most about 64 rows per level, about ten steps each; here, each instant has 100 payments.
  CHECK(most < 5'000);
  CHECK(scan > 100 * most);
}
