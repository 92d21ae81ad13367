#include "outbound/archive/s3_bucket.h"

#include <algorithm>
#include <array>

#include "base/digest.h"
#include "base/text/object_name.h"
#include "outbound/wire/address_trial.h"

namespace coffer::outbound {
namespace {

constexpr int kConnectTimeoutMs = 5'000;
constexpr std::size_t kBytesPerMs = 128;
constexpr std::size_t kErrorBytesMax = 64 * 1024;
constexpr std::size_t kListBytesMax = std::size_t{4} << 20;
constexpr std::array kWaitsMs{200, 600, 1'800};

constexpr int kNoObject = 404;
constexpr int kPreconditionFailed = 412;

bool is_2xx(int status) { return status >= 200 && status < 300; }

/// Whether the same request may succeed a moment later.
bool may_pass(const Result<http::ClientResponse>& response, std::size_t bytes_max) {
  constexpr int kRequestTimeout = 408;
  constexpr int kTooManyRequests = 429;
  constexpr int kServerError = 500;
  constexpr int kNotImplemented = 501;
  if (!response) {
    const Slug slug = response.error().slug;
    return slug == Slug::provider_unavailable || slug == Slug::provider_timeout ||
           slug == Slug::provider_error;
  }
  const int status = response->status;
  if (is_2xx(status)) return response->truncated && response->body.size() < bytes_max;
  if (status >= kServerError) return status != kNotImplemented;
  if (status == kTooManyRequests || status == kRequestTimeout) return true;
  const std::string code = s3_error_code(response->body);
  return code == "ConditionalRequestConflict" || code == "OperationAborted" ||
         code == "RequestTimeout";
}

std::string status_text(const http::ClientResponse& response) {
  const std::string code = s3_error_code(response.body);
  return "status " + std::to_string(response.status) + (code.empty() ? "" : " " + code) + "." +
         std::string(s3_remedy(code));
}

}  // namespace

struct S3Bucket::Call {
  const char* method = "GET";
  std::string about;   // for problems
  std::string target;  // path and query
  std::string_view body = {};
  std::size_t bytes = 0;  // of the object
  std::size_t bytes_max = kErrorBytesMax;
};

S3Bucket::S3Bucket(const ArchiveSettings& settings, const ArchivePlace& place, ArchiveWire wire)
    : bucket_(place.bucket),
      prefix_(place.prefix),
      address_(bucket_address(place.bucket, settings)),
      keys_(settings.keys),
      wire_(std::move(wire)) {}

Unexpected S3Bucket::fault(const Call& call, const std::string& why, Slug slug) const {
  return unexpected(slug, "s3://" + bucket_ + ": " + call.method + ' ' + call.about + ": " + why);
}

Unexpected S3Bucket::fault(const Call& call, const http::ClientResponse& response) const {
  constexpr int kUnauthorized = 401;
  constexpr int kForbidden = 403;
  const int status = response.status;
  const bool is_refused = status == kUnauthorized || status == kForbidden;
  const Slug other = may_pass(response, 0) ? Slug::provider_unavailable : Slug::provider_error;
  return fault(call, status_text(response), is_refused ? Slug::forbidden : other);
}

Result<S3Bucket::Call> S3Bucket::call_for(const char* method, const std::string& name) const {
  if (is_object_name(name)) {
    return Call{
        .method = method, .about = prefix_ + name, .target = address_.path + prefix_ + name};
  }
  return unexpected(Slug::malformed_request, "No object can have the name \"" + name + "\".");
}

Result<http::ClientResponse> S3Bucket::send(const Call& call) {
  const Sha256 digest = sha256(call.body);
  const auto for_bytes = static_cast<int>(call.bytes / kBytesPerMs);
  for (std::size_t tried = 0;; ++tried) {
    http::ClientRequest request = request_to(address_.host);
    request.method = call.method;
    request.target = call.target;
    request.body = call.body;
    request.connect_timeout_ms = kConnectTimeoutMs;
    request.response_bytes_max = call.bytes_max;
    if (request.method == "PUT") {
      request.headers = {{"If-None-Match", "*"},
                         // Required by a bucket that keeps objects for a time (Object Lock).
                         {"x-amz-checksum-sha256", to_base64(as_text(digest))}};
    }
    sign_for_s3(request, keys_, wire_.clock.machine_now(), to_hex(digest));
    request.headers.emplace_back("User-Agent", "coffer-archive/1");
    auto response = send_to_host(std::move(request), wire_.client, wire_.resolver,
                                 wire_.timeout_ms + for_bytes);
    if (may_pass(response, call.bytes_max) && tried < kWaitsMs.size()) {
      wire_.wait ? wire_.wait(kWaitsMs[tried]) : wire_.client.deadlines().rest(kWaitsMs[tried]);
      continue;
    }
    if (!response) return fault(call, response.error().detail);
    if (is_2xx(response->status) && may_pass(response, call.bytes_max)) {
      return fault(call, "the answer is incomplete.");
    }
    return response;
  }
}

Result<PutResult> S3Bucket::put(const std::string& name, std::string_view bytes) {
  COFFER_TRY(Call call, call_for("PUT", name));
  call.body = bytes;
  call.bytes = bytes.size();
  COFFER_TRY(const auto response, send(call));
  if (is_2xx(response.status)) return PutResult::stored;
  if (response.status != kPreconditionFailed) return fault(call, response);
  const auto stored = get(name, bytes.size());
  if (stored) return *stored == bytes ? PutResult::stored : PutResult::exists;
  if (stored.error().slug == Slug::validation_failed) return PutResult::exists;
  return unexpected(stored.error());
}

Result<std::string> S3Bucket::get(const std::string& name, std::size_t bytes_max) {
  COFFER_TRY(Call call, call_for("GET", name));
  call.bytes = bytes_max;
  call.bytes_max = std::max(bytes_max + 1, kErrorBytesMax);
  COFFER_TRY(auto response, send(call));
  if (!is_2xx(response.status)) {
    Unexpected out = fault(call, response);
    const bool has_bucket = s3_error_code(response.body) != "NoSuchBucket";
    if (response.status == kNoObject && has_bucket) out.problem.slug = Slug::not_found;
    return out;
  }
  if (response.body.size() <= bytes_max) return std::move(response.body);
  Unexpected out = fault(call, "it has more than " + std::to_string(bytes_max) + " bytes.");
  out.problem.slug = Slug::validation_failed;
  return out;
}

Result<std::vector<StoredObject>> S3Bucket::list(const std::string& prefix,
                                                 const std::string& after) {
  constexpr int kAnswersMax = 1'000;  // without an object that coffer stores
  const std::string begin = prefix_ + prefix;
  std::string last = after.empty() ? "" : prefix_ + after;
  const std::string query =
      address_.path + "?list-type=2&max-keys=1000&prefix=" + percent_encoded(begin);
  Call call{.about = "the list of " + begin + '*', .target = query, .bytes_max = kListBytesMax};
  if (!last.empty()) call.target += "&start-after=" + percent_encoded(last);
  std::vector<StoredObject> out;
  for (int answers = 0; answers < kAnswersMax; ++answers) {
    COFFER_TRY(const auto response, send(call));
    if (!is_2xx(response.status)) return fault(call, response);
    auto page = s3_list_from(response.body);
    if (!page) return fault(call, "the answer is not a list of objects.", Slug::provider_error);
    for (StoredObject& object : page->objects) {
      // A store that ignores a part of the question would answer it forever.
      if (!object.name.starts_with(begin) || object.name <= last) {
        return fault(call, "the answer does not have the names that follow in byte order.",
                     Slug::provider_error);
      }
      last = object.name;
      object.name.erase(0, prefix_.size());
      if (is_object_name(object.name)) out.push_back(std::move(object));
    }
    if (!out.empty() || !page->is_truncated) return out;
    call.target = query + "&continuation-token=" + percent_encoded(page->next);
  }
  return fault(call, "too many objects are not of this archive.", Slug::provider_error);
}

Result<void> S3Bucket::remove(const std::string& name) {
  COFFER_TRY(const Call call, call_for("DELETE", name));
  COFFER_TRY(const auto response, send(call));
  const bool is_gone =
      response.status == kNoObject && s3_error_code(response.body) != "NoSuchBucket";
  if (is_2xx(response.status) || is_gone) return {};
  return fault(call, response);
}

}  // namespace coffer::outbound
