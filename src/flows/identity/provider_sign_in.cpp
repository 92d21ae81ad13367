#include "flows/identity/provider_sign_in.h"

#include "base/digest.h"
#include "base/telemetry/log.h"
#include "flows/identity/audit_log.h"
#include "flows/identity/operator_change.h"
#include "store/identity/users.h"

namespace coffer::flows {
namespace {

constexpr std::size_t kSubjectBytesMax = 255;

/// A state is valid for one browser and one return address.
std::string state_purpose(const ProviderVisit& visit) {
  return "provider\n" + visit.redirect_uri + '\n' + visit.browser;
}

Secret nonce_of(const ProviderVisit& visit, std::string_view state) {
  return Secret(to_base64url(visit.challenges.derive(state, "nonce").reveal()));
}
Secret verifier_of(const ProviderVisit& visit, std::string_view state) {
  return Secret(to_base64url(visit.challenges.derive(state, "verifier").reveal()));
}

Unexpected sign_in_rejected(const char* why) { return unexpected(Slug::unauthorized, why); }

Problem not_signed_in() {
  return Problem(Slug::unauthorized,
                 "The sign-in with the provider did not succeed. Try again, or sign in with name "
                 "and password.");
}

/// The account is authentic, but not linked to an operator. The text contains the subject, which an
/// administrator needs for the link.
Problem not_linked(const auth::IdClaims& who) {
  return Problem(Slug::unauthorized,
                 "No operator is linked to this account. Ask an administrator to link its subject, "
                 "\"" +
                     who.subject + "\" (coffer operator link).");
}

/// The account, for the administrator. It includes the e-mail address for recognition, but only the
/// subject identifies the account.
std::string account_of(const auth::IdClaims& who) {
  constexpr std::size_t kEmailBytesMax = 255;
  const bool shown = !who.email.empty() && who.email.size() <= kEmailBytesMax;
  return "subject " + who.subject + (shown ? " (" + who.email + ")" : "");
}

Problem record_rejection(const Context& context, const Problem& shown, const std::string& reason,
                         const SignInSource& source) {
  return reject_unidentified(context, "oidc", "sign-in", "provider: " + reason, shown, source);
}

}  // namespace

Result<std::string> ProviderSignIn::begin(const ProviderVisit& visit) {
  COFFER_TRY(const auto endpoints, provider_.endpoints());
  const std::string state = visit.challenges.issue(state_purpose(visit), clock_.monotonic_ms());
  const Sha256 challenge = sha256(verifier_of(visit, state).reveal());
  const std::string query =
      outbound::form_encoded({{"response_type", "code"},
                              {"scope", "openid email"},
                              {"client_id", settings_.client_id},
                              {"redirect_uri", visit.redirect_uri},
                              {"prompt", "login"},
                              {"max_age", "0"},
                              {"state", to_base64url(state)},
                              {"nonce", nonce_of(visit, state).reveal()},
                              {"code_challenge", to_base64url(as_text(challenge))},
                              {"code_challenge_method", "S256"}});
  const bool has_query = endpoints.authorization.find('?') != std::string::npos;
  return endpoints.authorization + (has_query ? '&' : '?') + query;
}

ExternalTokens& ProviderSignIn::tokens_of(const outbound::ProviderEndpoints& endpoints) {
  const Lock lock(mutex_);
  auto& tokens = tokens_[endpoints.keys];
  if (!tokens) {
    tokens = std::make_unique<ExternalTokens>(
        auth::ExternalIssuer{settings_.issuer, settings_.client_id}, provider_.key_set(endpoints),
        clock_);
  }
  return *tokens;
}

Result<auth::IdClaims> ProviderSignIn::finish(const ProviderVisit& visit,
                                              const ProviderReturn& returned) {
  const auto state = from_base64url(returned.state);
  const std::string purpose = state_purpose(visit);
  if (!state || !visit.challenges.is_valid(*state, purpose, clock_.monotonic_ms())) {
    return sign_in_rejected("the state does not belong to this browser, or has expired");
  }
  if (!returned.issuer.empty() && returned.issuer != settings_.issuer) {
    return sign_in_rejected("the code is from another issuer");
  }
  COFFER_TRY(const auto endpoints, provider_.endpoints());
  COFFER_TRY(
      const std::string token,
      provider_.redeem(endpoints, {settings_.client_id, settings_.client_secret, returned.code,
                                   visit.redirect_uri, verifier_of(visit, *state)}));
  const std::int64_t age_ms = clock_.monotonic_ms() - SignInChallenges::issued_ms(*state);
  auto who = tokens_of(endpoints).verify_id_token(token, nonce_of(visit, *state).reveal(),
                                                  clock_.machine_now().plus_ms(-age_ms));
  if (!who && who.error().slug == Slug::token_expired)
    return sign_in_rejected("the ID token has expired");
  if (!who) return who;
  if (!visit.challenges.use(*state, purpose, clock_.monotonic_ms())) {
    return sign_in_rejected("the state was used before");
  }
  return who;
}

Result<store::OperatorRow> sign_in_with_provider(const Context& context, ProviderSignIn& provider,
                                                 const ProviderVisit& visit,
                                                 const ProviderReturn& returned,
                                                 const SignInSource& source) {
  const auto who = provider.finish(visit, returned);
  if (!who && who.error().slug != Slug::unauthorized) return unexpected(who.error());
  if (!who) {
    return unexpected(record_rejection(context, not_signed_in(), who.error().detail, source));
  }
  auto row = context.write([&](store::WriteTx& tx) -> Result<store::OperatorRow> {
    const auto found = store::find_operator_by_subject(tx.db(), provider.issuer(), who->subject);
    if (!found) return unexpected(not_linked(*who));
    if (found->suspended) return sign_in_rejected("the operator is suspended");
    store::remember_sign_in_source(tx, found->id.uuid, source.network);
    append_audit_action(tx,
                        {found->name, "sign-in", source_json(source), "done", "with the provider"});
    return *found;
  });
  if (row || row.error().slug != Slug::unauthorized) return row;
  const bool unknown = row.error().detail == not_linked(*who).detail;
  return unexpected(record_rejection(
      context, unknown ? row.error() : not_signed_in(),
      account_of(*who) + (unknown ? " is linked to no operator" : " is suspended"), source));
}

Result<store::OperatorRow> link_operator(const Context& context, const std::string& name,
                                         const std::string& issuer, const std::string& subject) {
  if (issuer.empty()) {
    return unexpected(Slug::conflict,
                      "No provider is configured. Set oidc_issuer and oidc_client_id first.");
  }
  if (subject.size() > kSubjectBytesMax) {
    return unexpected(Problem(Slug::validation_failed, "The subject is not valid.",
                              {{"subject", "must be at most 255 bytes"}}));
  }
  return change_operator_named(
      context, name, [&](store::WriteTx& tx, store::OperatorRow& row) -> Result<void> {
        COFFER_TRY_VOID(require_person(row));
        const auto other = store::find_operator_by_subject(tx.db(), issuer, subject);
        if (other && other->id != row.id) {
          return unexpected(Slug::conflict, "This subject is linked to " + other->name + ".");
        }
        store::set_operator_subject(tx, row.id, issuer, subject);
        ++row.version;
        return {};
      });
}

Result<store::OperatorRow> unlink_operator(const Context& context, const std::string& name) {
  return change_operator_named(context, name,
                               [](store::WriteTx& tx, store::OperatorRow& row) -> Result<void> {
                                 store::delete_operator_subject(tx, row.id);
                                 ++row.version;
                                 return {};
                               });
}

}  // namespace coffer::flows
