// Documents that do not change while the process runs, served from memory.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"

namespace coffer::http {

/// One document with its entity tags and its gzip form, computed once. Thread-safe after
/// construction.
class Document {
 public:
  /// Compresses `content` if that makes it smaller, which takes about 10 ms for 300 KiB.
  Document(std::string content_type, std::string content);

  /// 200 with the form that `Accept-Encoding` permits, or 304 without a body if `If-None-Match`
  /// contains the tag of that form (RFC 9110 sections 8.8.3, 12.5.3, 13.1.2). Sets ETag, and Vary
  /// if there are two forms. The caller sets other headers.
  Response respond(const Request& request) const;

 private:
  std::string content_type_;
  std::string content_;
  std::string gzip_;  // empty if not smaller than the content
  std::string tag_;
  std::string gzip_tag_;
};

/// Whether a list of entity tags, or `*`, matches `tag` by weak comparison. For If-None-Match.
bool has_entity_tag(std::string_view list, std::string_view tag);

/// Whether an Accept, Accept-Encoding or similar list permits an element, in any case, with a
/// weight other than 0 (RFC 9110 section 12.4.2); nullopt if the list does not name it.
std::optional<bool> permits(std::string_view list, std::string_view element);

/// Whether an Accept-Encoding permits gzip, by name or by `*`, with a weight other than 0.
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace coffer::http
