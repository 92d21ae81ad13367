#include "outbound/providers/provider_http.h"

#include "base/telemetry/log.h"
#include "base/text/characters.h"
#include "outbound/providers/provider_signature.h"
#include "outbound/wire/address_trial.h"

namespace coffer::outbound {
namespace {

constexpr int kRetryAfterS = 5;
constexpr std::size_t kWordsMax = 200;

constexpr std::string_view kFailed =
    "The payment provider rejected the request, or its response is not valid.";
constexpr std::string_view kUnreachable = "The payment provider cannot be reached.";
constexpr std::string_view kLate = "The payment provider did not respond in time.";

/// The part of a failure that clients may see; the rest is logged.
Unexpected shown(const Problem& fault) {
  if (fault.slug == Slug::provider_timeout) return unexpected(fault.slug, std::string(kLate));
  if (fault.slug == Slug::provider_error) return unexpected(fault.slug, std::string(kFailed));
  return unexpected(
      Problem(Slug::provider_unavailable, std::string(kUnreachable)).retry_after(kRetryAfterS));
}

std::string text_member(const http::JsonValue& body, std::string_view name) {
  const http::JsonValue* member = body.find(name);
  if (member == nullptr || member->string() == nullptr) return {};
  return std::string(first_characters(*member->string(), kWordsMax));
}

/// The error in the response; empty if it is readable.
std::string_view fault_of(const http::ClientResponse& response) {
  if (response.truncated) return "the response is incomplete, or over 256 KiB";
  if (response.status >= 500) return "the provider reports an internal error";
  if (response.status < 200) return "no final response";
  if (response.status >= 300 && response.status < 400)
    return "a redirect, which coffer does not follow";
  return {};
}

/// A Problem with the reason if an accepting response is not JSON. Its size limits the response;
/// the depth limits recursion.
Result<ProviderReply> read_reply(const http::ClientResponse& response) {
  constexpr std::size_t kMost = ProviderHttp::kResponseBytesMax;
  ProviderReply reply;
  reply.status = response.status;
  auto body = http::parse_json(
      response.body,
      {.subject = "the response", .string_max = kMost, .values_max = kMost, .children_max = kMost});
  if (!body && reply.accepted()) return unexpected(std::move(body.error()));
  if (!body) return reply;
  reply.body = *std::move(body);
  if (!reply.accepted()) {
    reply.code = text_member(reply.body, "code");
    reply.message = text_member(reply.body, "message");
  }
  return reply;
}

}  // namespace

Result<http::ClientResponse> ProviderHttp::send(const ProviderEndpoint& endpoint,
                                                const ProviderCall& call,
                                                const std::string& request_id) {
  const auto base = parse_url(endpoint.base_url);
  if (!base || !base->query.empty()) {
    return unexpected(Slug::provider_unavailable, "The base URL of the connector is not valid.");
  }
  http::ClientRequest request = request_to(*base);
  request.method = call.method;
  request.target =
      (base->path.ends_with('/') ? base->path.substr(0, base->path.size() - 1) : base->path) +
      call.path;
  request.body = call.body;
  request.response_bytes_max = kResponseBytesMax;
  request.headers =
      sign(endpoint.secret, clock_.machine_now(), {call.method, request.target, call.body});
  request.headers.emplace_back("Accept", "application/json");
  request.headers.emplace_back("Coffer-Request-Id", request_id);
  if (!call.body.empty()) request.headers.emplace_back("Content-Type", "application/json");

  return send_to_host(std::move(request), client_, resolver_, endpoint.timeout_ms);
}

Result<ProviderReply> ProviderHttp::call(const ConnectorTerms& terms, const ProviderCall& call) {
  if (!terms.endpoint) {
    log_error("provider", "connector without an endpoint", {{"connector", terms.id.to_string()}});
    return shown(Problem(Slug::provider_unavailable));
  }
  // Failures at a retired address must not block calls to the current one.
  COFFER_TRY(auto permit,
             breakers_.admit(terms.endpoint->retired ? -terms.endpoint->key : terms.key));
  const std::string request_id = random_.uuid_v7(clock_.now()).to_string();
  const std::string connector = terms.id.to_string();
  const auto note = [&](std::string_view why, int status) {
    log_warning("provider", "call failed",
                {{"connector", connector},
                 {"call", call.method},
                 {"path", call.path},
                 {"provider_request_id", request_id},
                 {"status", status},
                 {"reason", why}});
  };
  const std::int64_t began_ms = clock_.monotonic_ms();
  const auto response = send(*terms.endpoint, call, request_id);
  if (!response) {
    permit.failed();
    note(response.error().detail, 0);
    return shown(response.error());
  }
  const std::string_view fault = fault_of(*response);
  if (!fault.empty()) {
    permit.failed();
    note(fault, response->status);
    return shown(Problem(Slug::provider_error));
  }
  auto reply = read_reply(*response);
  if (!reply) {
    permit.failed();
    note(reply.error().detail, response->status);
    return shown(Problem(Slug::provider_error));
  }
  if (call.request_waits && clock_.monotonic_ms() - began_ms > kLateMs) {
    permit.failed();
    note("the response was late", response->status);
  } else {
    permit.succeeded();
  }
  return *std::move(reply);
}

Unexpected provider_error(const ConnectorTerms& terms, std::string_view call, std::string_view why,
                          const ProviderReply& reply) {
  log_warning("provider", "response rejected",
              {{"connector", terms.id.to_string()},
               {"call", call},
               {"status", reply.status},
               {"code", reply.code},
               {"provider_message", reply.message},
               {"reason", why}});
  return unexpected(Slug::provider_error, std::string(kFailed));
}

}  // namespace coffer::outbound
