// A response that is the same for every client as long as this binary runs.
#pragma once

#include <string>

#include "http/message.h"

namespace coffer::api {

/// Made once and kept, with an ETag (RFC 9110 section 8.8.3). Immutable.
class FixedDocument {
 public:
  explicit FixedDocument(std::string body);
  /// 200, or 304 where the client's copy is current.
  http::Response response(const http::Request& request) const;

 private:
  const std::string body_;
  const std::string etag_;
};

}  // namespace coffer::api
