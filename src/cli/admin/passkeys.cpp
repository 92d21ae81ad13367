#include <array>

#include "app/app.h"
#include "base/digest.h"
#include "cli/admin/calls.h"
#include "cli/identity/operators.h"

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

Result<http::Response> begin_passkey_sign_in(Call& call) {
  const std::string attempt = call.new_attempt();
  COFFER_TRY(const auto place, call.place(attempt));
  const std::string challenge =
      flows::issue_passkey_challenge(call.flows(), place, Purpose::alone, nullptr);
  return call.with_attempt(json_response(request_options(challenge, place.party, {}, true).dump()),
                           attempt);
}

Result<http::Response> passkey_sign_in(Call& call) {
  COFFER_TRY(const Form form, Form::read(call.request));
  COFFER_TRY(auto assertion, assertion_of(form.whole()));
  COFFER_TRY(auto place, call.place(call.browser.cookie(kAttemptCookie)));
  const auto row = flows::sign_in_with_passkey(
      call.flows(), {std::move(assertion), std::move(place)}, call.browser.source());
  if (!row) return unexpected(call.rejected(row.error()));
  return call.begin_session(*row, no_content());
}

/// Issues the challenge for a proof that uses a passkey instead of a code.
Result<http::Response> passkey_challenge(Call& call) {
  COFFER_TRY(const auto place, call.place(call.visitor.session_id));
  COFFER_TRY(const auto passkeys, flows::list_passkeys(call.flows(), call.visitor.row.id));
  const std::string challenge =
      flows::issue_passkey_challenge(call.flows(), place, Purpose::step_up, &call.visitor.row);
  return json_response(request_options(challenge, place.party, passkeys, false).dump());
}

/// A new passkey grants full access to the account, so a session alone is not enough to add one.
Result<http::Response> begin_passkey(Call& call) {
  COFFER_TRY(const Form form, Form::read(call.request));
  COFFER_TRY(const auto place, call.place(call.visitor.session_id));
  COFFER_TRY(const auto proof, proof_of(call, form));
  COFFER_TRY_VOID(call.one_at_a_time([&] {
    return flows::prove_operator(call.flows(), call.visitor.row.id, "begin adding a passkey", proof,
                                 call.browser.source());
  }));
  COFFER_TRY(const auto passkeys, flows::list_passkeys(call.flows(), call.visitor.row.id));
  const std::string challenge =
      flows::issue_passkey_challenge(call.flows(), place, Purpose::create, &call.visitor.row);
  return json_response(creation_options(challenge, place.party, passkeys, call.visitor.row).dump());
}

Result<http::Response> add_passkey(Call& call) {
  COFFER_TRY(const Form form, Form::read(call.request));
  auth::PasskeyRegistration made;
  COFFER_TRY(made.client_data, bytes_of(form.whole(), "clientDataJSON"));
  COFFER_TRY(made.attestation_object, bytes_of(form.whole(), "attestationObject"));
  COFFER_TRY(const auto place, call.place(call.visitor.session_id));
  COFFER_TRY(const auto added, flows::add_passkey(call.flows(), call.visitor.row.id, made, place,
                                                  form.text("name"), call.browser.source()));
  return call.replace_session(added.row, recovery_codes_response(added.recovery_codes));
}

Result<http::Response> list_passkeys(Call& call) {
  COFFER_TRY(const auto passkeys, flows::list_passkeys(call.flows(), call.visitor.row.id));
  return json_response(to_json(list_of({}, passkeys, passkey_record)));
}

Result<http::Response> remove_passkey(Call& call) {
  COFFER_TRY(const Form form, Form::read(call.request));
  COFFER_TRY(const auto proof, proof_of(call, form));
  COFFER_TRY(const auto row, call.one_at_a_time([&] {
    return flows::remove_own_passkey(call.flows(), call.visitor.row.id, form.text("id"), proof,
                                     call.browser.source());
  }));
  return call.replace_session(row, no_content());
}

}  // namespace

Result<flows::OperatorProof> proof_of(Call& call, const Form& form, std::string_view password) {
  flows::OperatorProof out{Secret(form.text(password)), form.text("code")};
  if (const http::JsonValue* passkey = form.part("passkey")) {
    COFFER_TRY(auto assertion, assertion_of(*passkey));
    COFFER_TRY(auto place, call.place(call.visitor.session_id));
    out.passkey.emplace(flows::PasskeyProof{std::move(assertion), std::move(place)});
  }
  return out;
}

Result<http::Response> ask_for_passkey(Call& call, const store::OperatorRow& row) {
  const std::string attempt = call.new_attempt();
  COFFER_TRY(const auto place, call.place(attempt));
  COFFER_TRY(const auto passkeys, flows::list_passkeys(call.flows(), row.id));
  const std::string challenge =
      flows::issue_passkey_challenge(call.flows(), place, Purpose::after_password, &row);
  const Json options = request_options(challenge, place.party, passkeys, false);
  if (options.at("allowCredentials").empty()) {
    return unexpected(Slug::conflict,
                      "You have no passkey for this host name. Enter a code, or open the page at "
                      "the host name where you added the passkey.");
  }
  return call.with_attempt(json_response(Json{{"passkey", options}}.dump()), attempt);
}

std::span<const CallRow> passkey_calls() {
  static constexpr CallRow kCalls[]{
      {"POST", "sign-in/passkey", passkey_sign_in, Access::open},
      {"POST", "sign-in/passkey/begin", begin_passkey_sign_in, Access::open},
      {"GET", "passkeys", list_passkeys, Access::enrolling},
      {"POST", "passkeys", add_passkey, Access::enrolling},
      {"POST", "passkeys/begin", begin_passkey, Access::enrolling, Lane::password},
      {"POST", "passkeys/remove", remove_passkey, Access::enrolled, Lane::password},
      {"POST", "passkeys/challenge", passkey_challenge},
  };
  return kCalls;
}

}  // namespace coffer::cli
