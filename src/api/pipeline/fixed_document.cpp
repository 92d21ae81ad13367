#include "api/pipeline/fixed_document.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/digest.h"

namespace coffer::api {
namespace {

/// RFC 9110 section 13.1.2: a list of tags, compared weakly, or `*`.
bool has_tag(std::string_view list, std::string_view etag) {
  if (list == "*") return true;
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    std::string_view tag = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    const auto begin = std::min(tag.find_first_not_of(" \t"), tag.size());
    tag = tag.substr(begin, tag.find_last_not_of(" \t") - begin + 1);
    if (tag.starts_with("W/")) tag.remove_prefix(2);
    if (tag == etag) return true;
  }
  return false;
}

std::string tag_of(const std::string& body) {
  const Sha256 digest = sha256(body);
  return '"' + to_hex(std::span(digest).first(16)) + '"';
}

}  // namespace

FixedDocument::FixedDocument(std::string body) : body_(std::move(body)), etag_(tag_of(body_)) {}

http::Response FixedDocument::response(const http::Request& request) const {
  http::Response response;
  const std::string* known = request.header("If-None-Match");
  if (known != nullptr && has_tag(*known, etag_)) {
    response.status = 304;
    response.content_type.clear();
  } else {
    response.body = body_;
  }
  return response.header("ETag", etag_);
}

}  // namespace coffer::api
