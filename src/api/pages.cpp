#include "api/pages.h"

#include "api/pipeline/services.h"
#include "base/check.h"
#include "embedded/embedded.h"

namespace coffer::api {
namespace {

constexpr std::string_view kHtml = "text/html; charset=utf-8";
constexpr std::string_view kCss = "text/css; charset=utf-8";
constexpr std::string_view kScript = "text/javascript; charset=utf-8";

constexpr std::string_view kStillPage =
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";
/// A page with a script of ours that reads from here.
constexpr std::string_view kScriptedPage =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

http::Response page(std::string body, std::string_view type = kHtml,
                    std::string_view policy = kStillPage) {
  http::Response response;
  response.content_type = type;
  response.body = std::move(body);
  response.header("Content-Security-Policy", std::string(policy));
  response.header("Referrer-Policy", "no-referrer");
  response.header("Cache-Control", "public, max-age=300");
  return response;
}

std::string web_file(std::string_view path) {
  for (const embedded::File& file : embedded::web_files()) {
    if (file.path == path) return std::string(file.content);
  }
  throw InternalError("web file is not embedded: " + std::string(path));
}

void fill(std::string& text, std::string_view mark, std::string_view value) {
  for (auto at = text.find(mark); at != std::string::npos;
       at = text.find(mark, at + value.size())) {
    text.replace(at, mark.size(), value);
  }
}

Result<http::Response> index_page(const Services&, const Call&) {
  return page(web_file("index.html"));
}

Result<http::Response> style_sheet(const Services&, const Call&) {
  return page(web_file("style.css"), kCss);
}

/// What `docUrl` of every problem points to.
Result<http::Response> problem_page(const Services&, const Call& call) {
  const SlugInfo* slug = find_slug(call.param("slug"));
  if (slug == nullptr) return unexpected(Slug::not_found, "There is no such problem.");
  std::string text = web_file("problem.html");
  fill(text, "{{name}}", slug->name);
  fill(text, "{{title}}", slug->title);
  fill(text, "{{status}}", std::to_string(slug->status));
  fill(text, "{{remedy}}", slug->remedy);
  return page(std::move(text));
}

Result<http::Response> reference_page(const Services&, const Call&) {
  return page(web_file("docs/index.html"), kHtml, kScriptedPage);
}

Result<http::Response> reference_script(const Services&, const Call&) {
  return page(web_file("docs/docs.js"), kScript);
}

Result<http::Response> reference_style(const Services&, const Call&) {
  return page(web_file("docs/docs.css"), kCss);
}

}  // namespace

Route about(std::string_view pattern, std::string_view operation, std::string_view summary,
            Handler handler, std::vector<Answer> answers) {
  return {.method = "GET",
          .pattern = pattern,
          .operation = operation,
          .tag = "About",
          .summary = summary,
          .lane = Lane::system,
          .access = Access::open,
          .answers = std::move(answers),
          .handler = handler};
}

std::vector<Route> pages_routes() {
  return {
      about("/", "index", "What this server is", index_page),
      about("/style.css", "styleSheet", "Style of the pages", style_sheet),
      about("/docs", "reference", "The API reference", reference_page),
      about("/docs/docs.js", "referenceScript", "What draws the API reference", reference_script),
      about("/docs/docs.css", "referenceStyle", "Style of the API reference", reference_style),
      about("/problems/{slug}", "problem", "What a problem means and what to do", problem_page,
            {{200}, {404}})};
}

}  // namespace coffer::api
