#include "domain/identity/tenant.h"

#include "base/text/nearest.h"
#include "base/text/next_part.h"

namespace coffer {
namespace {

Problem unknown_scope(std::string_view word) {
  constexpr std::size_t kShown = 64;
  const std::string shown(word.substr(0, kShown));
  const std::string meant = did_you_mean(shown, term_codes(terms<Scope>()));
  const std::string rule = "; scopes have the form `resource:action`, such as `" +
                           std::string(terms<Scope>().front().code) + "`, separated by spaces.";
  return Problem(Slug::malformed_request, "The requested scope does not exist.",
                 {{"scope", "`" + shown + "` is not a scope" + (meant.empty() ? rule : meant)}});
}

}  // namespace

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

Result<ScopeSet> ScopeSet::parse(std::string_view text) {
  ScopeSet set;
  while (!text.empty()) {
    const std::string_view word = next_whole_part(text, ' ');
    if (word.empty()) continue;
    const auto scope = parse_term<Scope>(word);
    if (!scope) return unexpected(unknown_scope(word));
    set = set.with(*scope);
  }
  return set;
}

std::string ScopeSet::to_string() const {
  return joined_terms<Scope>(" ", [&](Scope scope) { return contains(scope); });
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
