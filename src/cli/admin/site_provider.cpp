#include "app/app.h"
#include "cli/admin/form.h"
#include "cli/admin/site.h"
#include "flows/identity/provider_sign_in.h"
#include "outbound/wire/url.h"

namespace coffer::cli {
namespace {

constexpr std::string_view kPage = "/admin/";

}  // namespace

/// Tells the sign-in page which provider is configured.
Result<http::Response> AdminSite::sign_in_options(const http::Request&) {
  nlohmann::json provider;
  if (provider_) provider = outbound::parse_url(provider_->issuer()).value().host;
  return json_response(nlohmann::json{{"provider", provider}}.dump());
}

/// The provider sends the browser back to the admin page, and the page then makes the sign-in call.
/// So the call has the page's origin, and opening a URL with a code in it changes nothing.
Result<flows::ProviderVisit> AdminSite::visit_of(const http::Request& request,
                                                 const std::string& attempt) {
  if (!provider_) return unexpected(Slug::not_found, "No sign-in provider is configured.");
  const std::string* origin = request.header("Origin");  // checked by call()
  return flows::ProviderVisit{challenges_, attempt, *origin + std::string(kPage)};
}

Result<http::Response> AdminSite::begin_provider_sign_in(const http::Request& request) {
  const std::string attempt = new_attempt();
  COFFER_TRY(const auto visit, visit_of(request, attempt));
  COFFER_TRY(const std::string url, provider_->begin(visit));
  return with_attempt(request, json_response(nlohmann::json{{"url", url}}.dump()), attempt);
}

Result<http::Response> AdminSite::provider_sign_in(const http::Request& request) {
  COFFER_TRY(const Form form, Form::read(request));
  COFFER_TRY(const auto visit, visit_of(request, attempt_of(request)));
  const auto row = flows::sign_in_with_provider(
      app_.flows(), *provider_, visit, {form.text("code"), form.text("state"), form.text("iss")},
      source_of(request));
  if (!row) return unexpected(rejected_sign_in(request, row.error()));
  return begin_session(request, *row, no_content(), true);
}

}  // namespace coffer::cli
