#include "store/identity/operators.h"

namespace coffer::store {
namespace {

#define OPERATOR_COLUMNS                                                                          \
  "SELECT id, name, role, password_hash, sealed_otp, otp_step, otp_required, suspended, version," \
  " created_at, updated_at,"                                                                      \
  " (SELECT count(*) FROM operator_passkeys p WHERE p.operator = operators.operator),"            \
  " (SELECT subject FROM operator_subjects s WHERE s.operator = operators.operator)"              \
  " FROM operators"
constexpr const char* kAll = OPERATOR_COLUMNS " ORDER BY operator";
constexpr const char* kById = OPERATOR_COLUMNS " WHERE id = ?";
constexpr const char* kByName = OPERATOR_COLUMNS " WHERE name = ?";
constexpr const char* kBySubject = OPERATOR_COLUMNS
    " WHERE operator = (SELECT operator FROM operator_subjects WHERE issuer = ? AND subject = ?)";
#undef OPERATOR_COLUMNS
constexpr const char* kAny = "SELECT 1 FROM operators LIMIT 1";
constexpr const char* kAdministrators =
    "SELECT count(*) FROM operators WHERE role = ? AND suspended = 0 AND password_hash IS NOT NULL";
constexpr const char* kInsert =
    "INSERT INTO operators (id, name, role, password_hash, sealed_otp, otp_step, otp_required,"
    " suspended, version, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,"
    " ?10)";
constexpr const char* kUpdate =
    "UPDATE operators SET role = ?, password_hash = ?, sealed_otp = ?, otp_step = ?,"
    " otp_required = ?, suspended = ?, version = ?, updated_at = ? WHERE id = ?";

constexpr const char* kSetSubject =
    "INSERT INTO operator_subjects (operator, issuer, subject)"
    " SELECT operator, ?2, ?3 FROM operators WHERE id = ?1"
    " ON CONFLICT (operator) DO UPDATE SET issuer = excluded.issuer, subject = excluded.subject";
constexpr const char* kDropSubject =
    "DELETE FROM operator_subjects WHERE operator = (SELECT operator FROM operators WHERE id = ?)";

#define OF_OPERATOR "operator = (SELECT operator FROM operators WHERE id = ?1)"
constexpr const char* kInsertCode =
    "INSERT INTO operator_recovery_codes (operator, hash)"
    " SELECT operator, ?2 FROM operators WHERE id = ?1";
constexpr const char* kDropCode =
    "DELETE FROM operator_recovery_codes WHERE " OF_OPERATOR " AND hash = ?2";
constexpr const char* kDropCodes = "DELETE FROM operator_recovery_codes WHERE " OF_OPERATOR;
constexpr const char* kCountCodes =
    "SELECT count(*) FROM operator_recovery_codes WHERE " OF_OPERATOR;
#undef OF_OPERATOR

constexpr const char* kDropOldLinks = "DELETE FROM operator_links WHERE expires_at <= ?";
constexpr const char* kInsertLink =
    "INSERT INTO operator_links (hash, operator, expires_at) VALUES (?,"
    " (SELECT operator FROM operators WHERE id = ?), ?)";
constexpr const char* kLink =
    "SELECT o.id, l.expires_at FROM operator_links l LEFT JOIN operators o USING (operator)"
    " WHERE l.hash = ?";
constexpr const char* kDropLink = "DELETE FROM operator_links WHERE hash = ?";
constexpr const char* kDropLinksOf =
    "DELETE FROM operator_links WHERE operator IS (SELECT operator FROM operators WHERE id = ?)";

OperatorRow operator_row(const Query& query) {
  OperatorRow row;
  row.id = query.id<OperatorId>(0);
  row.name = query.text(1);
  row.role = query.enumeration<OperatorRole>(2);
  row.password_hash = query.optional_text(3);
  if (!query.is_null(4)) row.sealed_otp = query.blob(4);
  row.otp_step = query.integer(5);
  row.otp_required = query.boolean(6);
  row.suspended = query.boolean(7);
  row.version = query.integer(8);
  row.created_at = query.time(9);
  row.updated_at = query.time(10);
  row.passkeys = static_cast<int>(query.integer(11));
  row.subject = query.optional_text(12);
  return row;
}

std::optional<Blob> blob_of(const std::optional<std::string>& bytes) {
  return bytes ? std::optional(Blob{*bytes}) : std::nullopt;
}

template <class... Args>
std::optional<OperatorRow> first(Connection& db, const char* sql, const Args&... args) {
  Query query(db, sql, args...);
  return query.step() ? std::optional(operator_row(query)) : std::nullopt;
}

}  // namespace

std::vector<OperatorRow> list_operators(Connection& db) {
  std::vector<OperatorRow> out;
  Query query(db, kAll);
  while (query.step()) out.push_back(operator_row(query));
  return out;
}

std::optional<OperatorRow> find_operator(Connection& db, OperatorId id) {
  return first(db, kById, id);
}

std::optional<OperatorRow> find_operator_by_name(Connection& db, std::string_view name) {
  return first(db, kByName, name);
}

bool has_operators(Connection& db) { return Query(db, kAny).step(); }

std::int64_t count_administrators(Connection& db) {
  Query query(db, kAdministrators, OperatorRole::administrator);
  return query.step() ? query.integer(0) : 0;
}

void insert_operator(WriteTx& tx, const OperatorRow& row) {
  tx.db().run(kInsert, row.id, row.name, row.role, row.password_hash, blob_of(row.sealed_otp),
              row.otp_step, row.otp_required, row.suspended, row.version, tx.now());
}

void update_operator(WriteTx& tx, const OperatorRow& row) {
  tx.db().run(kUpdate, row.role, row.password_hash, blob_of(row.sealed_otp), row.otp_step,
              row.otp_required, row.suspended, row.version, tx.now(), row.id);
}

std::optional<OperatorRow> find_operator_by_subject(Connection& db, std::string_view issuer,
                                                    std::string_view subject) {
  return first(db, kBySubject, issuer, subject);
}

void set_operator_subject(WriteTx& tx, OperatorId id, std::string_view issuer,
                          std::string_view subject) {
  tx.db().run(kSetSubject, id, issuer, subject);
}

void delete_operator_subject(WriteTx& tx, OperatorId id) { tx.db().run(kDropSubject, id); }

void insert_recovery_code(WriteTx& tx, OperatorId id, std::string_view hash) {
  Query(tx.db(), kInsertCode, id, Blob{hash}).run();
}

bool delete_recovery_code(WriteTx& tx, OperatorId id, std::string_view hash) {
  Query(tx.db(), kDropCode, id, Blob{hash}).run();
  return tx.db().changes() == 1;
}

void delete_recovery_codes(WriteTx& tx, OperatorId id) { Query(tx.db(), kDropCodes, id).run(); }

int count_recovery_codes(Connection& db, OperatorId id) {
  Query query(db, kCountCodes, id);
  return query.step() ? static_cast<int>(query.integer(0)) : 0;
}

void insert_operator_link(WriteTx& tx, std::string_view hash, const OperatorLink& link) {
  tx.db().run(kDropOldLinks, tx.now());
  tx.db().run(kInsertLink, Blob{hash}, link.for_whom, link.expires_at);
}

std::optional<OperatorLink> find_operator_link(Connection& db, std::string_view hash) {
  Query query(db, kLink, Blob{hash});
  if (!query.step()) return std::nullopt;
  return OperatorLink{query.optional_id<OperatorId>(0), query.time(1)};
}

void delete_operator_link(WriteTx& tx, std::string_view hash) {
  tx.db().run(kDropLink, Blob{hash});
}

void delete_operator_links(WriteTx& tx, std::optional<OperatorId> for_whom) {
  tx.db().run(kDropLinksOf, for_whom);
}

}  // namespace coffer::store
