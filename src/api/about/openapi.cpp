#include "api/about/openapi.h"

#include <algorithm>
#include <array>
#include <map>

#include "api/about/openapi_examples.h"
#include "api/about/openapi_tables.h"
#include "api/about/pages.h"
#include "api/about/web_documents.h"
#include "api/json/json.h"
#include "api/pipeline/problem_format.h"
#include "api/pipeline/request_checks.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/routes.h"
#include "base/check.h"
#include "base/text/ascii.h"
#include "domain/webhooks/event_type.h"
#include "embedded/embedded.h"
#include "http/problem_json.h"

namespace coffer::api {
namespace {

constexpr std::string_view kComponents = "openapi/components.json";
constexpr std::string_view kSchemas = "openapi/schemas/";

Json reference(std::string_view kind, std::string_view name) {
  return {{"$ref", "#/components/" + std::string(kind) + "/" + std::string(name)}};
}

Json schema(std::string_view name) { return reference("schemas", name); }

Json path_parameter(std::string_view name) {
  const PathParam* it = &find_path_param(name);
  return {{"name", name},
          {"in", "path"},
          {"required", true},
          {"description", it->description},
          {"schema", schema(it->schema)}};
}

Json parameters(const Route& route) {
  Json out = Json::array();
  std::string_view rest = route.pattern;
  for (auto open = rest.find('{'); open != std::string_view::npos; open = rest.find('{')) {
    const auto close = rest.find('}', open);
    out.push_back(path_parameter(rest.substr(open + 1, close - open - 1)));
    rest = rest.substr(close + 1);
  }
  for (const QueryParam& param : route.query) {
    Json item{{"name", param.name}, {"in", "query"}, {"description", param.description}};
    if (param.required) item["required"] = true;
    if (param.keyed) item.update({{"style", "deepObject"}, {"explode", true}});
    item["schema"] = schema(param.schema);
    out.push_back(std::move(item));
  }
  return out;
}

/// A media type object. Its example is `recorded`, or a generated one if that is null.
Json media(std::string_view name, const Json& schemas, Json recorded) {
  if (recorded.is_null()) recorded = example_of(schema(name), schemas);
  return {{"schema", schema(name)}, {"example", std::move(recorded)}};
}

Json success_response(const Route& route, const DeclaredResponse& declared, const Json& schemas) {
  const Json recorded = recorded_example(route.operation).value("responses", Json::object());
  Json response{{"description", route.summary},
                {"headers", {{"X-Request-Id", reference("headers", "RequestId")}}}};
  if (declared.schema.empty()) return response;
  response["content"][std::string(declared.media_type)] =
      media(declared.schema, schemas, recorded.value(std::to_string(declared.status), Json()));
  return response;
}

/// Media types of the problems of a route, and the start of the names of its shared responses.
struct ProblemForm {
  std::string_view prefix;
  std::vector<std::string> types;
};

ProblemForm problem_form(const Route& route) {
  switch (problem_format(route.pattern)) {
    case ProblemFormat::problem:
      return {"", {"application/problem+json"}};
    case ProblemFormat::envelope:
      return {"envelope.", {"application/json"}};
    case ProblemFormat::oauth:
    case ProblemFormat::sep10:
      return {"standard.", {"application/problem+json", "application/json"}};
  }
  throw InternalError("unknown format of a problem");
}

/// Name of the shared response for these slugs, which all have the same status.
std::string response_name(const std::vector<Slug>& slugs, std::string_view prefix) {
  std::string out;
  for (const Slug slug : slugs) {
    out += (out.empty() ? std::string(prefix) : ".") + std::string(info(slug).name);
  }
  return out;
}

/// The shared response for these slugs, which operations reference.
Json problem_response(const std::vector<Slug>& slugs, const Route& route, Json& components) {
  const ProblemForm form = problem_form(route);
  const bool envelope = route.envelope;
  const std::string name = response_name(slugs, form.prefix);
  if (components["responses"].contains(name)) return reference("responses", name);
  std::string text;
  Json examples = Json::object();
  for (const Slug slug : slugs) {
    const std::string slug_name(info(slug).name);
    const std::string example = (envelope ? "envelope." : "") + slug_name;
    text += (text.empty() ? "`" : ", `") + slug_name + "`";
    examples[slug_name] = reference("examples", example);
    components["examples"][example] = {{"summary", info(slug).title},
                                       {"description", info(slug).remedy},
                                       {"value", problem_example(slug, envelope)}};
  }
  Json headers{{"X-Request-Id", reference("headers", "RequestId")}};
  const int status = info(slugs.front()).status;
  if (status == 429 || status == 503) headers["Retry-After"] = reference("headers", "RetryAfter");
  const char* shape = envelope ? "ErrorEnvelope" : "Problem";
  Json content = Json::object();
  for (const std::string& type : form.types) {
    content[type] = {{"schema", schema(shape)}, {"examples", examples}};
  }
  components["responses"][name] = {
      {"description", "Problem: " + text}, {"headers", headers}, {"content", content}};
  return reference("responses", name);
}

Json responses(const Route& route, Json& components) {
  std::map<int, Json> sorted;
  for (const DeclaredResponse& declared : route.responses) {
    sorted[declared.status] = success_response(route, declared, components["schemas"]);
  }
  std::map<int, std::vector<Slug>> problems;
  for (const Slug slug : problems_of(route)) problems[info(slug).status].push_back(slug);
  for (const auto& [status, slugs] : problems) {
    sorted[status] = problem_response(slugs, route, components);
  }
  Json out = Json::object();
  for (auto& [status, response] : sorted) out[std::to_string(status)] = std::move(response);
  return out;
}

Json request_body(const Route& route, const Json& schemas) {
  const Json recorded = recorded_example(route.operation).value("request", Json());
  Json out{{"description", "At most " + std::to_string(route.body_bytes_max / 1024) + " KiB."},
           {"required", route.body != Body::optional_json}};
  for (const std::string_view type : media_types(route)) {
    out["content"][std::string(type)] = media(route.request_schema, schemas, recorded);
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

std::string description(const Route& route) {
  std::string out;
  if (route.access == Access::sandbox) {
    out = "Sandbox credentials only; with production credentials, the response is 404. ";
  }
  if (route.scope) out += "Requires the scope `" + std::string(name(*route.scope)) + "`. ";
  if (!out.empty()) out.pop_back();
  return out;
}

Json operation(const Route& route, Json& components) {
  Json out{{"operationId", route.operation},
           {"tags", Json::array({route.tag})},
           {"summary", route.summary}};
  if (const std::string text = description(route); !text.empty()) out["description"] = text;
  out["security"] = Json::array({security(route.access)});
  if (const Json list = parameters(route); !list.empty()) out["parameters"] = list;
  if (route.body != Body::none) out["requestBody"] = request_body(route, components["schemas"]);
  out["responses"] = responses(route, components);
  // A shared response cannot have the example of one operation.
  const Json& recorded = recorded_example(route.operation);
  if (recorded.contains("problem")) out["x-problem-example"] = recorded.at("problem");
  return out;
}

/// The base document with all schemas, which come from one file per noun.
Json load_components() {
  Json document = Json::parse(web_text(kComponents));
  COFFER_CHECK(document.is_object());
  for (const embedded::File& file : embedded::web_files()) {
    if (file.path.starts_with(kSchemas)) {
      document["components"]["schemas"].update(Json::parse(file.content));
    }
  }
  return document;
}

/// The base document with completed schemas.
Json load_document() {
  Json document = load_components();
  Json& schemas = document["components"]["schemas"];
  add_terms(schemas);
  add_text_properties(schemas);
  return document;
}

/// Schema of the event that contains a type.
std::string_view event_schema(EventSubject subject) {
  switch (subject) {
    case EventSubject::payment:
      return "PaymentEvent";
    case EventSubject::wallet:
      return "WalletEvent";
    case EventSubject::webhook:
      return "WebhookEvent";
    case EventSubject::application:
      return "ApplicationEvent";
    case EventSubject::nothing:
      return "WebhookTestEvent";
  }
  throw InternalError("unknown subject of an event");
}

/// The webhook operation for one event type: its request, and the expected responses.
Json webhook(const EventTypeRow& row, const Json& schemas) {
  const std::string code(row.term.code);
  const std::string_view event = event_schema(row.subject);
  const Json exactly{{"type", "object"},
                     {"properties", {{"type", {{"const", code}}}}},
                     {"required", Json::array({"type"})}};
  Json example = recorded_example("event." + code).value("body", Json());
  if (example.is_null()) {
    example = example_of(schema(event), schemas);
    example["type"] = code;
  }
  Json headers = Json::array();
  for (const char* header : {"WebhookId", "WebhookTs", "SvcSignature", "StandardWebhookId",
                             "StandardWebhookTimestamp", "StandardWebhookSignature"}) {
    headers.push_back(reference("parameters", header));
  }
  const Json body{{"schema", {{"allOf", Json::array({schema(event), exactly})}}},
                  {"example", std::move(example)}};
  return {{"post",
           {{"operationId", "event." + code},
            {"tags", Json::array({"Webhooks"})},
            {"summary", row.term.label},
            {"description", "Sent to the endpoints that are registered for `" + code +
                                "`. Verify `webhook-signature` before you read the body."},
            {"security", Json::array({Json::object()})},
            {"parameters", std::move(headers)},
            {"requestBody", {{"required", true}, {"content", {{"application/json", body}}}}},
            {"responses",
             {{"2XX", {{"description", "Any 2xx response: the delivery succeeded"}}},
              {"410", {{"description", "Gone: coffer disables the webhook permanently"}}},
              {"default",
               {{"description",
                 "Any other response: the attempt failed, and coffer retries "
                 "(docs/webhooks.md)"}}}}}}}};
}

Result<http::Response> serve_document(const Services&, const Call& call) {
  static const http::Document document("application/json", openapi_document());
  http::Response response = document.respond(call.request);
  response.header("Cache-Control", "public, max-age=300");
  return response;
}

}  // namespace

std::string openapi_document() {
  Json document = load_document();
  Json& components = document["components"];
  document["info"]["version"] = COFFER_VERSION;
  document["paths"] = Json::object();
  for (const Route& route : routes()) {
    if (!route.pattern.starts_with("/v1/")) continue;
    document["paths"][std::string(route.pattern)][ascii::to_lower(route.method)] =
        operation(route, components);
  }
  Json webhooks = Json::object();
  for (const EventTypeRow& row : event_types()) {
    webhooks[std::string(row.term.code)] = webhook(row, components["schemas"]);
  }
  // Adding a member moves the others, so `components` is invalid from here on.
  document["webhooks"] = std::move(webhooks);
  return document.dump(2);
}

Json openapi_schemas() {
  Json document = load_document();
  return std::move(document["components"]["schemas"]);
}

const Redactor& document_redactor() {
  static const Redactor instance(openapi_schemas());
  return instance;
}

std::vector<Route> openapi_routes() {
  return {about("/v1/openapi.json", "getOpenApi", "OpenAPI document", serve_document,
                {{200, "OpenApi"}, {304}})};
}

}  // namespace coffer::api
