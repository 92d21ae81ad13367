#include "outbound/archive/aws_signature.h"

#include <algorithm>
#include <vector>

#include "base/digest.h"
#include "base/text/ascii.h"
#include "base/text/join.h"
#include "base/text/next_part.h"

namespace coffer::outbound {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::string_view kRequest = "aws4_request";

/// The parameters in byte order, each with its "=".
std::string canonical_query(std::string_view query) {
  if (query.starts_with('?')) query.remove_prefix(1);
  std::vector<std::string> parameters;
  while (!query.empty()) {
    std::string one(next_whole_part(query, '&'));
    if (one.find('=') == std::string::npos) one += '=';
    parameters.push_back(std::move(one));
  }
  std::ranges::sort(parameters);
  return join(parameters, "&");
}

/// Without white space at the ends, and with one space for several.
std::string canonical_value(std::string_view value) {
  std::string out(trimmed(value));
  const auto repeated =
      std::ranges::unique(out, [](char a, char b) { return a == ' ' && b == ' '; });
  out.erase(repeated.begin(), repeated.end());
  return out;
}

Fields canonical_fields(const http::ClientRequest& request) {
  Fields out{{"host", http::host_field(request)}};
  for (const auto& [name, value] : request.headers) {
    out.emplace_back(ascii::to_lower(name), canonical_value(value));
  }
  std::ranges::sort(out);
  return out;
}

Sha256 signing_key(const AwsKeys& keys, std::string_view date) {
  Sha256 key = hmac_sha256("AWS4" + keys.secret_key.reveal(), date);
  for (const std::string_view part :
       {std::string_view(keys.region), std::string_view(keys.service), kRequest}) {
    key = hmac_sha256(as_text(key), part);
  }
  return key;
}

}  // namespace

std::string aws_authorization(const http::ClientRequest& request, const AwsKeys& keys,
                              const std::string& amz_date, const std::string& payload_hash) {
  constexpr std::size_t kDateBytes = 8;
  const std::string date = amz_date.substr(0, kDateBytes);
  const auto query = std::min(request.target.find('?'), request.target.size());
  std::string text = request.method + '\n' + request.target.substr(0, query) + '\n' +
                     canonical_query(std::string_view(request.target).substr(query)) + '\n';
  std::vector<std::string> names;
  for (const auto& [name, value] : canonical_fields(request)) {
    text += name + ':' + value + '\n';
    names.push_back(name);
  }
  const std::string signed_names = join(names, ";");
  text += '\n' + signed_names + '\n' + payload_hash;
  const std::string scope =
      join(std::vector<std::string>{date, keys.region, keys.service, std::string(kRequest)}, "/");
  const std::string to_sign =
      std::string(kAlgorithm) + '\n' + amz_date + '\n' + scope + '\n' + to_hex(sha256(text));
  const std::string signature = to_hex(hmac_sha256(as_text(signing_key(keys, date)), to_sign));
  return std::string(kAlgorithm) + " Credential=" + keys.access_key + '/' + scope +
         ", SignedHeaders=" + signed_names + ", Signature=" + signature;
}

void sign_for_s3(http::ClientRequest& request, const AwsKeys& keys, Timestamp now,
                 const std::string& payload_hash) {
  constexpr std::size_t kSecondsEnd = 19;  // of 2013-05-24T00:00:00.000Z
  std::string amz_date = now.to_string().substr(0, kSecondsEnd) + 'Z';
  std::erase_if(amz_date, [](char c) { return c == '-' || c == ':'; });
  request.headers.emplace_back("x-amz-content-sha256", payload_hash);
  request.headers.emplace_back("x-amz-date", amz_date);
  if (!keys.session_token.empty()) {
    request.headers.emplace_back("x-amz-security-token", keys.session_token.reveal());
  }
  request.headers.emplace_back("Authorization",
                               aws_authorization(request, keys, amz_date, payload_hash));
}

}  // namespace coffer::outbound
