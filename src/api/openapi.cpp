#include "api/openapi.h"

#include <map>

#include "api/json.h"
#include "api/routes.h"
#include "base/check.h"
#include "embedded/embedded.h"

namespace coffer::api {
namespace {

constexpr std::string_view kComponents = "openapi/components.json";
constexpr std::string_view kSchemas = "openapi/schemas/";

Json reference(std::string_view kind, std::string_view name) {
  return {{"$ref", "#/components/" + std::string(kind) + "/" + std::string(name)}};
}

Json schema(std::string_view name) { return reference("schemas", name); }

Json parameters(const Route& route) {
  Json out = Json::array();
  std::string_view rest = route.pattern;
  for (auto open = rest.find('{'); open != std::string_view::npos; open = rest.find('{')) {
    const auto close = rest.find('}', open);
    out.push_back({{"name", rest.substr(open + 1, close - open - 1)},
                   {"in", "path"},
                   {"required", true},
                   {"schema", schema("Text")}});
    rest = rest.substr(close + 1);
  }
  for (const QueryParam& param : route.query) {
    Json item{{"name", param.name}, {"in", "query"}, {"description", param.description}};
    if (param.required) item["required"] = true;
    item["schema"] = schema(param.schema);
    out.push_back(std::move(item));
  }
  return out;
}

Json success_response(const Route& route, const Answer& answer) {
  Json response{{"description", route.summary},
                {"headers", {{"X-Request-Id", reference("headers", "RequestId")}}}};
  if (answer.schema.empty()) return response;
  Json content{{"application/json", {{"schema", schema(answer.schema)}}}};
  if (answer.schema == "Statement") {
    content["text/csv"] = {{"schema", {{"type", "string"}}}};
    content["application/x-ndjson"] = {{"schema", {{"type", "string"}}}};
    content["application/xml"] = {{"schema", {{"type", "string"}}}};
  }
  response["content"] = std::move(content);
  return response;
}

Json responses(const Route& route) {
  Json out = Json::object();
  for (const Answer& answer : answers_of(route)) {
    const std::string status = std::to_string(answer.status);
    if (answer.status < 400 || !answer.schema.empty()) {
      out[status] = success_response(route, answer);
    } else {
      out[status] = reference("responses", (route.envelope ? "Envelope" : "Problem") + status);
    }
  }
  return out;
}

Json request_body(const Route& route) {
  const Json content{{"schema", schema(route.request_schema)}};
  Json out{{"required", route.body != Body::optional_json},
           {"content", {{"application/json", content}}}};
  if (route.body == Body::json_or_form) {
    out["content"]["application/x-www-form-urlencoded"] = {{"schema", schema(route.form_schema)}};
  }
  return out;
}

Json security(Access access) {
  switch (access) {
    case Access::open:
    case Access::login:
      return Json::object();
    case Access::application:
    case Access::sandbox:
      return {{"apiKey", Json::array()}, {"bearer", Json::array()}};
    case Access::business:
      return {{"apiKey", Json::array()}, {"userToken", Json::array()}};
    case Access::connect:
      return {{"connectSecret", Json::array()}, {"idToken", Json::array()}};
  }
  throw InternalError("unknown access");
}

Json operation(const Route& route) {
  Json out{{"operationId", route.operation},
           {"tags", Json::array({route.tag})},
           {"summary", route.summary}};
  std::string description;
  if (route.access == Access::sandbox) {
    description = "Sandbox credentials only; anyone else gets 404. ";
  }
  if (route.scope) {
    description += "Needs the scope `" + std::string(name(*route.scope)) + "`.";
  }
  if (!description.empty()) out["description"] = description;
  out["security"] = Json::array({security(route.access)});
  if (const Json list = parameters(route); !list.empty()) out["parameters"] = list;
  if (route.body != Body::none) out["requestBody"] = request_body(route);
  out["responses"] = responses(route);
  return out;
}

std::string lower(std::string_view method) {
  std::string out(method);
  for (char& c : out) c = static_cast<char>(c + ('a' - 'A'));
  return out;
}

/// The frame of the document, with the shapes that every noun keeps in a file of its own.
Json load_components() {
  Json document;
  for (const embedded::File& file : embedded::web_files()) {
    if (file.path == kComponents) document = Json::parse(file.content);
  }
  COFFER_CHECK(document.is_object());
  for (const embedded::File& file : embedded::web_files()) {
    if (file.path.starts_with(kSchemas)) {
      document["components"]["schemas"].update(Json::parse(file.content));
    }
  }
  return document;
}

/// One shared response per problem status, listing the slugs that carry it.
void add_problem_responses(Json& components) {
  std::map<int, std::string> slugs;
  for (const SlugInfo& info : slug_table()) {
    std::string& text = slugs[info.status];
    text += (text.empty() ? "`" : ", `") + std::string(info.name) + "`";
  }
  for (const auto& [status, text] : slugs) {
    Json headers{{"X-Request-Id", reference("headers", "RequestId")}};
    if (status == 429 || status == 503) headers["Retry-After"] = reference("headers", "RetryAfter");
    const std::string suffix = std::to_string(status);
    const auto response = [&](const char* type, const char* schema_name) {
      return Json{{"description", "Problem: " + text},
                  {"headers", headers},
                  {"content", {{type, {{"schema", schema(schema_name)}}}}}};
    };
    components["responses"]["Problem" + suffix] = response("application/problem+json", "Problem");
    components["responses"]["Envelope" + suffix] = response("application/json", "ErrorEnvelope");
  }
}

/// Only responses that some route refers to: the document has no dead parts.
void drop_unused_responses(Json& document) {
  const std::string paths = document["paths"].dump();
  Json& all = document["components"]["responses"];
  Json used = Json::object();
  for (const auto& [key, value] : all.items()) {
    if (paths.find("#/components/responses/" + key + "\"") != std::string::npos) used[key] = value;
  }
  all = used;
}

Result<http::Response> serve_document(const Services&, const Call&) {
  http::Response response;
  response.body = openapi_document();
  return response;
}

}  // namespace

std::string openapi_document() {
  Json document = load_components();
  document["info"]["version"] = COFFER_VERSION;
  add_problem_responses(document["components"]);
  document["paths"] = Json::object();
  for (const Route& route : routes()) {
    if (!route.pattern.starts_with("/v1/")) continue;
    document["paths"][std::string(route.pattern)][lower(route.method)] = operation(route);
  }
  drop_unused_responses(document);
  return document.dump(2);
}

std::vector<Route> openapi_routes() {
  return {{.method = "GET",
           .pattern = "/v1/openapi.json",
           .operation = "getOpenApi",
           .tag = "About",
           .summary = "This document",
           .access = Access::open,
           .answers = {{200, "OpenApi"}},
           .handler = serve_document}};
}

}  // namespace coffer::api
