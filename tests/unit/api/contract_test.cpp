// docs/contract.md is complete: it contains every route and name of the API.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "api/pipeline/routes.h"
#include "base/problem.h"
#include "domain/payments/payment.h"
#include "domain/webhooks/event_type.h"
#include "source_dir.h"

using namespace coffer;

namespace {

std::string contract() {
  std::ifstream file(std::string(COFFER_SOURCE_DIR) + "/docs/contract.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Every path below /v1/ in the document, but for `/v1/business/...` and `/v1/connect-*`.
std::set<std::string> named_paths(const std::string& text) {
  constexpr std::string_view kPathChars =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/{}-_.";
  std::set<std::string> out;
  for (auto at = text.find("/v1/"); at != std::string::npos; at = text.find("/v1/", at + 1)) {
    const auto end = text.find_first_not_of(kPathChars, at);
    const std::string path = text.substr(at, end - at);
    const bool second_mount = at >= 3 && text.compare(at - 3, 3, "/gw") == 0;
    const bool family = text[end] == '*' || path.ends_with("...");
    if (!second_mount && !family) out.insert(path);
  }
  return out;
}

}  // namespace

TEST_CASE("contract: every route is documented, and no other path") {
  std::set<std::string> known;
  for (const api::Route& route : api::routes()) {
    if (route.pattern.starts_with("/v1/")) known.emplace(route.pattern);
  }
  const std::set<std::string> named = named_paths(contract());
  for (const std::string& path : known) {
    INFO(path);
    CHECK(named.contains(path));
  }
  for (const std::string& path : named) {
    INFO(path);
    const bool below = std::any_of(known.begin(), known.end(), [&](const std::string& route) {
      return path == route || path.starts_with(route + "/");
    });
    CHECK(below);
  }
}

TEST_CASE("contract: every problem, event type, payment type, status and scope is documented") {
  const std::string text = contract();
  const auto named = [&](std::string_view word) {
    INFO(word);
    CHECK(text.find("`" + std::string(word) + "`") != std::string::npos);
  };
  for (const SlugInfo& slug : slug_table()) named(slug.name);
  for (const Term& type : event_type_terms()) named(type.code);
  for (const Term& type : terms<PaymentType>()) named(type.code);
  for (const Term& status : terms<PaymentStatus>()) named(status.code);
  for (std::size_t i = 0; i < kScopeCount; ++i) {
    const std::string scope(name(static_cast<Scope>(i)));
    named(scope.substr(0, scope.find(':')));
  }
}
