#include "api/about/pages.h"

#include <map>

#include "api/about/web_documents.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"
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

/// Text with `code` in it, as HTML.
std::string with_code(std::string_view text) {
  std::string out;
  bool open = false;
  for (const char c : text) {
    if (c != '`') {
      out += c;
      continue;
    }
    out += open ? "</code>" : "<code>";
    open = !open;
  }
  return out;
}

http::Document start_page(std::string_view admin) {
  std::string text(web_text("index.html"));
  fill(text, "{{admin}}", admin);
  return http::Document("text/html; charset=utf-8", std::move(text));
}

Result<http::Response> index_page(const Services& services, const Call& call) {
  static const http::Document with_admin = start_page("<a href=\"/admin/\">/admin/</a>");
  static const http::Document without_admin =
      start_page("at a separate address: the setting <code>admin_listen</code>");
  return page(call, services.has_admin_page ? with_admin : without_admin);
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
    fill(text, "{{remedy}}", with_code(slug.remedy));
    out.try_emplace(slug.name, "text/html; charset=utf-8", std::move(text));
  }
  return out;
}

http::Document problem_index() {
  std::string rows;
  for (const SlugInfo& slug : slug_table()) {
    std::string row =
        "<dt><a href=\"/problems/{{name}}\"><code>{{name}}</code></a> {{status}}</dt>\n"
        "<dd>{{title}}. {{remedy}}</dd>\n";
    fill(row, "{{name}}", slug.name);
    fill(row, "{{status}}", std::to_string(slug.status));
    fill(row, "{{title}}", slug.title);
    fill(row, "{{remedy}}", with_code(slug.remedy));
    rows += row;
  }
  std::string text(web_text("problems.html"));
  fill(text, "{{rows}}", rows);
  return http::Document("text/html; charset=utf-8", std::move(text));
}

Result<http::Response> problem_list(const Services&, const Call& call) {
  static const http::Document index = problem_index();
  return page(call, index);
}

/// The target of `docUrl` in every problem.
Result<http::Response> problem_page(const Services&, const Call& call) {
  static const ProblemPages pages = problem_pages();
  const auto found = pages.find(call.param("slug"));
  if (found == pages.end()) return unexpected(Slug::not_found, "The problem was not found.");
  return page(call, found->second);
}

http::Document reference_document(bool with_trial) {
  std::string text(web_text("docs/index.html"));
  fill(text, "{{trial}}", with_trial ? "<script src=\"/docs/try.js\" defer></script>\n" : "");
  return http::Document("text/html; charset=utf-8", std::move(text));
}

Result<http::Response> reference_page(const Services& services, const Call& call) {
  static const http::Document plain = reference_document(false);
  static const http::Document with_trial = reference_document(true);
  return page(call, services.offers_trial ? with_trial : plain, kScriptedPage);
}

/// A script or style sheet of the reference. Its pages have separate routes.
Result<http::Response> reference_file(const Services&, const Call& call) {
  const std::string name(call.param("file"));
  const http::Document* file =
      name.ends_with(".html") ? nullptr : find_web_document("docs/" + name);
  if (file == nullptr) return unexpected(Slug::not_found, "The file was not found.");
  return page(call, *file);
}

/// The page that renders a guide; with `.md`, the guide's text.
Result<http::Response> guide(const Services&, const Call& call) {
  constexpr std::string_view kMarkdown = ".md";
  const std::string name(call.param("guide"));
  const bool is_text = name.ends_with(kMarkdown);
  const std::string file = "guides/" + name + std::string(is_text ? "" : kMarkdown);
  const http::Document* text = find_web_document(file);
  if (text == nullptr) return unexpected(Slug::not_found, "The guide was not found.");
  return is_text ? page(call, *text) : web_page(call, "docs/guide.html", kScriptedPage);
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
          about("/docs/{file}", "referenceFile", "A file of the API reference", reference_file,
                {{200}, {304}, {404}}),
          about("/docs/guides/{guide}", "guide", "A guide; with .md, its text", guide,
                {{200}, {304}, {404}}),
          about("/problems", "problems", "Every problem with its remedy", problem_list, file),
          about("/problems/{slug}", "problem", "Meaning of a problem and how to resolve it",
                problem_page, {{200}, {304}, {404}})};
}

}  // namespace coffer::api
