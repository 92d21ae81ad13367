// Documents that stay the same for as long as the process runs, served from memory.
#pragma once

#include <string>

#include "http/message.h"

namespace coffer::http {

/// One document with its entity tags and its gzip form, made once. Safe from any thread after that.
class Document {
 public:
  /// `content` is compressed here where that makes it smaller: some 10 ms for 300 KiB.
  Document(std::string content_type, std::string content);

  /// 200 with the form that `Accept-Encoding` allows, or 304 without a body when `If-None-Match`
  /// has the tag of that form (RFC 9110 sections 8.8.3, 12.5.3, 13.1.2). Sets ETag, and Vary where
  /// there are two forms; other headers are the caller's.
  Response respond(const Request& request) const;

 private:
  std::string content_type_;
  std::string content_;
  std::string gzip_;  // empty: not smaller
  std::string tag_;
  std::string gzip_tag_;
};

/// Whether a list of entity tags, or `*`, has `tag` by weak comparison. For If-None-Match.
bool has_entity_tag(std::string_view list, std::string_view tag);

/// Whether an Accept-Encoding allows gzip: named, or by `*`, and not with a weight of 0.
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace coffer::http
