#include "api/about/pages.h"

#include <map>

#include "api/about/web_documents.h"
#include "api/pipeline/services.h"
#include "api/route_groups.h"
#include "base/check.h"

namespace coffer::api {
namespace {

constexpr std::string_view kStillPage =
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";
/// The policy for a page with its own script, which reads from this server.
constexpr std::string_view kScriptedPage =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

http::Response page(const Call& call, const http::Document& document,
                    std::string_view policy = kStillPage) {
  http::Response response = document.respond(call.request);
  response.header("Content-Security-Policy", std::string(policy));
  response.header("Referrer-Policy", "no-referrer");
  response.header("Cache-Control", "public, max-age=300");
  return response;
}

http::Response web_page(const Call& call, std::string_view path,
                        std::string_view policy = kStillPage) {
  const http::Document* document = find_web_document(path);
  COFFER_CHECK(document != nullptr);
  return page(call, *document, policy);
}

void fill(std::string& text, std::string_view mark, std::string_view value) {
  for (auto at = text.find(mark); at != std::string::npos;
       at = text.find(mark, at + value.size())) {
    text.replace(at, mark.size(), value);
  }
}

Result<http::Response> index_page(const Services&, const Call& call) {
  return web_page(call, "index.html");
}

Result<http::Response> style_sheet(const Services&, const Call& call) {
  return web_page(call, "style.css");
}

using ProblemPages = std::map<std::string_view, http::Document>;

ProblemPages problem_pages() {
  ProblemPages out;
  for (const SlugInfo& slug : slug_table()) {
    std::string text(web_text("problem.html"));
    fill(text, "{{name}}", slug.name);
    fill(text, "{{title}}", slug.title);
    fill(text, "{{status}}", std::to_string(slug.status));
    fill(text, "{{remedy}}", slug.remedy);
    out.try_emplace(slug.name, "text/html; charset=utf-8", std::move(text));
  }
  return out;
}

/// The target of `docUrl` in every problem.
Result<http::Response> problem_page(const Services&, const Call& call) {
  static const ProblemPages pages = problem_pages();
  const auto found = pages.find(call.param("slug"));
  if (found == pages.end()) return unexpected(Slug::not_found, "The problem was not found.");
  return page(call, found->second);
}

Result<http::Response> reference_page(const Services&, const Call& call) {
  return web_page(call, "docs/index.html", kScriptedPage);
}

Result<http::Response> reference_script(const Services&, const Call& call) {
  return web_page(call, "docs/docs.js");
}

Result<http::Response> reference_style(const Services&, const Call& call) {
  return web_page(call, "docs/docs.css");
}

}  // namespace

Route about(std::string_view pattern, std::string_view operation, std::string_view summary,
            Handler handler, std::vector<DeclaredResponse> responses) {
  return {.method = "GET",
          .pattern = pattern,
          .operation = operation,
          .tag = "About",
          .summary = summary,
          .lane = Lane::system,
          .access = Access::open,
          .responses = std::move(responses),
          .handler = handler};
}

std::vector<Route> pages_routes() {
  const std::vector<DeclaredResponse> file = {{200}, {304}};
  return {about("/", "index", "Front page of this server", index_page, file),
          about("/style.css", "styleSheet", "Style sheet of the pages", style_sheet, file),
          about("/docs", "reference", "API reference", reference_page, file),
          about("/docs/docs.js", "referenceScript", "Script of the API reference", reference_script,
                file),
          about("/docs/docs.css", "referenceStyle", "Style sheet of the API reference",
                reference_style, file),
          about("/problems/{slug}", "problem", "Meaning of a problem and how to resolve it",
                problem_page, {{200}, {304}, {404}})};
}

}  // namespace coffer::api
