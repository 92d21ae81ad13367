#include "http/document.h"

#include <zlib.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/digest.h"
#include "base/text/next_part.h"
#include "base/text/trimmed.h"

namespace coffer::http {
namespace {

bool is_zero_weight(std::string_view parameters) {
  while (!parameters.empty()) {
    std::string_view parameter = next_part(parameters, ';');
    if (!same_name(next_part(parameter, '='), "q")) continue;
    return parameter.find_first_not_of("0. \t") == std::string_view::npos;
  }
  return false;
}

std::string compress(std::string_view content) {
  constexpr int kGzip = 16 + MAX_WBITS;
  constexpr int kMemoryLevel = 9;
  z_stream stream{};
  COFFER_CHECK(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, kMemoryLevel,
                            Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, static_cast<uLong>(content.size())), '\0');
  // zlib does not write to its input, although its type is not const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  COFFER_CHECK(result == Z_STREAM_END);
  return out;
}

}  // namespace

bool has_entity_tag(std::string_view list, std::string_view tag) {
  if (trimmed(list) == "*") return true;
  while (!list.empty()) {
    std::string_view known = next_part(list, ',');
    if (known.starts_with("W/")) known.remove_prefix(2);
    if (known == tag) return true;
  }
  return false;
}

std::optional<bool> permits(std::string_view list, std::string_view element) {
  std::optional<bool> out;
  while (!list.empty()) {
    std::string_view parameters = next_part(list, ',');
    const std::string_view name = next_part(parameters, ';');
    if (same_name(name, element)) out = !is_zero_weight(parameters);
  }
  return out;
}

bool accepts_gzip(std::string_view accept_encoding) {
  for (const std::string_view name : {"gzip", "x-gzip", "*"}) {
    if (const auto permitted = permits(accept_encoding, name)) return *permitted;
  }
  return false;
}

Document::Document(std::string content_type, std::string content)
    : content_type_(std::move(content_type)), content_(std::move(content)) {
  const Sha256 digest = sha256(content_);
  const std::string id = to_hex(std::span(digest).first(16));
  tag_ = '"' + id + '"';
  gzip_ = compress(content_);
  if (gzip_.size() >= content_.size()) gzip_.clear();
  // Strong tags must differ between representations (RFC 9110 section 8.8.3.3).
  if (!gzip_.empty()) gzip_tag_ = '"' + id + "-gzip\"";
}

Response Document::respond(const Request& request) const {
  const std::string* accepted = request.header("Accept-Encoding");
  const bool compressed = !gzip_.empty() && accepted != nullptr && accepts_gzip(*accepted);
  const std::string& tag = compressed ? gzip_tag_ : tag_;
  const std::string* known = request.header("If-None-Match");
  Response response;
  response.header("ETag", tag);
  if (!gzip_.empty()) response.header("Vary", "Accept-Encoding");
  if (known != nullptr && has_entity_tag(*known, tag)) {
    response.status = 304;
    response.content_type.clear();
    return response;
  }
  response.content_type = content_type_;
  response.body = compressed ? gzip_ : content_;
  if (compressed) response.header("Content-Encoding", "gzip");
  return response;
}

}  // namespace coffer::http
