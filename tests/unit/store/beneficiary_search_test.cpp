// Searches over beneficiaries against a plain model.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "domain/parties/search_words.h"
#include "store/operations/noun_lists.h"
#include "store/parties/beneficiaries.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace beneficiary_search_test {
namespace {

using Keys = std::vector<std::int64_t>;

Keys keys_of(const RowPage<BeneficiaryRow>& page) {
  Keys out;
  for (const BeneficiaryRow& row : page.rows) out.push_back(row.key);
  return out;
}

TermsWanted wanted(std::string_view q, std::optional<std::string> tag = {}) {
  return {q.empty() ? std::nullopt : std::optional(search_words(q)), std::move(tag)};
}

/// The results for the words and the tag, read page by page in one direction.
Keys listed(Connection& db, const Tenant& tenant, const TermsWanted& what, int limit,
            bool backward = false) {
  Keys out;
  PageAt at{{}, limit, backward};
  do {
    const auto page = list_beneficiaries(db, tenant, what, at);
    Keys keys = keys_of(page);
    CHECK(std::is_sorted(keys.rbegin(), keys.rend()));
    if (backward) std::reverse(keys.begin(), keys.end());
    out.insert(out.end(), keys.begin(), keys.end());
    at.key = page.next;
  } while (at.key);
  return out;
}

}  // namespace

TEST_CASE("beneficiary search: every pair of words and tags against a plain model, page by page") {
  SmallLedger ledger;
  const std::vector<std::string> names = {"Amina",  "Otieno", "Amadou", "O'Brien", "M\xc3\xbcller",
                                          "Handel", "Hans",   "Ham",    "A",       "Zo\xc3\xab"};
  struct Made {
    std::int64_t key;
    std::vector<std::string> words;
    std::vector<std::string> tags;
  };
  std::vector<Made> model;
  ledger
      .write([&](WriteTx& tx) -> Result<void> {
        for (std::size_t i = 0; i < 60; ++i) {
          BeneficiaryRow row;
          row.id = ledger.random.id<BeneficiaryId>(ledger.clock.now());
          row.detail.party = Individual{names[i % 10], names[(i * 7 + i / 10) % 10],
                                        std::nullopt,  std::nullopt,
                                        std::nullopt,  std::nullopt};
          if (i % 3 == 0) row.detail.client_reference = "REF-" + std::to_string(i);
          if (i % 4 == 0) row.detail.tags = {"vip", "n" + std::to_string(i % 8)};
          insert_beneficiary(tx, ledger.tenant, row);
          if (i % 9 == 5) {
            archive_beneficiary(tx, ledger.tenant, row);
            continue;
          }
          if (i % 9 == 7) {
            row.detail.client_reference = "moved " + std::to_string(i);
            row.detail.tags = {"moved"};
            update_beneficiary(tx, ledger.tenant, row);
          }
          model.insert(model.begin(),
                       {row.key, search_words(search_text(row.detail)), row.detail.tags});
        }
        return {};
      })
      .value();
  const Tenant other{ledger.tenant.key + 1, ledger.tenant.association, ledger.tenant.environment};
  ledger.read([&](Connection& db) {
    std::vector<std::string> texts = {"",      "a",     "am", "ha", "o",        "ref",
                                      "ref 3", "moved", "x",  "1",  "M\xc3\x9c"};
    for (const std::string& name : names) texts.push_back(name + " a");
    for (const std::string& text : texts) {
      for (const auto& tag :
           {std::optional<std::string>(), std::optional<std::string>("vip"),
            std::optional<std::string>("moved"), std::optional<std::string>("vi")}) {
        INFO(text << " #" << tag.value_or("-"));
        Keys expected;
        for (const Made& one : model) {
          const bool tagged =
              !tag || std::find(one.tags.begin(), one.tags.end(), *tag) != one.tags.end();
          if (tagged && has_words(one.words, search_words(text))) expected.push_back(one.key);
        }
        for (const int limit : {1, 7, 100}) {
          CHECK(listed(db, ledger.tenant, wanted(text, tag), limit) == expected);
        }
        std::reverse(expected.begin(), expected.end());
        CHECK(listed(db, ledger.tenant, wanted(text, tag), 3, true) == expected);
        CHECK(listed(db, other, wanted(text, tag), 3).empty());
      }
    }
    return 0;
  });
}

TEST_CASE(
    "beneficiary search: the operator finds beneficiaries of all tenants, by word and by ID") {
  SmallLedger ledger;
  BeneficiaryRow row;
  ledger
      .write([&](WriteTx& tx) -> Result<void> {
        for (const char* first : {"Amina", "Amadou", "Wanjiku"}) {
          row.id = ledger.random.id<BeneficiaryId>(ledger.clock.now());
          row.detail.party = Individual{first, "Otieno", {}, {}, {}, {}};
          insert_beneficiary(tx, ledger.tenant, row);
        }
        return {};
      })
      .value();
  ledger.read([&](Connection& db) {
    for (const auto& tenants : {TenantKeys(), TenantKeys(Keys{ledger.tenant.key})}) {
      const auto found = [&](const std::string& text) {
        return newest_beneficiaries(db, {tenants, text}, {}).rows.size();
      };
      CHECK(found("otieno") == 3);
      CHECK(found("OTI ama") == 1);
      CHECK(found("tieno") == 0);
      CHECK(found("-") == 0);
      CHECK(found(row.id.to_string()) == 1);
    }
    CHECK(newest_beneficiaries(db, {Keys{ledger.tenant.key + 1}, "otieno"}, {}).rows.empty());
    // With too many tenants for lookups, each row is checked.
    const Keys many{ledger.tenant.key, 91, 92, 93, 94, 95, 96, 97};
    CHECK(newest_beneficiaries(db, {many, "ami oti"}, {}).rows.size() == 1);
    return 0;
  });
}

TEST_CASE("beneficiary search: terms of another folding are computed again at the next start") {
  SmallLedger ledger;
  BeneficiaryRow row, archived;
  ledger
      .write([&](WriteTx& tx) -> Result<void> {
        row.id = ledger.random.id<BeneficiaryId>(ledger.clock.now());
        row.detail.party = Individual{"\u0218tefan", "Otieno", {}, {}, {}, {}};
        row.detail.tags = {"vip"};
        archived = row;
        archived.id = ledger.random.id<BeneficiaryId>(ledger.clock.now());
        insert_beneficiary(tx, ledger.tenant, row);
        insert_beneficiary(tx, ledger.tenant, archived);
        archive_beneficiary(tx, ledger.tenant, archived);
        return {};
      })
      .value();
  const auto terms = [](Connection& db) {
    std::vector<std::string> out;
    Query query(db, "SELECT term FROM beneficiary_terms ORDER BY term");
    while (query.step()) out.push_back(query.text(0));
    return out;
  };
  Connection writer(ledger.folder.file(), OpenMode::read_write);
  const auto stored = terms(writer);
  REQUIRE(stored.size() == 3);
  writer.execute("UPDATE beneficiary_terms SET term = 'x' WHERE term LIKE '%tefan'");
  refresh_search_terms(writer);  // the version is the same
  CHECK(terms(writer) != stored);
  writer.execute("UPDATE meta SET value = x'30' WHERE name = 'search_folding'");
  refresh_search_terms(writer);
  CHECK(terms(writer) == stored);
  refresh_search_terms(writer);
  CHECK(terms(writer) == stored);
}

}  // namespace beneficiary_search_test
