// A request and a response in the form that tests use.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coffer::test {

using Json = nlohmann::ordered_json;
using HeaderList = std::vector<std::pair<std::string, std::string>>;

struct HttpCall {
  std::string method = "GET";
  std::string target = "/";  // path and query, as on the wire
  HeaderList headers = {};   // without Host and Content-Length
  std::string body = {};
};

struct Reply {
  int status = 0;
  HeaderList headers;
  std::string body;

  /// First header with this name; empty if absent.
  std::string header(std::string_view name) const;
  bool has_header(std::string_view name) const;
  /// Fails the test if the body is not JSON.
  Json json() const;
  /// `urn:coffer:problem:<slug>` without the prefix; empty for anything but a problem.
  std::string slug() const;
  /// `errors[].field` of a problem, in order.
  std::vector<std::string> fields() const;
  /// The message of a field; empty if the field has no error.
  std::string message(std::string_view field) const;
  /// Status and body in one line, for INFO.
  std::string text() const;
};

/// `text` without the parts of a problem that differ between two equal responses: instance,
/// requestId.
std::string without_identity(const Reply& reply);

/// RFC 3986 escapes for a value in a query.
std::string escaped(std::string_view value);

}  // namespace coffer::test
