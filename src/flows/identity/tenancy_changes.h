// The operator's side of tenancy: associations and applications (docs/contract.md#registration).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/strong.h"
#include "domain/identity/tenant.h"
#include "flows/context.h"
#include "store/identity/tenants.h"

namespace coffer::flows {

Result<store::AssociationRow> register_association(const Context& context, const std::string& name,
                                                   AssociationStatus status,
                                                   EntityType type = EntityType::business);
/// `not-found`, or `conflict` when the state table forbids the change.
Result<store::AssociationRow> change_association_status(const Context& context, AssociationId id,
                                                        AssociationStatus to);

/// Everything an application authenticates with. Shown once: only hashes are stored.
struct IssuedSecrets {
  std::string client_id;
  Secret client_secret;
  Secret api_key;
  Secret connect_secret;
  Secret sign_in_secret;
  std::string public_key;
  Secret secret_seed;  // empty when the caller brought its own public key
};

struct NewApplication {
  std::string name;
  std::optional<AssociationId> association;  // without one its calls answer `no-association`
  Environment environment = Environment::sandbox;
  ScopeSet scopes = ScopeSet::all();
  std::optional<std::string> public_key;  // the caller's own G... key
};

struct RegisteredApplication {
  store::ApplicationRow application;
  IssuedSecrets secrets;
};

/// Problems: `not-found` (association), `validation-failed` (public key), `conflict` (public key
/// registered already).
Result<RegisteredApplication> register_application(const Context& context,
                                                   const NewApplication& application);
inline constexpr int kOverlapHoursMax = 30 * 24;
/// New secrets. The old ones and every token issued before end with this commit, or after
/// `overlap_ms`; those of an earlier rotation end in any case.
Result<RegisteredApplication> rotate_application(const Context& context, ApplicationId id,
                                                 std::int64_t overlap_ms = 0);
/// The addresses that its secrets and tokens are accepted from; empty: any. `validation-failed`.
Result<store::ApplicationRow> change_networks(const Context& context, ApplicationId id,
                                              const std::vector<std::string>& networks);
/// SHA-256 fingerprints of the certificates of which a TLS client needs one, in hex with or without
/// colons; an empty list needs none.
Result<store::ApplicationRow> change_certificates(const Context& context, ApplicationId id,
                                                  const std::vector<std::string>& fingerprints);
/// Suspending ends every token at once; resuming lets the secrets work again.
Result<store::ApplicationRow> suspend_application(const Context& context, ApplicationId id,
                                                  bool suspended);
/// Tokens issued before the change end.
Result<store::ApplicationRow> change_scopes(const Context& context, ApplicationId id,
                                            ScopeSet scopes);

}  // namespace coffer::flows
