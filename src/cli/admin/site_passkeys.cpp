#include <array>

#include "app/app.h"
#include "base/digest.h"
#include "base/limits/address_range.h"
#include "cli/admin/form.h"
#include "cli/admin/site.h"
#include "cli/identity/operators.h"
#include "flows/identity/operator_sign_in.h"
#include "flows/identity/passkeys.h"

namespace coffer::cli {
namespace {

using Json = nlohmann::json;
using Purpose = flows::PasskeyPurpose;

constexpr std::string_view kSiteName = "coffer";
// COSE algorithms that auth/passkeys accepts, the preferred one first.
constexpr std::array<int, 3> kAlgorithms = {-7, -8, -257};

/// Members with bytes are base64url without padding, as browsers write them.
Result<std::string> bytes_of(const http::JsonValue& object, std::string_view name) {
  auto bytes = from_base64url(Form::text_of(object, name));
  if (bytes) return *std::move(bytes);
  return unexpected(Slug::malformed_request,
                    "The member " + std::string(name) + " is not base64url.");
}

Result<auth::PasskeyAssertion> assertion_of(const http::JsonValue& object) {
  auth::PasskeyAssertion out;
  COFFER_TRY(out.credential_id, bytes_of(object, "id"));
  COFFER_TRY(out.client_data, bytes_of(object, "clientDataJSON"));
  COFFER_TRY(out.authenticator_data, bytes_of(object, "authenticatorData"));
  COFFER_TRY(out.signature, bytes_of(object, "signature"));
  COFFER_TRY(out.user_handle, bytes_of(object, "userHandle"));
  return out;
}

Json descriptors(const std::vector<store::PasskeyRow>& passkeys, const std::string& site) {
  Json out = Json::array();
  for (const store::PasskeyRow& passkey : passkeys) {
    if (passkey.site != site) continue;
    out.push_back({{"type", "public-key"}, {"id", to_base64url(passkey.credential)}});
  }
  return out;
}

/// If `passkeys` is empty, the browser may use any passkey that it has for this site.
Json request_options(const std::string& challenge, const auth::RelyingParty& party,
                     const std::vector<store::PasskeyRow>& passkeys, bool alone) {
  return {{"challenge", to_base64url(challenge)},
          {"rpId", party.id},
          {"timeout", flows::SignInChallenges::kLifetimeMs},
          {"userVerification", alone ? "required" : "preferred"},
          {"allowCredentials", descriptors(passkeys, party.id)}};
}

Json creation_options(const std::string& challenge, const auth::RelyingParty& party,
                      const std::vector<store::PasskeyRow>& passkeys,
                      const store::OperatorRow& row) {
  Json algorithms = Json::array();
  for (const int algorithm : kAlgorithms) {
    algorithms.push_back({{"type", "public-key"}, {"alg", algorithm}});
  }
  return {
      {"challenge", to_base64url(challenge)},
      {"rp", {{"id", party.id}, {"name", kSiteName}}},
      {"user",
       {{"id", to_base64url(as_text(row.id.uuid.bytes))},
        {"name", row.name},
        {"displayName", row.name}}},
      {"pubKeyCredParams", algorithms},
      {"timeout", flows::SignInChallenges::kLifetimeMs},
      {"attestation", "none"},
      {"authenticatorSelection", {{"residentKey", "preferred"}, {"userVerification", "preferred"}}},
      {"excludeCredentials", descriptors(passkeys, party.id)}};
}

}  // namespace

/// A passkey is bound to a host name only, so a page on another port or scheme of the same host
/// could request it. Accepts two origins: that of the listener itself, and that of a TLS proxy in
/// front of it.
Result<auth::RelyingParty> AdminSite::party_of(const http::Request& request) const {
  const std::string* origin = request.header("Origin");
  const std::string name = host_name(request);
  const std::string own = app_.admin_origin();
  if (origin != nullptr) {
    const std::string scheme = own.substr(0, own.find(':') + 3);
    const bool is_name = !NumericAddress::parse(name).has_value();
    const bool is_proxied = *origin == "https://" + name;
    const bool is_direct = (has_own_tls() || name == "localhost") &&
                           *origin == scheme + name + own.substr(own.rfind(':'));
    if (is_name && (is_proxied || is_direct)) return auth::RelyingParty{name, *origin};
  }
  return unexpected(
      Slug::conflict,
      "Passkeys need a host name and TLS. Open this page at https:// with a name of the setting "
      "admin_hosts, or on the server at http://localhost" +
          own.substr(own.rfind(':')) + "/admin/.");
}

Result<flows::PasskeyPlace> AdminSite::place_of(const http::Request& request,
                                                const std::string& browser) {
  COFFER_TRY(auto party, party_of(request));
  return flows::PasskeyPlace{std::move(party), challenges_, browser};
}

Result<flows::OperatorProof> AdminSite::proof_of(const http::Request& request, const Form& form,
                                                 const Visitor& visitor,
                                                 std::string_view password) {
  flows::OperatorProof out{Secret(form.text(password)), form.text("code")};
  if (const http::JsonValue* passkey = form.part("passkey")) {
    COFFER_TRY(auto assertion, assertion_of(*passkey));
    COFFER_TRY(auto place, place_of(request, visitor.session_id));
    out.passkey.emplace(flows::PasskeyProof{std::move(assertion), std::move(place)});
  }
  return out;
}

/// Called after an operator with passkeys has entered the correct password.
Result<http::Response> AdminSite::ask_for_passkey(const http::Request& request,
                                                  const store::OperatorRow& row) {
  const std::string attempt = new_attempt();
  COFFER_TRY(const auto place, place_of(request, attempt));
  COFFER_TRY(const auto passkeys, flows::list_passkeys(app_.flows(), row.id));
  const std::string challenge =
      flows::issue_passkey_challenge(app_.flows(), place, Purpose::after_password, &row);
  const Json options = request_options(challenge, place.party, passkeys, false);
  if (options.at("allowCredentials").empty()) {
    return unexpected(Slug::conflict,
                      "You have no passkey for this host name. Enter a code, or open the page at "
                      "the host name where you added the passkey.");
  }
  return with_attempt(request, json_response(Json{{"passkey", options}}.dump()), attempt);
}

Result<http::Response> AdminSite::begin_passkey_sign_in(const http::Request& request) {
  const std::string attempt = new_attempt();
  COFFER_TRY(const auto place, place_of(request, attempt));
  const std::string challenge =
      flows::issue_passkey_challenge(app_.flows(), place, Purpose::alone, nullptr);
  return with_attempt(
      request, json_response(request_options(challenge, place.party, {}, true).dump()), attempt);
}

Result<http::Response> AdminSite::passkey_sign_in(const http::Request& request) {
  COFFER_TRY(const Form form, Form::read(request));
  COFFER_TRY(auto assertion, assertion_of(form.whole()));
  COFFER_TRY(auto place, place_of(request, attempt_of(request)));
  const auto row = flows::sign_in_with_passkey(
      app_.flows(), {std::move(assertion), std::move(place)}, source_of(request));
  if (!row) return unexpected(rejected_sign_in(request, row.error()));
  return begin_session(request, *row, no_content());
}

/// Issues the challenge for a proof that uses a passkey instead of a code.
Result<http::Response> AdminSite::passkey_challenge(const http::Request& request,
                                                    const Visitor& visitor) {
  COFFER_TRY(const auto place, place_of(request, visitor.session_id));
  COFFER_TRY(const auto passkeys, flows::list_passkeys(app_.flows(), visitor.row.id));
  const std::string challenge =
      flows::issue_passkey_challenge(app_.flows(), place, Purpose::step_up, &visitor.row);
  return json_response(request_options(challenge, place.party, passkeys, false).dump());
}

/// A new passkey grants full access to the account, so a session alone is not enough to add one.
Result<http::Response> AdminSite::begin_passkey(const http::Request& request,
                                                const Visitor& visitor) {
  COFFER_TRY(const Form form, Form::read(request));
  COFFER_TRY(const auto place, place_of(request, visitor.session_id));
  COFFER_TRY(const auto proof, proof_of(request, form, visitor));
  COFFER_TRY_VOID(one_at_a_time(request, [&] {
    return flows::prove_operator(app_.flows(), visitor.row.id, "begin adding a passkey", proof,
                                 source_of(request));
  }));
  COFFER_TRY(const auto passkeys, flows::list_passkeys(app_.flows(), visitor.row.id));
  const std::string challenge =
      flows::issue_passkey_challenge(app_.flows(), place, Purpose::create, &visitor.row);
  return json_response(creation_options(challenge, place.party, passkeys, visitor.row).dump());
}

Result<http::Response> AdminSite::add_passkey(const http::Request& request,
                                              const Visitor& visitor) {
  COFFER_TRY(const Form form, Form::read(request));
  auth::PasskeyRegistration made;
  COFFER_TRY(made.client_data, bytes_of(form.whole(), "clientDataJSON"));
  COFFER_TRY(made.attestation_object, bytes_of(form.whole(), "attestationObject"));
  COFFER_TRY(const auto place, place_of(request, visitor.session_id));
  COFFER_TRY(const auto added, flows::add_passkey(app_.flows(), visitor.row.id, made, place,
                                                  form.text("name"), source_of(request)));
  sessions_.end(visitor.session_id);
  return begin_session(request, added.row, recovery_codes_response(added.recovery_codes));
}

Result<http::Response> AdminSite::list_passkeys(const http::Request&, const Visitor& visitor) {
  COFFER_TRY(const auto passkeys, flows::list_passkeys(app_.flows(), visitor.row.id));
  CommandResult result{.list = true};
  for (const auto& passkey : passkeys) result.records.push_back(passkey_record(passkey));
  return json_response(to_json(result));
}

Result<http::Response> AdminSite::remove_passkey(const http::Request& request,
                                                 const Visitor& visitor) {
  COFFER_TRY(const Form form, Form::read(request));
  COFFER_TRY(const auto proof, proof_of(request, form, visitor));
  COFFER_TRY(const auto row, one_at_a_time(request, [&] {
               return flows::remove_own_passkey(app_.flows(), visitor.row.id, form.text("id"),
                                                proof, source_of(request));
             }));
  sessions_.end(visitor.session_id);
  return begin_session(request, row, no_content());
}

}  // namespace coffer::cli
