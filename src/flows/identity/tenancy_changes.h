// Changes of associations and applications by the operator (docs/contract.md#registration).
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
/// `not-found`, or `conflict` if the state table does not permit the change.
Result<store::AssociationRow> change_association_status(const Context& context, AssociationId id,
                                                        AssociationStatus to);

/// All credentials of an application. They are shown once, because only hashes are stored.
struct IssuedSecrets {
  std::string client_id;
  Secret client_secret;
  Secret api_key;
  Secret connect_secret;
  Secret sign_in_secret;
  std::string public_key;
  Secret secret_seed;  // empty if the caller supplied a public key
};

struct NewApplication {
  std::string name;
  std::optional<AssociationId> association;  // without one, its requests get `no-association`
  Environment environment = Environment::sandbox;
  ScopeSet scopes = ScopeSet::all();
  std::optional<std::string> public_key;  // the caller's own G... key
};

struct RegisteredApplication {
  store::ApplicationRow application;
  IssuedSecrets secrets;
};

/// Problems: `not-found` (association), `validation-failed` (public key), `conflict` (public key
/// already registered).
Result<RegisteredApplication> register_application(const Context& context,
                                                   const NewApplication& application);
inline constexpr int kOverlapHoursMax = 30 * 24;
/// Issues new secrets. The old ones, and all tokens issued so far, end with this commit or after
/// `overlap_ms`. Secrets of an earlier rotation end immediately. `public_key` also replaces the key
/// pair: with the caller's own G... key, or with a new key pair if it is empty. That permits no
/// overlap, because a leaked key would stay valid. `not-found`, `validation-failed`, `conflict`
/// (public key already registered).
Result<RegisteredApplication> rotate_application(const Context& context, ApplicationId id,
                                                 std::int64_t overlap_ms = 0,
                                                 const std::optional<std::string>& public_key = {});
/// Sets the addresses from which its secrets and tokens are accepted; empty: any.
/// `validation-failed`.
Result<store::ApplicationRow> change_networks(const Context& context, ApplicationId id,
                                              const std::vector<std::string>& networks);
/// Sets the SHA-256 fingerprints of the accepted TLS client certificates, in hex with or without
/// colons. With an empty list, no certificate is required.
Result<store::ApplicationRow> change_certificates(const Context& context, ApplicationId id,
                                                  const std::vector<std::string>& fingerprints);
/// Suspending ends every token immediately; resuming makes the secrets valid again.
Result<store::ApplicationRow> suspend_application(const Context& context, ApplicationId id,
                                                  bool suspended);
/// Ends all tokens that were issued before the change.
Result<store::ApplicationRow> change_scopes(const Context& context, ApplicationId id,
                                            ScopeSet scopes);

}  // namespace coffer::flows
