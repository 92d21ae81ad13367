// HTML form bodies, for login routes that standard OAuth and SEP-10 clients call.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace coffer::api {

/// The parameters of an application/x-www-form-urlencoded body, which has the same syntax as a
/// query. A parameter without a value counts as omitted (RFC 6749 section 3.1).
class FormBody {
 public:
  /// `malformed-request` with every repeated parameter, or for an invalid escape or a NUL.
  static Result<FormBody> parse(std::string_view body);

  std::optional<std::string> value(const std::string& name) const;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace coffer::api
