#include "flows/identity/operator_tokens.h"

#include <algorithm>

#include "auth/secret_hash.h"
#include "base/limits/address_range.h"
#include "base/text/join.h"
#include "base/text/next_part.h"
#include "flows/identity/audit_log.h"
#include "flows/identity/operator_change.h"
#include "flows/identity/user_changes.h"

namespace coffer::flows {
namespace {

constexpr std::string_view kTokenPrefix = "ot_";
constexpr std::int64_t kUseNotedMs = 60'000;

Problem not_valid() {
  return Problem(Slug::unauthorized, "The token is not valid: it is unknown, expired or ended.");
}

}  // namespace

std::optional<store::OperatorRow> acting_program(store::Connection& db,
                                                 const store::OperatorTokenRow& token,
                                                 Timestamp now) {
  auto program = store::find_operator(db, token.program);
  if (token.expires_at.ms <= now.ms || !program || program->suspended) return std::nullopt;
  if (!token.created_by) return program;
  const auto creator = store::find_operator(db, *token.created_by);
  if (!creator || creator->suspended) return std::nullopt;
  program->role = std::min(program->role, creator->role);
  return program;
}

Result<Secret> create_operator_token(const Context& context, const NewOperatorToken& fresh,
                                     const Actor& by) {
  store::OperatorRow program;
  COFFER_TRY(program.name, parse_username(fresh.name, "name"));
  COFFER_TRY_VOID(AddressList::parse(fresh.networks));
  program.id = context.random.id<OperatorId>(context.clock.now());
  program.role = fresh.role;
  const Secret secret = auth::generate_secret(context.random, kTokenPrefix);
  const store::OperatorTokenRow token{
      .hash = std::string(as_text(context.hasher->hash(secret.reveal()))),
      .commands = fresh.commands,
      .networks = join(fresh.networks, ","),
      .created_by = by.id,
      .expires_at = fresh.expires_at,
      .program = program.id};
  COFFER_TRY_VOID(context.write([&](store::WriteTx& tx) -> Result<void> {
    const std::int64_t lifetime_ms = fresh.expires_at.ms - tx.now().ms;
    if (lifetime_ms <= 0 || lifetime_ms > kTokenLifetimeMaxMs) {
      return unexpected(Problem(Slug::validation_failed, "The end of the token is not valid.",
                                {{"expires", "must be a time within the next 366 days"}}));
    }
    COFFER_TRY_VOID(insert_new_operator(tx, program));
    store::insert_operator_token(tx, token);
    return {};
  }));
  return secret;
}

Result<std::vector<OperatorToken>> list_operator_tokens(const Context& context) {
  return context.read([&](store::Connection& db) {
    std::vector<OperatorToken> out;
    for (auto& token : store::list_operator_tokens(db)) {
      auto program = store::find_operator(db, token.program).value();
      out.push_back({std::move(program), std::move(token)});
    }
    return out;
  });
}

Result<void> end_operator_token(const Context& context, const std::string& name) {
  COFFER_TRY_VOID(change_operator_named(
      context, name, [&](store::WriteTx& tx, store::OperatorRow& row) -> Result<void> {
        if (!row.token) return unexpected(Slug::not_found, "No token has this name.");
        store::end_operator_token(tx, row.id);
        ++row.version;
        return {};
      }));
  return {};
}

Result<OperatorToken> use_operator_token(const Context& context, const std::string& secret,
                                         const SignInSource& source) {
  const auth::SecretHash hash = context.hasher->hash(secret);
  const Timestamp now = context.queue.now();
  using Found = std::optional<OperatorToken>;
  COFFER_TRY(auto found, context.read([&](store::Connection& db) -> Found {
    auto token = store::find_operator_token(db, as_text(hash));
    auto program = token ? acting_program(db, *token, now) : std::nullopt;
    if (!program) return std::nullopt;
    return OperatorToken{*std::move(program), *std::move(token)};
  }));
  if (!found) {
    return unexpected(reject_unidentified(context, "token", "use operator token",
                                          "the token is unknown, expired or ended", not_valid(),
                                          source));
  }
  COFFER_TRY(const auto networks, AddressList::parse(parts_of(found->token.networks, ',')));
  if (!networks.empty() && !networks.contains(source.address)) {
    if (may_record_unidentified(context)) {
      COFFER_TRY_VOID(
          record_action(context, {found->program.name, "use operator token", source_json(source),
                                  "forbidden", "the address is in none of the token's networks"}));
    }
    return unexpected(Slug::forbidden, "The token is not valid from this address.");
  }
  const auto& used_at = found->token.used_at;
  if (!used_at || now.ms - used_at->ms >= kUseNotedMs) {
    // A full disk must not stop a program that reads.
    (void)context.write([&](store::WriteTx& tx) {
      store::note_operator_token_use(tx, found->program.id, source.address);
    });
  }
  return *std::move(found);
}

}  // namespace coffer::flows
