#include "api/health.h"

#include "api/json.h"
#include "api/pipeline/services.h"
#include "embedded/embedded.h"

namespace coffer::api {
namespace {

http::Response page(std::string body, const char* type = "text/html; charset=utf-8") {
  http::Response response;
  response.content_type = type;
  response.body = std::move(body);
  response.header("Content-Security-Policy",
                  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; "
                  "form-action 'none'; frame-ancestors 'none'");
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
  for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + value.size())) {
    text.replace(at, mark.size(), value);
  }
}

/// The process answers: nothing else is asked.
Result<http::Response> live(const Services&, const Call&) {
  return json_response(200, {{"status", "ok"}});
}

/// 200 only while payments can be taken; the body names what does not hold, and nothing more.
Result<http::Response> ready(const Services& services, const Call&) {
  const Health health = services.health();
  Json checks = Json::object();
  for (const Health::Check& check : health.checks) checks[check.name] = check.ok ? "ok" : "failed";
  http::Response response = json_response(
      health.ok() ? 200 : 503, {{"status", health.ok() ? "ok" : "unavailable"}, {"checks", checks}});
  if (!health.ok()) response.header("Retry-After", "2");
  return response;
}

Result<http::Response> index_page(const Services&, const Call&) {
  return page(web_file("index.html"));
}

Result<http::Response> style_sheet(const Services&, const Call&) {
  return page(web_file("style.css"), "text/css; charset=utf-8");
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

Route about(std::string_view pattern, std::string_view operation, std::string_view summary,
            Handler handler, std::vector<Answer> answers = {{200}}) {
  return {.method = "GET",
          .pattern = pattern,
          .operation = operation,
          .tag = "About",
          .summary = summary,
          .access = Access::open,
          .answers = std::move(answers),
          .handler = handler};
}

}  // namespace

std::vector<Route> health_routes() {
  return {about("/", "index", "What this server is", index_page),
          about("/style.css", "styleSheet", "Style of the pages", style_sheet),
          about("/livez", "live", "The process answers", live),
          about("/healthz", "ready", "Payments can be taken", ready, {{200}, {503}}),
          about("/readyz", "readyz", "The other name of /healthz", ready, {{200}, {503}}),
          about("/problems/{slug}", "problem", "What a problem means and what to do",
                problem_page, {{200}, {404}})};
}

}  // namespace coffer::api
