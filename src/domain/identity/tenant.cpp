#include "domain/identity/tenant.h"

#include <algorithm>
#include <array>

#include "base/text/nearest.h"
#include "base/text/next_part.h"

namespace coffer {
namespace {

constexpr std::array<std::string_view, 2> kEnvironments{"sandbox", "production"};
constexpr std::array<std::string_view, 3> kAssociationStatuses{"pending", "active", "suspended"};
constexpr std::array<std::string_view, kScopeCount> kScopes{
    "wallets:read",    "wallets:write",    "beneficiaries:read", "beneficiaries:write",
    "connectors:read", "connectors:write", "quotes:read",        "quotes:write",
    "payments:read",   "payments:write",   "transactions:read",  "transactions:write",
    "statements:read", "statements:write", "webhooks:read",      "webhooks:write",
    "references:read", "references:write", "associations:read",  "associations:write",
    "connect:read",    "connect:write",
};

/// The enumerator whose position in `names` has this text.
template <class Enum, std::size_t Count>
std::optional<Enum> find_name(const std::array<std::string_view, Count>& names,
                              std::string_view text) {
  const auto it = std::find(names.begin(), names.end(), text);
  if (it == names.end()) return std::nullopt;
  return static_cast<Enum>(it - names.begin());
}

Problem unknown_scope(std::string_view word) {
  constexpr std::size_t kShown = 64;
  const std::string shown(word.substr(0, kShown));
  const std::string meant = did_you_mean(shown, kScopes);
  const std::string rule = "; scopes have the form `resource:action`, such as `" +
                           std::string(kScopes.front()) + "`, separated by spaces.";
  return Problem(Slug::malformed_request, "The requested scope does not exist.",
                 {{"scope", "`" + shown + "` is not a scope" + (meant.empty() ? rule : meant)}});
}

}  // namespace

std::string_view name(Environment environment) {
  return kEnvironments.at(static_cast<std::size_t>(environment));
}

std::optional<Environment> parse_environment(std::string_view text) {
  return find_name<Environment>(kEnvironments, text);
}

std::string_view name(AssociationStatus status) {
  return kAssociationStatuses.at(static_cast<std::size_t>(status));
}

std::optional<AssociationStatus> parse_association_status(std::string_view text) {
  return find_name<AssociationStatus>(kAssociationStatuses, text);
}

bool may_change(AssociationStatus from, AssociationStatus to) {
  switch (from) {
    case AssociationStatus::pending:
    case AssociationStatus::suspended:
      return to == AssociationStatus::active;
    case AssociationStatus::active:
      return to == AssociationStatus::suspended;
  }
  return false;
}

std::string_view name(Scope scope) { return kScopes.at(static_cast<std::size_t>(scope)); }

std::optional<Scope> parse_scope(std::string_view text) { return find_name<Scope>(kScopes, text); }

Result<ScopeSet> ScopeSet::parse(std::string_view text) {
  ScopeSet set;
  while (!text.empty()) {
    const std::string_view word = next_whole_part(text, ' ');
    if (word.empty()) continue;
    const auto scope = parse_scope(word);
    if (!scope) return unexpected(unknown_scope(word));
    set = set.with(*scope);
  }
  return set;
}

std::string ScopeSet::to_string() const {
  std::string text;
  for (std::size_t i = 0; i < kScopeCount; ++i) {
    if (!contains(static_cast<Scope>(i))) continue;
    if (!text.empty()) text.push_back(' ');
    text.append(kScopes[i]);
  }
  return text;
}

Result<void> require_scope(const Caller& caller, Scope scope) {
  if (caller.scopes.contains(scope)) return {};
  return unexpected(Slug::insufficient_scope,
                    "The token lacks the scope `" + std::string(name(scope)) + "`.");
}

Result<void> require_active(AssociationStatus status) {
  switch (status) {
    case AssociationStatus::active:
      return {};
    case AssociationStatus::pending:
      return unexpected(
          Slug::forbidden,
          "The association is pending. Only an active association can move money. Ask "
          "the operator to activate it.");
    case AssociationStatus::suspended:
      return unexpected(
          Slug::association_suspended,
          "The association is suspended. It can read, but it cannot move money. Ask the "
          "operator to activate it.");
  }
  return unexpected(Slug::association_suspended);
}

}  // namespace coffer
