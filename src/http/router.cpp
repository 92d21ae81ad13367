#include "http/router.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "base/text/ascii.h"
#include "base/text/characters.h"
#include "base/text/next_part.h"

namespace coffer::http {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Removes the next segment from `rest`, which starts with '/'.
std::string_view next_segment(std::string_view& rest) {
  rest.remove_prefix(1);
  const std::size_t end = std::min(rest.find('/'), rest.size());
  const std::string_view segment = rest.substr(0, end);
  rest.remove_prefix(end);
  return segment;
}

bool is_parameter(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

bool decode_segment(std::string_view raw, std::string& out) {
  if (!percent_decode(raw, false, out) || out.empty() || out == "." || out == "..") return false;
  return out.find('/') == std::string::npos && !ascii::has_control(out);
}

bool split_path(std::string_view path, std::vector<std::string>& out) {
  if (path.empty() || path.front() != '/') return false;
  if (path == "/") return true;
  while (!path.empty()) {
    if (!decode_segment(next_segment(path), out.emplace_back())) return false;
  }
  return true;
}

}  // namespace

bool percent_decode(std::string_view text, bool plus_is_space, std::string& out) {
  out.clear();
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out.push_back(' ');
      continue;
    }
    if (text[i] != '%') {
      if (text[i] == '\0') return false;
      out.push_back(text[i]);
      continue;
    }
    const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0 || high + low == 0) return false;
    out.push_back(static_cast<char>(high << 4 | low));
    i += 2;
  }
  return true;
}

bool read_query(std::string_view target, std::vector<std::pair<std::string, std::string>>& out) {
  bool is_good = true;
  std::string_view text = target.substr(std::min(target.find('?'), target.size() - 1) + 1);
  while (!text.empty()) {
    std::string_view pair = next_whole_part(text, '&');
    if (pair.empty()) continue;
    auto& [name, value] = out.emplace_back();
    is_good = percent_decode(next_whole_part(pair, '='), true, name) && is_good;
    is_good = percent_decode(pair, true, value) && is_good && is_utf8(name) && is_utf8(value);
  }
  return is_good;
}

struct Router::Node {
  struct Route {
    std::string method;
    std::size_t index;
    std::vector<std::string> parameter_names;
  };
  std::map<std::string, std::unique_ptr<Node>, std::less<>> literals;
  std::unique_ptr<Node> parameter;
  std::vector<Route> routes;
  std::string allow;

  Node& child(std::string_view segment) {
    std::unique_ptr<Node>& slot =
        is_parameter(segment) ? parameter : literals[std::string(segment)];
    if (!slot) slot = std::make_unique<Node>();
    return *slot;
  }

  const Route* route(std::string_view method) const {
    const auto named = [&](std::string_view name) {
      return [name](const Route& r) { return r.method == name; };
    };
    auto it = std::find_if(routes.begin(), routes.end(), named(method));
    if (it == routes.end() && method == "HEAD") {
      it = std::find_if(routes.begin(), routes.end(), named("GET"));
    }
    return it == routes.end() ? nullptr : &*it;
  }

  void rebuild_allow() {
    std::vector<std::string> methods;
    for (const Route& r : routes) methods.push_back(r.method);
    if (route("GET") != nullptr) methods.push_back("HEAD");
    methods.push_back("OPTIONS");
    std::sort(methods.begin(), methods.end());
    methods.erase(std::unique(methods.begin(), methods.end()), methods.end());
    allow.clear();
    for (const std::string& method : methods) allow += (allow.empty() ? "" : ", ") + method;
  }

  /// The node for these segments, if it has routes. Tries literals before the parameter, and
  /// appends parameter values to `values`.
  const Node* find(const std::vector<std::string>& segments, std::size_t at,
                   std::vector<const std::string*>& values) const {
    if (at == segments.size()) return routes.empty() ? nullptr : this;
    if (const auto it = literals.find(segments[at]); it != literals.end()) {
      if (const Node* found = it->second->find(segments, at + 1, values)) return found;
    }
    if (!parameter) return nullptr;
    values.push_back(&segments[at]);
    if (const Node* found = parameter->find(segments, at + 1, values)) return found;
    values.pop_back();
    return nullptr;
  }
};

Router::Router(const std::vector<RoutePattern>& table) : root_(std::make_unique<Node>()) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    const RoutePattern& entry = table[i];
    COFFER_CHECK(!entry.pattern.empty() && entry.pattern.front() == '/');
    Node* node = root_.get();
    std::vector<std::string> names;
    std::string_view rest = entry.pattern == "/" ? std::string_view{} : entry.pattern;
    while (!rest.empty()) {
      const std::string_view segment = next_segment(rest);
      COFFER_CHECK(!segment.empty());
      if (is_parameter(segment)) names.emplace_back(segment.substr(1, segment.size() - 2));
      node = &node->child(segment);
    }
    for (const Node::Route& other : node->routes) COFFER_CHECK(other.method != entry.method);
    node->routes.push_back({entry.method, i, std::move(names)});
    node->rebuild_allow();
  }
}

Router::~Router() = default;

RouteMatch Router::match(std::string_view method, std::string_view path) const {
  RouteMatch result;
  std::vector<std::string> segments;
  std::vector<const std::string*> values;
  if (!split_path(path, segments)) return result;
  const Node* node = root_->find(segments, 0, values);
  if (node == nullptr) return result;
  result.allow = node->allow;
  const Node::Route* route = node->route(method);
  if (route == nullptr) {
    result.kind = RouteMatch::Kind::method_not_allowed;
    return result;
  }
  result.kind = RouteMatch::Kind::found;
  result.index = route->index;
  for (std::size_t i = 0; i < values.size(); ++i) {
    result.params.emplace_back(route->parameter_names[i], *values[i]);
  }
  return result;
}

}  // namespace coffer::http
