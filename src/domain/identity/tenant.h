// The caller of a request, its tenant, and its permissions (docs/contract.md#registration). The
// store keeps the enums of this file as integers: append, never reorder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "domain/ids.h"
#include "domain/tables/terms.h"

namespace coffer {

enum class Environment { sandbox, production };
template <>
struct Terms<Environment> {
  static constexpr auto rows = std::to_array<Term>({{"sandbox"}, {"production"}});
};

enum class AssociationStatus { pending, active, suspended };
template <>
struct Terms<AssociationStatus> {
  static constexpr auto rows = std::to_array<Term>({{"pending"}, {"active"}, {"suspended"}});
};
/// pending -> active <-> suspended. Keeping the status is not a transition.
bool may_change(AssociationStatus from, AssociationStatus to);

enum class Scope {
  wallets_read,
  wallets_write,
  beneficiaries_read,
  beneficiaries_write,
  connectors_read,
  connectors_write,
  quotes_read,
  quotes_write,
  payments_read,
  payments_write,
  transactions_read,
  transactions_write,
  statements_read,
  statements_write,
  webhooks_read,
  webhooks_write,
  references_read,
  references_write,
  associations_read,
  associations_write,
  connect_read,
  connect_write,
};

/// `resource:action`.
template <>
struct Terms<Scope> {
  static constexpr auto rows = std::to_array<Term>(
      {{"wallets:read"},    {"wallets:write"},    {"beneficiaries:read"}, {"beneficiaries:write"},
       {"connectors:read"}, {"connectors:write"}, {"quotes:read"},        {"quotes:write"},
       {"payments:read"},   {"payments:write"},   {"transactions:read"},  {"transactions:write"},
       {"statements:read"}, {"statements:write"}, {"webhooks:read"},      {"webhooks:write"},
       {"references:read"}, {"references:write"}, {"associations:read"},  {"associations:write"},
       {"connect:read"},    {"connect:write"}});
};
inline constexpr std::size_t kScopeCount = Terms<Scope>::rows.size();

/// A set of scopes. Writing does not include reading; each scope is granted separately.
class ScopeSet {
 public:
  constexpr ScopeSet() = default;

  static constexpr ScopeSet all() { return ScopeSet((std::uint32_t{1} << kScopeCount) - 1); }
  /// Parses names separated by spaces (RFC 6749 section 3.3). Blank text is the empty set, which
  /// permits nothing; a caller for which an absent `scope` means all handles this before the call.
  /// An unknown name is `malformed-request` on the field `scope` (OAuth's `invalid_scope` is also a
  /// 400).
  static Result<ScopeSet> parse(std::string_view text);

  /// The stored form, one bit per scope in enum order. from_bits drops unknown bits.
  constexpr std::uint32_t bits() const { return bits_; }
  static constexpr ScopeSet from_bits(std::uint32_t bits) {
    return ScopeSet(bits).intersect(all());
  }

  constexpr bool contains(Scope scope) const { return (bits_ & bit(scope)) != 0; }
  constexpr bool contains(ScopeSet other) const { return (bits_ & other.bits_) == other.bits_; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr ScopeSet with(Scope scope) const { return ScopeSet(bits_ | bit(scope)); }
  constexpr ScopeSet intersect(ScopeSet other) const { return ScopeSet(bits_ & other.bits_); }
  /// Names in enum order, separated by spaces, as in tokens and responses.
  std::string to_string() const;

  constexpr bool operator==(const ScopeSet&) const = default;

 private:
  constexpr explicit ScopeSet(std::uint32_t bits) : bits_(bits) {}
  static constexpr std::uint32_t bit(Scope scope) {
    return std::uint32_t{1} << static_cast<unsigned>(scope);
  }
  std::uint32_t bits_ = 0;
};

/// Separates customers and environments. Every store function on tenant data takes a Tenant as
/// first parameter, so a call without it does not compile.
struct Tenant {
  std::int64_t key = 0;  // row key of the (association, environment) pair
  AssociationId association;
  Environment environment = Environment::sandbox;
  bool operator==(const Tenant&) const = default;
};

/// An authenticated application with its association, which the pipeline passes to handlers.
struct Caller {
  ApplicationId application;
  std::int64_t application_key = 0;  // row key of the application
  Tenant tenant;
  AssociationStatus association_status = AssociationStatus::pending;
  ScopeSet scopes;
};

/// 403 `insufficient-scope` with the scope if the caller lacks it.
Result<void> require_scope(const Caller& caller, Scope scope);
/// 403 `association-suspended` unless the association is active. Suspended and pending associations
/// can read but not move money (docs/contract.md#registration).
Result<void> require_active(AssociationStatus status);

}  // namespace coffer
