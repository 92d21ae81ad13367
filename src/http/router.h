// Matches a method and a path against a fixed table by path segments, without regular expressions.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coffer::http {

/// `{name}` segments of a pattern with their percent-decoded values.
using PathParams = std::vector<std::pair<std::string, std::string>>;

struct RoutePattern {
  std::string method;   // upper case
  std::string pattern;  // "/v1/wallets/{walletId}"
};

struct RouteMatch {
  enum class Kind { found, not_found, method_not_allowed };
  Kind kind = Kind::not_found;
  std::size_t index = 0;  // if found, the index in the table of the constructor
  PathParams params;
  /// For every known path: the value of the Allow header, such as "GET, HEAD, OPTIONS". Valid as
  /// long as the router.
  std::string_view allow;
};

/// Immutable after construction; thread-safe. A literal segment takes precedence over a parameter.
/// HEAD matches where GET does. OPTIONS without its own route is `method_not_allowed` with `allow`
/// set, and the pipeline responds to it. A trailing slash, an empty segment, a dot segment, and a
/// segment that decodes to text with '/' or a control byte match nothing.
class Router {
 public:
  /// Throws InternalError if the table contains the same method and path twice.
  explicit Router(const std::vector<RoutePattern>& table);
  ~Router();
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  RouteMatch match(std::string_view method, std::string_view path) const;

 private:
  struct Node;
  std::unique_ptr<Node> root_;
};

/// Appends the decoded pairs of a target's query, in order; names may repeat. Returns false for an
/// invalid escape or a NUL. (cpp-httplib drops repeated pairs and accepts invalid escapes.)
bool read_query(std::string_view target, std::vector<std::pair<std::string, std::string>>& out);

/// Percent-decodes a path segment or query part. '+' becomes a space only with `plus_is_space`.
/// Returns false for an invalid escape or a decoded NUL.
bool percent_decode(std::string_view text, bool plus_is_space, std::string& out);

}  // namespace coffer::http
