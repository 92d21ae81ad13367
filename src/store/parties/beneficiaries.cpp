#include "store/parties/beneficiaries.h"

#include "base/check.h"
#include "base/text/unicode.h"
#include "domain/parties/search_words.h"
#include "store/ledger/catalog.h"
#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"

namespace coffer::store {
namespace {

constexpr Column<BeneficiaryRow> kBeneficiaryColumns[] = {
    joined<&BeneficiaryRow::key>("beneficiary"),
    column<&BeneficiaryRow::id>("id"),
    column<&BeneficiaryRow::detail, &Beneficiary::client_reference>("client_reference"),
    column<&BeneficiaryRow::created_at>("created_at"),
    column<&BeneficiaryRow::updated_at>("updated_at"),
    joined<&BeneficiaryRow::archived>("archived_at IS NOT NULL"),
};

/// `entity_type` determines which of the columns have values.
const TextColumns<Individual, Company> kParty;
const TextColumns<Address> kAddress;

const std::string kSelectBeneficiary = select(kBeneficiaryColumns) + ", entity_type" +
                                       select_texts("beneficiaries", kParty.names()) +
                                       " FROM beneficiaries";
const std::string kFindBeneficiary = kSelectBeneficiary + " WHERE id = ? AND tenant = ?";
const std::string kFindByKey = kSelectBeneficiary + " WHERE beneficiary = ?";
const std::string kInsertBeneficiary = ColumnList{"tenant", "entity_type"}
                                           .add(kParty)
                                           .add(kBeneficiaryColumns)
                                           .insert_into("beneficiaries");
const std::string kUpdateBeneficiary =
    ColumnList{"client_reference", "updated_at", "entity_type"}.add(kParty).update(
        "beneficiaries") +
    " WHERE beneficiary = ? AND tenant = ? AND archived_at IS NULL";
constexpr KeyIndex kOfTenant =
    COFFER_KEY_INDEX("beneficiary", "beneficiaries", "tenant = ?3 AND archived_at IS NULL");

const std::string kAddresses = "SELECT position" +
                               select_texts("beneficiary_addresses", kAddress.names()) +
                               " FROM beneficiary_addresses WHERE beneficiary = ?"
                               " ORDER BY position";
const std::string kInsertAddress =
    ColumnList{"beneficiary", "position"}.add(kAddress).insert_into("beneficiary_addresses");
constexpr const char* kHasTag = "SELECT 1 FROM beneficiary_tags WHERE beneficiary = ? AND tag = ?";
constexpr const char* kArchive =
    "UPDATE beneficiaries SET archived_at = ?1, updated_at = ?1"
    " WHERE beneficiary = ?2 AND tenant = ?3 AND archived_at IS NULL";
constexpr const char* kArchiveDestinations =
    "UPDATE destinations SET archived_at = ? WHERE beneficiary = ? AND archived_at IS NULL";

constexpr std::string_view kSearchFolding = "search_folding";  // in meta
constexpr const char* kSetFolding =
    "INSERT INTO meta (name, value) VALUES (?, ?)"
    " ON CONFLICT (name) DO UPDATE SET value = excluded.value";

BeneficiaryRow beneficiary_row(const Query& q) {
  auto row = read_row<BeneficiaryRow>(q, kBeneficiaryColumns);
  const int type = std::size(kBeneficiaryColumns);
  row.detail.party = kParty.read(q, type + 1, static_cast<std::size_t>(q.integer(type)));
  return row;
}

/// Without addresses and tags.
Beneficiary detail_of(Connection& db, std::int64_t beneficiary) {
  Query query(db, kFindByKey.c_str(), beneficiary);
  COFFER_CHECK(query.step());
  return beneficiary_row(query).detail;
}

std::vector<std::string> tags_of(Connection& db, std::int64_t beneficiary) {
  std::vector<std::string> out;
  Query tags(db, "SELECT tag FROM beneficiary_tags WHERE beneficiary = ? ORDER BY position",
             beneficiary);
  while (tags.step()) out.push_back(tags.text(0));
  return out;
}

std::vector<std::string> terms_of(const Beneficiary& detail) {
  return store::terms_of(search_text(detail), detail.tags);
}

/// The search terms of the stored row.
std::vector<std::string> stored_terms(Connection& db, std::int64_t beneficiary) {
  Beneficiary detail = detail_of(db, beneficiary);
  detail.tags = tags_of(db, beneficiary);
  return terms_of(detail);
}

void load_lists(Connection& db, BeneficiaryRow& row) {
  Query addresses(db, kAddresses.c_str(), row.key);
  while (addresses.step()) {
    row.detail.addresses.push_back(std::get<Address>(kAddress.read(addresses, 1, 0)));
  }
  row.detail.tags = tags_of(db, row.key);
}

std::optional<BeneficiaryRow> first_row(Connection& db, Query&& query,
                                        std::initializer_list<FoundBy> found_by) {
  if (!query.step()) return std::nullopt;
  BeneficiaryRow row = beneficiary_row(query);
  require_intact(db, "beneficiaries", row.key, found_by);
  load_lists(db, row);
  return row;
}

void put_lists(WriteTx& tx, const BeneficiaryRow& row) {
  tx.db().run("DELETE FROM beneficiary_addresses WHERE beneficiary = ?", row.key);
  tx.db().run("DELETE FROM beneficiary_tags WHERE beneficiary = ?", row.key);
  std::int64_t position = 0;
  for (const Address& address : row.detail.addresses) {
    Query query(tx.db(), kInsertAddress.c_str(), row.key, position++);
    kAddress.bind(query, 3, address);
    query.run();
  }
  position = 0;
  for (const std::string& tag : row.detail.tags) {
    tx.db().run("INSERT INTO beneficiary_tags (beneficiary, position, tag) VALUES (?, ?, ?)",
                row.key, position++, tag);
  }
}

}  // namespace

std::optional<BeneficiaryRow> find_beneficiary(Connection& db, const Tenant& tenant,
                                               BeneficiaryId id) {
  return first_row(db, Query(db, kFindBeneficiary.c_str(), id, tenant.key), {{"id", id}});
}

std::optional<BeneficiaryRow> find_beneficiary_by_key(Connection& db, std::int64_t key) {
  return first_row(db, Query(db, kFindByKey.c_str(), key), {});
}

bool beneficiary_fits(Connection& db, std::int64_t key, const TermsWanted& wanted) {
  if (wanted.tag && !Query(db, kHasTag, key, *wanted.tag).step()) return false;
  return !wanted.words || (!wanted.words->empty() &&
                           has_words(search_words(search_text(detail_of(db, key))), *wanted.words));
}

RowPage<BeneficiaryRow> list_beneficiaries(Connection& db, const Tenant& tenant,
                                           const TermsWanted& wanted, const PageAt& page) {
  KeyWalk walk(db, page);
  std::vector<KeySources> filters = term_filters(db, walk, {&tenant.key, 1}, wanted);
  // The row of a single filter matches it.
  const std::size_t conditions = (wanted.tag ? 1 : 0) + (wanted.words ? wanted.words->size() : 0);
  const bool is_exact = filters.size() == 1 && conditions <= 1;
  if (filters.empty()) filters.push_back({walk.along(kOfTenant, tenant.key)});
  const auto fits = [&](std::int64_t key) {
    if (is_exact) return true;
    walk.spend(1);  // splitting its text takes as long as reading another row
    return beneficiary_fits(db, key, wanted);
  };
  return walk.rows(filters, fits, [&](std::int64_t key) {
    return *first_row(db, Query(db, kFindByKey.c_str(), key), {{"tenant", tenant.key}});
  });
}

void refresh_search_terms(Connection& writer) {
  const std::string version = folding_version();
  if (read_meta(writer, kSearchFolding) == version) return;
  Transaction transaction(writer);
  writer.run("DELETE FROM beneficiary_terms");
  {
    Query all(writer, "SELECT beneficiary, tenant FROM beneficiaries WHERE archived_at IS NULL");
    while (all.step()) {
      for (const std::string& term : stored_terms(writer, all.integer(0))) {
        writer.run("INSERT INTO beneficiary_terms (tenant, term, beneficiary) VALUES (?, ?, ?)",
                   all.integer(1), term, all.integer(0));
      }
    }
  }
  writer.run(kSetFolding, kSearchFolding, Blob{version});
  transaction.commit();
}

void insert_beneficiary(WriteTx& tx, const Tenant& tenant, BeneficiaryRow& row) {
  row.created_at = row.updated_at = tx.now();
  Query query(tx.db(), kInsertBeneficiary.c_str(), tenant.key, row.type());
  kParty.bind(query, 3, row.detail.party);
  bind_row(query, 3 + kParty.count(), kBeneficiaryColumns, row);
  query.run();
  row.key = tx.db().last_insert_key();
  put_lists(tx, row);
  put_terms(tx, tenant, row.key, {}, terms_of(row.detail));
  tx.quotas().add(tenant.key, Quota::beneficiaries, 1);
  tx.quotas().add_bytes(tenant.key, row_bytes::kBeneficiary);
}

void update_beneficiary(WriteTx& tx, const Tenant& tenant, BeneficiaryRow& row) {
  const auto before = stored_terms(tx.db(), row.key);
  Query query(tx.db(), kUpdateBeneficiary.c_str(), row.detail.client_reference, tx.now(),
              row.type());
  kParty.bind(query, 4, row.detail.party);
  query.bind(4 + kParty.count(), row.key);
  query.bind(5 + kParty.count(), tenant.key);
  query.run();
  COFFER_CHECK(tx.db().changes() == 1);
  row.updated_at = tx.now();
  put_lists(tx, row);
  put_terms(tx, tenant, row.key, before, terms_of(row.detail));
}

void touch_beneficiary(WriteTx& tx, const Tenant& tenant, BeneficiaryRow& row) {
  tx.db().run("UPDATE beneficiaries SET updated_at = ? WHERE beneficiary = ? AND tenant = ?",
              tx.now(), row.key, tenant.key);
  COFFER_CHECK(tx.db().changes() == 1);
  row.updated_at = tx.now();
}

void archive_beneficiary(WriteTx& tx, const Tenant& tenant, const BeneficiaryRow& row) {
  tx.db().run(kArchive, tx.now(), row.key, tenant.key);
  COFFER_CHECK(tx.db().changes() == 1);
  put_terms(tx, tenant, row.key, stored_terms(tx.db(), row.key), {});
  tx.quotas().add(tenant.key, Quota::beneficiaries, -1);
  archive_destinations(tx, tenant, row);
}

void archive_destinations(WriteTx& tx, const Tenant& tenant, const BeneficiaryRow& row) {
  tx.db().run(kArchiveDestinations, tx.now(), row.key);
  tx.quotas().add(tenant.key, Quota::destinations, -tx.db().changes());
}

}  // namespace coffer::store
