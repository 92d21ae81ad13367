#include "store/beneficiaries.h"

#include "base/check.h"
#include "domain/party/search_words.h"
#include "store/identity/row_bytes.h"

namespace coffer::store {
namespace {

#define BENEFICIARY_COLUMNS                                                                 \
  "SELECT b.beneficiary, b.id, b.entity_type, b.first_name, b.last_name, b.date_of_birth,"  \
  " b.nationality, b.company_name, b.registration_number, b.registration_country, b.email," \
  " b.phone, b.client_reference, b.created_at, b.updated_at, b.archived_at FROM beneficiaries b"
constexpr const char* kFind = BENEFICIARY_COLUMNS " WHERE b.id = ? AND b.tenant = ?";
constexpr const char* kFindByKey = BENEFICIARY_COLUMNS " WHERE b.beneficiary = ?";
#undef BENEFICIARY_COLUMNS
constexpr KeyIndex kOfTenant =
    COFFER_KEY_INDEX("beneficiary", "beneficiaries", "tenant = ?3 AND archived_at IS NULL");
constexpr const char* kSearch = "SELECT search FROM beneficiaries WHERE beneficiary = ?";

constexpr const char* kAddresses =
    "SELECT type, line1, line2, city, state, postal_code, country FROM beneficiary_addresses"
    " WHERE beneficiary = ? ORDER BY position";
constexpr const char* kTags =
    "SELECT tag FROM beneficiary_tags WHERE beneficiary = ? ORDER BY position";
constexpr const char* kInsert =
    "INSERT INTO beneficiaries (tenant, id, entity_type, first_name, last_name, date_of_birth,"
    " nationality, company_name, registration_number, registration_country, email, phone,"
    " client_reference, search, created_at, updated_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kUpdate =
    "UPDATE beneficiaries SET entity_type = ?, first_name = ?, last_name = ?, date_of_birth = ?,"
    " nationality = ?, company_name = ?, registration_number = ?, registration_country = ?,"
    " email = ?, phone = ?, client_reference = ?, search = ?, updated_at = ?"
    " WHERE beneficiary = ? AND tenant = ? AND archived_at IS NULL";
constexpr const char* kTouch =
    "UPDATE beneficiaries SET updated_at = ? WHERE beneficiary = ? AND tenant = ?";
constexpr const char* kArchive =
    "UPDATE beneficiaries SET archived_at = ?1, updated_at = ?1"
    " WHERE beneficiary = ?2 AND tenant = ?3 AND archived_at IS NULL";
constexpr const char* kArchiveDestinations =
    "UPDATE destinations SET archived_at = ? WHERE beneficiary = ? AND archived_at IS NULL";
constexpr const char* kDeleteAddresses = "DELETE FROM beneficiary_addresses WHERE beneficiary = ?";
constexpr const char* kDeleteTags = "DELETE FROM beneficiary_tags WHERE beneficiary = ?";
constexpr const char* kInsertAddress =
    "INSERT INTO beneficiary_addresses (beneficiary, position, type, line1, line2, city, state,"
    " postal_code, country) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kInsertTag =
    "INSERT INTO beneficiary_tags (beneficiary, position, tag) VALUES (?, ?, ?)";

BeneficiaryRow beneficiary_row(const Query& q) {
  BeneficiaryRow row;
  row.key = q.integer(0);
  row.id = q.id<BeneficiaryId>(1);
  switch (q.enumeration<EntityType>(2)) {
    case EntityType::person:
      row.detail.party = Individual{q.text(3),           q.text(4),          q.optional_text(10),
                                    q.optional_text(11), q.optional_text(5), q.optional_text(6)};
      break;
    case EntityType::business:
      row.detail.party = Company{q.text(7), q.optional_text(8), q.optional_text(10),
                                 q.optional_text(11), q.optional_text(9)};
      break;
  }
  row.detail.client_reference = q.optional_text(12);
  row.created_at = q.time(13);
  row.updated_at = q.time(14);
  row.archived = !q.is_null(15);
  return row;
}

std::string search_of(Connection& db, std::int64_t beneficiary) {
  Query query(db, kSearch, beneficiary);
  COFFER_CHECK(query.step());
  return query.text(0);
}

std::vector<std::string> tags_of(Connection& db, std::int64_t beneficiary) {
  std::vector<std::string> out;
  Query tags(db, kTags, beneficiary);
  while (tags.step()) out.push_back(tags.text(0));
  return out;
}

/// What the stored row is found by.
std::vector<std::string> stored_terms(Connection& db, std::int64_t beneficiary) {
  return terms_of(search_of(db, beneficiary), tags_of(db, beneficiary));
}

std::vector<std::string> terms_of(const Beneficiary& detail) {
  return store::terms_of(search_text(detail), detail.tags);
}

void load_lists(Connection& db, BeneficiaryRow& row) {
  Query addresses(db, kAddresses, row.key);
  while (addresses.step()) {
    row.detail.addresses.push_back({addresses.optional_text(0), addresses.text(1),
                                    addresses.optional_text(2), addresses.text(3),
                                    addresses.optional_text(4), addresses.optional_text(5),
                                    addresses.text(6)});
  }
  row.detail.tags = tags_of(db, row.key);
}

std::optional<BeneficiaryRow> first_row(Connection& db, Query&& query) {
  if (!query.step()) return std::nullopt;
  BeneficiaryRow row = beneficiary_row(query);
  load_lists(db, row);
  return row;
}

/// The columns of either party; those of the other one stay NULL.
struct PartyColumns {
  std::optional<std::string> first_name, last_name, date_of_birth, nationality, company_name,
      registration_number, registration_country;
};

PartyColumns columns_of(const Beneficiary& detail) {
  if (const auto* person = std::get_if<Individual>(&detail.party)) {
    return {.first_name = person->first_name,
            .last_name = person->last_name,
            .date_of_birth = person->date_of_birth,
            .nationality = person->nationality};
  }
  const auto& company = std::get<Company>(detail.party);
  return {.company_name = company.company_name,
          .registration_number = company.registration_number,
          .registration_country = company.registration_country};
}

void put_lists(WriteTx& tx, const BeneficiaryRow& row) {
  Query(tx.db(), kDeleteAddresses, row.key).run();
  Query(tx.db(), kDeleteTags, row.key).run();
  std::int64_t position = 0;
  for (const Address& address : row.detail.addresses) {
    Query(tx.db(), kInsertAddress, row.key, position++, address.type, address.line1, address.line2,
          address.city, address.state, address.postal_code, address.country)
        .run();
  }
  position = 0;
  for (const std::string& tag : row.detail.tags) {
    Query(tx.db(), kInsertTag, row.key, position++, tag).run();
  }
}

}  // namespace

std::optional<BeneficiaryRow> find_beneficiary(Connection& db, const Tenant& tenant,
                                               BeneficiaryId id) {
  return first_row(db, Query(db, kFind, id, tenant.key));
}

std::optional<BeneficiaryRow> find_beneficiary_by_key(Connection& db, std::int64_t key) {
  return first_row(db, Query(db, kFindByKey, key));
}

RowPage<BeneficiaryRow> list_beneficiaries(Connection& db, const Tenant& tenant,
                                           const TermsWanted& wanted, const PageAt& page) {
  RowBudget budget;
  const KeyWalk walk(db, page.backward ? Order::rising : Order::falling, budget);
  TermSets found = term_sets(db, walk, budget, {&tenant.key, 1}, wanted);
  if (found.sets.empty()) found.sets.push_back(walk.of(kOfTenant, tenant.key));
  const auto fits = [&](std::int64_t key) {
    if (found.judged.empty()) return true;
    budget.spend(1);
    return has_words(search_words(search_of(db, key)), found.judged);
  };
  const auto keys = walk.read(found.sets, {.beyond = page.key, .limit = page.limit}, fits);
  return load_page<BeneficiaryRow>(
      page, keys, [&](std::int64_t key) { return *find_beneficiary_by_key(db, key); });
}

void insert_beneficiary(WriteTx& tx, const Tenant& tenant, BeneficiaryRow& row) {
  const PartyColumns party = columns_of(row.detail);
  Query(tx.db(), kInsert, tenant.key, row.id, row.type(), party.first_name, party.last_name,
        party.date_of_birth, party.nationality, party.company_name, party.registration_number,
        party.registration_country, email(row.detail), phone(row.detail),
        row.detail.client_reference, search_text(row.detail), tx.now(), tx.now())
      .run();
  row.key = tx.db().last_insert_key();
  row.created_at = row.updated_at = tx.now();
  put_lists(tx, row);
  put_terms(tx, tenant, row.key, {}, terms_of(row.detail));
  tx.quotas().add(tenant.key, Quota::beneficiaries, 1);
  tx.quotas().add_bytes(tenant.key, row_bytes::kBeneficiary);
}

void update_beneficiary(WriteTx& tx, const Tenant& tenant, BeneficiaryRow& row) {
  const PartyColumns party = columns_of(row.detail);
  const auto before = stored_terms(tx.db(), row.key);
  Query(tx.db(), kUpdate, row.type(), party.first_name, party.last_name, party.date_of_birth,
        party.nationality, party.company_name, party.registration_number,
        party.registration_country, email(row.detail), phone(row.detail),
        row.detail.client_reference, search_text(row.detail), tx.now(), row.key, tenant.key)
      .run();
  COFFER_CHECK(tx.db().changes() == 1);
  row.updated_at = tx.now();
  put_lists(tx, row);
  put_terms(tx, tenant, row.key, before, terms_of(row.detail));
}

void touch_beneficiary(WriteTx& tx, const Tenant& tenant, BeneficiaryRow& row) {
  Query(tx.db(), kTouch, tx.now(), row.key, tenant.key).run();
  COFFER_CHECK(tx.db().changes() == 1);
  row.updated_at = tx.now();
}

void archive_beneficiary(WriteTx& tx, const Tenant& tenant, const BeneficiaryRow& row) {
  Query(tx.db(), kArchive, tx.now(), row.key, tenant.key).run();
  COFFER_CHECK(tx.db().changes() == 1);
  put_terms(tx, tenant, row.key, stored_terms(tx.db(), row.key), {});
  tx.quotas().add(tenant.key, Quota::beneficiaries, -1);
  archive_destinations(tx, tenant, row);
}

void archive_destinations(WriteTx& tx, const Tenant& tenant, const BeneficiaryRow& row) {
  Query(tx.db(), kArchiveDestinations, tx.now(), row.key).run();
  tx.quotas().add(tenant.key, Quota::destinations, -tx.db().changes());
}

}  // namespace coffer::store
