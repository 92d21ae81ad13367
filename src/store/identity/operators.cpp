#include "store/identity/operators.h"

#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"
#include "store/rows/key_walk.h"

namespace coffer::store {
namespace {

constexpr Column<OperatorRow> kOperatorColumns[] = {
    column<&OperatorRow::id>("id"),
    column<&OperatorRow::name>("name"),
    changing(column<&OperatorRow::role>("role")),
    changing(column<&OperatorRow::password_hash>("password_hash")),
    changing(blob_column<&OperatorRow::sealed_otp>("sealed_otp")),
    changing(column<&OperatorRow::otp_step>("otp_step")),
    changing(column<&OperatorRow::otp_required>("otp_required")),
    changing(column<&OperatorRow::suspended>("suspended")),
    changing(column<&OperatorRow::version>("version")),
    joined<&OperatorRow::created_at>("created_at"),
    joined<&OperatorRow::updated_at>("updated_at"),
    joined<&OperatorRow::passkeys>(
        "(SELECT count(*) FROM operator_passkeys p WHERE p.operator = operators.operator)"),
    joined<&OperatorRow::subject>(
        "(SELECT subject FROM operator_subjects s WHERE s.operator = operators.operator)"),
    joined<&OperatorRow::token>(
        "EXISTS (SELECT 1 FROM operator_tokens t WHERE t.operator = operators.operator)"),
};
const std::string kSelectOperator = select(kOperatorColumns) + " FROM operators";
const std::string kAll = kSelectOperator + " ORDER BY operator";
const std::string kById = kSelectOperator + " WHERE id = ?";
const std::string kByName = kSelectOperator + " WHERE name = ?";
const std::string kBySubject =
    kSelectOperator +
    " WHERE operator = (SELECT operator FROM operator_subjects WHERE issuer = ? AND subject = ?)";
const std::string kInsertOperator =
    ColumnList{"created_at", "updated_at"}.add(kOperatorColumns).insert_into("operators");
const std::string kUpdateOperator =
    ColumnList{"updated_at"}.add_changing(kOperatorColumns).update("operators") + " WHERE id = ?";
constexpr const char* kAny = "SELECT 1 FROM operators LIMIT 1";
constexpr const char* kAdministrators =
    "SELECT count(*) FROM operators WHERE role = ? AND suspended = 0 AND password_hash IS NOT NULL";
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
constexpr const char* kEndToken =
    "UPDATE operator_tokens SET expires_at = min(expires_at, ?2) WHERE " OF_OPERATOR;
constexpr const char* kUseToken =
    "UPDATE operator_tokens SET used_at = ?2, used_from = ?3 WHERE " OF_OPERATOR;
#undef OF_OPERATOR

constexpr const char* kInsertLink =
    "INSERT INTO operator_links (hash, operator, expires_at) VALUES (?,"
    " (SELECT operator FROM operators WHERE id = ?), ?)";
constexpr const char* kLink =
    "SELECT o.id, l.expires_at FROM operator_links l LEFT JOIN operators o USING (operator)"
    " WHERE l.hash = ?";
constexpr const char* kOperatorRow = "SELECT operator FROM operators WHERE id = ?";
constexpr const char* kOperatorNamed = "SELECT operator FROM operators WHERE name = ?";
constexpr const char* kCodeRow =
    "SELECT rowid FROM operator_recovery_codes"
    " WHERE operator = (SELECT operator FROM operators WHERE id = ?) AND hash = ?";
constexpr const char* kLinkRow = "SELECT rowid FROM operator_links WHERE hash = ?";
constexpr const char* kDropLinksOf =
    "DELETE FROM operator_links WHERE operator IS (SELECT operator FROM operators WHERE id = ?)";

constexpr Column<OperatorTokenRow> kTokenColumns[] = {
    joined_blob<&OperatorTokenRow::hash>("t.hash"),
    joined<&OperatorTokenRow::commands>("t.commands"),
    joined<&OperatorTokenRow::networks>("t.networks"),
    joined<&OperatorTokenRow::created_by>("c.id"),
    joined<&OperatorTokenRow::created_name>("c.name"),
    joined<&OperatorTokenRow::expires_at>("t.expires_at"),
    joined<&OperatorTokenRow::used_at>("t.used_at"),
    joined<&OperatorTokenRow::used_from>("t.used_from"),
    joined<&OperatorTokenRow::program>("o.id"),
};
const std::string kTokens = select(kTokenColumns) +
                            " FROM operator_tokens t JOIN operators o USING (operator)"
                            " LEFT JOIN operators c ON c.operator = t.created_by";
const std::string kAllTokens = kTokens + " ORDER BY t.operator";
const std::string kTokenByHash = kTokens + " WHERE t.hash = ?";
const std::string kTokenOf = kTokens + " WHERE o.id = ?";
constexpr const char* kTokenHashed = "SELECT operator FROM operator_tokens WHERE hash = ?";
constexpr const char* kInsertOperatorToken =
    "INSERT INTO operator_tokens (operator, hash, commands, networks, created_by, expires_at)"
    " VALUES ((SELECT operator FROM operators WHERE id = ?), ?, ?, ?,"
    " (SELECT operator FROM operators WHERE id = ?), ?)";

}  // namespace

std::vector<OperatorRow> list_operators(Connection& db) {
  return all_rows<OperatorRow>(Query(db, kAll.c_str()), kOperatorColumns);
}

std::optional<OperatorRow> find_operator(Connection& db, OperatorId id) {
  require_intact(db, "operators", first_integer(db, kOperatorRow, id), {{"id", id}});
  return first_row<OperatorRow>(db, kById, kOperatorColumns, id);
}

std::optional<OperatorRow> find_operator_by_name(Connection& db, std::string_view name) {
  require_intact(db, "operators", first_integer(db, kOperatorNamed, name), {{"name", name}});
  return first_row<OperatorRow>(db, kByName, kOperatorColumns, name);
}

bool has_operators(Connection& db) { return Query(db, kAny).step(); }

std::int64_t count_administrators(Connection& db) {
  return first_integer(db, kAdministrators, OperatorRole::administrator).value_or(0);
}

void insert_operator(WriteTx& tx, const OperatorRow& row) {
  insert_row(tx.db(), kInsertOperator, kOperatorColumns, row, tx.now(), tx.now());
}

void update_operator(WriteTx& tx, const OperatorRow& row) {
  update_row(tx.db(), kUpdateOperator, kOperatorColumns, row, row.id, tx.now());
}

std::optional<OperatorRow> find_operator_by_subject(Connection& db, std::string_view issuer,
                                                    std::string_view subject) {
  const auto row = first_row<OperatorRow>(db, kBySubject, kOperatorColumns, issuer, subject);
  if (!row) return row;
  require_intact(db, "operator_subjects", first_integer(db, kOperatorRow, row->id),
                 {{"issuer", issuer}, {"subject", subject}});
  return find_operator(db, row->id);
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
  require_intact(tx.db(), "operator_recovery_codes",
                 first_integer(tx.db(), kCodeRow, id, Blob{hash}),
                 {{"operator", first_integer(tx.db(), kOperatorRow, id)}, {"hash", hash}});
  Query(tx.db(), kDropCode, id, Blob{hash}).run();
  return tx.db().changes() == 1;
}

void delete_recovery_codes(WriteTx& tx, OperatorId id) { Query(tx.db(), kDropCodes, id).run(); }

int count_recovery_codes(Connection& db, OperatorId id) {
  return static_cast<int>(first_integer(db, kCountCodes, id).value_or(0));
}

void insert_operator_link(WriteTx& tx, std::string_view hash, const OperatorLink& link) {
  tx.db().run("DELETE FROM operator_links WHERE expires_at <= ?", tx.now());
  tx.db().run(kInsertLink, Blob{hash}, link.for_whom, link.expires_at);
}

std::optional<OperatorLink> find_operator_link(Connection& db, std::string_view hash) {
  require_intact(db, "operator_links", first_integer(db, kLinkRow, Blob{hash}), {{"hash", hash}});
  Query query(db, kLink, Blob{hash});
  if (!query.step()) return std::nullopt;
  return OperatorLink{query.optional_id<OperatorId>(0), query.time(1)};
}

void delete_operator_link(WriteTx& tx, std::string_view hash) {
  tx.db().run("DELETE FROM operator_links WHERE hash = ?", Blob{hash});
}

void delete_operator_links(WriteTx& tx, std::optional<OperatorId> for_whom) {
  tx.db().run(kDropLinksOf, for_whom);
}

std::vector<OperatorTokenRow> list_operator_tokens(Connection& db) {
  return all_rows<OperatorTokenRow>(Query(db, kAllTokens.c_str()), kTokenColumns);
}

std::optional<OperatorTokenRow> find_operator_token(Connection& db, std::string_view hash) {
  require_intact(db, "operator_tokens", first_integer(db, kTokenHashed, Blob{hash}),
                 {{"hash", hash}});
  return first_row<OperatorTokenRow>(db, kTokenByHash, kTokenColumns, Blob{hash});
}

std::optional<OperatorTokenRow> find_operator_token_of(Connection& db, OperatorId program) {
  require_intact(db, "operator_tokens", first_integer(db, kOperatorRow, program), {});
  return first_row<OperatorTokenRow>(db, kTokenOf, kTokenColumns, program);
}

void insert_operator_token(WriteTx& tx, const OperatorTokenRow& row) {
  tx.db().run(kInsertOperatorToken, row.program, Blob{row.hash}, row.commands, row.networks,
              row.created_by, row.expires_at);
}

void end_operator_token(WriteTx& tx, OperatorId program) {
  tx.db().run(kEndToken, program, tx.now());
}

void note_operator_token_use(WriteTx& tx, OperatorId program, const std::string& address) {
  tx.db().run(kUseToken, program, tx.now(), address);
}

}  // namespace coffer::store
