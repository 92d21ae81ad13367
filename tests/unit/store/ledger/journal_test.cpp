#include "store/ledger/journal.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "base/digest.h"
#include "support/unguarded.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

/// Whether the command is rejected as a bug (InternalError or SqlError).
bool is_bug(SmallLedger& ledger, const std::function<void(WriteTx&)>& action) {
  CapturedLog log;
  const auto verdict = ledger.write([&](WriteTx& tx) -> Result<void> {
    action(tx);
    return {};
  });
  return !verdict && Result<void>(verdict).error().slug == Slug::unexpected_error;
}

Movement movement(AccountKey debit, AccountKey credit, std::int64_t units, int leg = 0) {
  return {{debit, credit, Amount::from_units(units)}, leg};
}

}  // namespace

TEST_CASE("journal: a posting moves both balances and writes both entries") {
  SmallLedger ledger;
  std::string link;
  REQUIRE(ledger.write([&](WriteTx& tx) -> Result<void> {
    const std::vector<Movement> movements{
        movement(ledger.first.account, ledger.second.account, 300, 0),
        movement(ledger.second.account, ledger.first.account, 100, 1)};
    link = post(tx, ledger.tenant.key, JournalKind::payment, movements);
    return {};
  }));
  CHECK(ledger.balance(ledger.first) == 10'000'000'000 - 200);
  CHECK(ledger.balance(ledger.second) == 10'000'000'000 + 200);
  CHECK(ledger.value("SELECT group_concat(amount || ':' || balance_after || ':' || leg, ' ') FROM"
                     " entries WHERE entry / 1024 = 3") ==
        "-300:9999999700:0 300:10000000300:0 -100:10000000200:1 100:9999999800:1");
  CHECK(ledger.value("SELECT lower(hex(link)) FROM journal WHERE journal = 3") == to_hex(link));
  CHECK(ledger.verify().empty());
}

TEST_CASE("journal: the chain is the documented one, from 32 zero bytes") {
  SmallLedger ledger;
  std::string head(32, '\0');
  for (int journal = 1; journal <= 2; ++journal) {
    const std::string n = std::to_string(journal);
    const std::string header = ledger.value(
        "SELECT journal || '|' || tenant || '|' || kind || '|' ||"
        " coalesce(payment, '-') || '|' || at || char(10)"
        " FROM journal WHERE journal = " +
        n);
    const std::string lines = ledger.value(
        "SELECT group_concat((entry % 1024) || '|' || account || '|' || amount || '|' ||"
        " balance_after || '|' || counterparty || '|' || leg || char(10), '')"
        " FROM (SELECT * FROM entries WHERE entry / 1024 = " +
        n + " ORDER BY entry)");
    head = std::string(as_text(hmac_sha256("journal", head + header + lines)));
    CHECK(ledger.value("SELECT lower(hex(link)) FROM journal WHERE journal = " + n) ==
          to_hex(head));
  }
}

TEST_CASE("journal: a link covers the fields of its payment that never change") {
  for (const char* edit :
       {"UPDATE payments SET transaction_id = 'other'", "UPDATE payments SET request_id = 'other'",
        "UPDATE payments SET from_ref = 'other'", "UPDATE payments SET description = 'other'",
        "UPDATE payments SET created_at = created_at - 1", "UPDATE payments SET memo = ''",
        "UPDATE payments SET id = zeroblob(16)", "UPDATE payments SET notify = 1",
        "UPDATE payments SET metadata = '{}'"}) {
    INFO(edit);
    SmallLedger ledger;
    ledger.pay_and_settle(ledger.transfer("a", 1));
    ledger.close();
    Connection db(ledger.folder.file(), OpenMode::read_write);
    coffer::test::change_unguarded(db, edit);
    const auto with_key = keyed_verify(db);
    REQUIRE(with_key.size() == 2);
    CHECK(with_key.front().invariant == "hash_chain");
    CHECK(with_key.back().invariant == "payments");
    use_keys(db, nullptr);
    CHECK(verify(db, true, [](auto&&...) {}).empty());  // undetectable from the structure alone
  }
}

TEST_CASE("journal: the key of another file does not continue the chain") {
  SmallLedger ledger;
  Connection db(ledger.folder.file(), OpenMode::read_only);
  use_keys(db, std::unique_ptr<const ChainKeys>(
                   new ChainKeys{KeyedDigest("other"), KeyedDigest("audit"), KeyedDigest("rows")}));
  const auto found = verify(db, true, [](auto&&...) {});
  REQUIRE(found.size() == 1);
  CHECK(found.front().detail == "journal row 1 does not continue the hash chain");
}

TEST_CASE("journal: invalid operations are bugs of the caller and store nothing") {
  SmallLedger ledger;
  const AccountKey a = ledger.first.account;
  const AccountKey b = ledger.second.account;
  const auto posts = [&](std::vector<Movement> movements) {
    return is_bug(ledger, [&ledger, movements](WriteTx& tx) {
      post(tx, ledger.tenant.key, JournalKind::payment, movements);
    });
  };
  CHECK(posts({}));
  CHECK(posts({movement(a, b, 0)}));
  CHECK(posts({movement(a, b, -1)}));
  CHECK(posts({movement(a, ledger.third.account, 1)}));  // another asset
  CHECK(posts({movement(a, b, 10'000'000'001)}));        // overdraft
  CHECK(posts({movement(a, b, 5'000'000'000), movement(a, b, 5'000'000'001)}));
  CHECK(posts({movement(a, 999, 1)}));                          // unknown account
  CHECK(posts(std::vector<Movement>(513, movement(a, b, 1))));  // more than a set holds
  CHECK_FALSE(posts(std::vector<Movement>(512, movement(a, b, 1))));
  CHECK(ledger.balance(ledger.first) == 10'000'000'000 - 512);
  CHECK(ledger.verify().empty());
}

TEST_CASE("journal: held value can neither be held again nor spent") {
  SmallLedger ledger;
  const std::int64_t key = ledger.pay(ledger.transfer("a", 9'999'999'999));
  CHECK(ledger.balance(ledger.first, "held") == 9'999'999'999);
  CHECK(is_bug(ledger, [&](WriteTx& tx) { ledger.accept(tx, ledger.transfer("b", 2)); }));
  CHECK(is_bug(ledger, [&](WriteTx& tx) {
    const Movement all = movement(ledger.first.account, ledger.second.account, 2);
    post(tx, ledger.tenant.key, JournalKind::payment, {&all, 1});
  }));
  REQUIRE(ledger.write([&](WriteTx& tx) -> Result<void> {
    ledger.settle(tx, key, FailureCode::compliance_rejected);
    return {};
  }));
  CHECK(ledger.balance(ledger.first, "held") == 0);
  CHECK(ledger.balance(ledger.first) == 10'000'000'000);
  CHECK(ledger.value("SELECT state FROM payment_holds") == "2");
  CHECK(ledger.verify().empty());
}

TEST_CASE("journal: issuance may be negative, the market's pool may not") {
  SmallLedger ledger;
  const auto pool_to_first = [&](WriteTx& tx) {
    const AccountKey pool =
        operator_account(tx, Environment::sandbox, AccountKind::liquidity, ledger.usdc.key);
    const Movement out = movement(pool, ledger.first.account, 1);
    post(tx, ledger.tenant.key, JournalKind::payment, {&out, 1});
  };
  CHECK(is_bug(ledger, pool_to_first));
  CHECK(ledger.read([&](Connection& db) {
    return operator_balance(db, Environment::sandbox, AccountKind::issuance, ledger.usdc.key);
  }) == Amount::from_units(-20'000'000'000));
  CHECK(ledger.read([&](Connection& db) {
    return operator_balance(db, Environment::production, AccountKind::issuance, ledger.usdc.key);
  }) == Amount());
}

TEST_CASE("journal: an operator's account is created once per environment, kind and asset") {
  SmallLedger ledger;
  std::vector<AccountKey> keys;
  for (int i = 0; i < 2; ++i) {
    REQUIRE(ledger.write([&](WriteTx& tx) -> Result<void> {
      for (const auto environment : {Environment::sandbox, Environment::production}) {
        for (const auto kind : {AccountKind::issuance, AccountKind::liquidity, AccountKind::fee}) {
          keys.push_back(operator_account(tx, environment, kind, ledger.eurc.key));
        }
      }
      return {};
    }));
  }
  REQUIRE(keys.size() == 12);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(keys[i] == keys[i + 6]);
    for (std::size_t j = 0; j < i; ++j) CHECK(keys[i] != keys[j]);
  }
}

TEST_CASE("journal: a wallet shows its trustlines in the order they were opened") {
  SmallLedger ledger;
  REQUIRE(ledger.write([&](WriteTx& tx) -> Result<void> {
    open_trustline(tx, ledger.tenant, ledger.first.key, ledger.eurc.key);
    return {};
  }));
  const auto balances =
      ledger.read([&](Connection& db) { return balances_of(db, ledger.first.key); });
  REQUIRE(balances.size() == 2);
  CHECK(balances[0].asset.code == ledger.usdc.code);
  CHECK(balances[0].balance == Amount::from_units(10'000'000'000));
  CHECK(balances[1].asset.code == ledger.eurc.code);
  CHECK(balances[1].balance == Amount());
  CHECK(balances[1].asset.decimals == 2);
  // The schema rejects a second trustline for the same asset.
  CHECK(is_bug(ledger, [&](WriteTx& tx) {
    open_trustline(tx, ledger.tenant, ledger.first.key, ledger.eurc.key);
  }));
}

TEST_CASE("journal: entries, sets and closed holds are final for every writer") {
  SmallLedger ledger;
  const auto legs = [&](const char* transaction_id) {  // a payment whose holds are rows
    PaymentRequest request = ledger.transfer(transaction_id, 5);
    request.type = PaymentType::p2p_own_multi;
    return request;
  };
  const std::int64_t key = ledger.pay_and_settle(legs("a"));
  ledger.pay(legs("open"));
  const auto rejected = [&](const std::string& sql) {
    return is_bug(ledger, [sql](WriteTx& tx) { tx.db().execute(sql); });
  };
  for (const char* column : {"account", "amount", "balance_after", "counterparty", "leg"}) {
    CHECK(rejected(std::string("UPDATE entries SET ") + column + " = " + column));
  }
  for (const char* column : {"tenant", "kind", "payment", "at", "link"}) {
    CHECK(rejected(std::string("UPDATE journal SET ") + column + " = " + column));
  }
  CHECK(rejected("DELETE FROM entries"));
  CHECK(rejected("DELETE FROM journal"));
  CHECK(rejected("DELETE FROM holds"));
  const std::string closed = " WHERE payment = " + std::to_string(key);
  CHECK(rejected("UPDATE holds SET state = 0" + closed));
  CHECK(rejected("UPDATE holds SET state = 2" + closed));
  CHECK(rejected("UPDATE holds SET state = 1, amount = 1 WHERE state = 0"));
  CHECK(rejected("UPDATE holds SET state = 1, account = 2 WHERE state = 0"));
  CHECK(rejected("UPDATE holds SET amount = amount WHERE state = 0"));
  CHECK(ledger.verify().empty());
}
