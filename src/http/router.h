// Matches a method and a path against a fixed table by segments; no regular expressions.
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
  std::size_t index = 0;  // into the table given to the constructor, when found
  PathParams params;
  /// On every known path: "GET, HEAD, OPTIONS", for the Allow header. Lives as long as the router.
  std::string_view allow;
};

/// Immutable after construction; safe from any thread. A literal segment beats a parameter.
/// HEAD matches where GET does. OPTIONS without a route of its own is `method_not_allowed` with
/// `allow` filled: the pipeline answers it. A trailing slash, an empty segment, a dot segment or a
/// segment that decodes to something with '/' or a control byte matches nothing.
class Router {
 public:
  /// Throws InternalError on a table that names the same method and path twice.
  explicit Router(const std::vector<RoutePattern>& table);
  ~Router();
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  RouteMatch match(std::string_view method, std::string_view path) const;

 private:
  struct Node;
  std::unique_ptr<Node> root_;
};

/// Appends the decoded pairs of a target's query, in order; names may repeat. False when one has a
/// broken escape or a NUL. (The library drops a pair that comes twice, and lets broken ones pass.)
bool read_query(std::string_view target, std::vector<std::pair<std::string, std::string>>& out);

/// Percent-decodes one path segment or query part ('+' is a space only with `plus_is_space`).
/// False on a broken escape or a decoded NUL.
bool percent_decode(std::string_view text, bool plus_is_space, std::string& out);

}  // namespace coffer::http
