#include "flows/identity/tenancy_changes.h"

#include "auth/secret_hash.h"
#include "auth/strkey.h"
#include "auth/verifying_key.h"
#include "base/digest.h"
#include "base/limits/address_range.h"
#include "base/telemetry/log.h"
#include "base/text/ascii.h"
#include "base/text/join.h"
#include "domain/tables/text_field.h"
#include "flows/events.h"

namespace coffer::flows {
namespace {

Problem unknown_association() { return Problem(Slug::not_found, "The association was not found."); }

/// Creates secrets and stores their hashes in `row`. Also creates a key pair unless `own_key` is
/// set.
IssuedSecrets issue_secrets(const Context& context, store::ApplicationRow& row, bool own_key) {
  Random& random = context.random;
  const auth::SecretHasher& hasher = *context.hasher;
  IssuedSecrets secrets;
  secrets.client_id = row.client_id;
  secrets.client_secret = auth::generate_secret(random, auth::kClientSecretPrefix);
  secrets.api_key = auth::generate_secret(random, auth::kApiKeyPrefix);
  secrets.connect_secret = auth::generate_secret(random, auth::kConnectSecretPrefix);
  secrets.sign_in_secret = auth::generate_secret(random, auth::kSignInSecretPrefix);
  if (!own_key) {
    auth::KeyPair keys = auth::generate_key_pair(random);
    row.public_key = keys.public_key.to_string();
    secrets.secret_seed = std::move(keys.seed_text);
  }
  secrets.public_key = row.public_key;
  row.client_secret_hash = hasher.hash(secrets.client_secret.reveal());
  row.api_key_hash = hasher.hash(secrets.api_key.reveal());
  row.connect_hash = hasher.hash(secrets.connect_secret.reveal());
  row.sign_in_hash = hasher.hash(secrets.sign_in_secret.reveal());
  return secrets;
}

Result<void> check_public_key(store::Connection& db, const std::string& key) {
  const auto parsed = auth::PublicKey::parse(key);
  const bool is_sound = parsed && auth::is_sound_ed25519_key(as_text(parsed->bytes));
  if (!is_sound) {
    return unexpected(Problem(
        Slug::validation_failed, "The public key is not valid.",
        {{"publicKey",
          parsed
              ? "must be the public key of a new key pair: this one is not a point of the curve, "
                "or anyone can sign for it"
              : "must be a public key: G, 55 more characters and a correct checksum"}}));
  }
  for (const auto& other : store::list_applications(db)) {
    if (other.public_key == key) {
      return unexpected(Slug::conflict, "An application with this public key already exists.");
    }
  }
  return {};
}

Result<store::ApplicationRow> change_application(
    const Context& context, ApplicationId id,
    const std::function<void(store::ApplicationRow&)>& change) {
  return context.write([&](store::WriteTx& tx) -> Result<store::ApplicationRow> {
    COFFER_TRY(auto row, existing(store::find_application(tx.db(), id), "application"));
    change(row);
    store::update_application(tx, row);
    return row;
  });
}

/// Ends all tokens, including those of old secrets, by giving each secret a version that no token
/// has.
void end_tokens(store::ApplicationRow& row) {
  if (row.old) row.old->key_version = ++row.key_version;
  ++row.key_version;
}

Result<void> check_name(const std::string& name) {
  const std::string fault = name_fault(name);
  if (fault.empty()) return {};
  return unexpected(Problem(Slug::validation_failed, "The name " + fault + ".", {{"name", fault}}));
}

/// Converts any form that common tools print to the form of http::Request::client_certificate.
Result<std::string> fingerprint(const std::string& text) {
  std::string hex = ascii::to_lower(text);
  std::erase(hex, ':');
  if (hex.size() != 2 * Sha256().size() || !from_hex(hex)) {
    return unexpected(Slug::validation_failed,
                      "\"" + text +
                          "\" is not a SHA-256 fingerprint. Print it with \"openssl x509 -noout "
                          "-fingerprint -sha256 -in FILE\".");
  }
  return hex;
}

}  // namespace

Result<store::AssociationRow> register_association(const Context& context, const std::string& name,
                                                   AssociationStatus status, EntityType type) {
  COFFER_TRY_VOID(check_name(name));
  store::AssociationRow row;
  row.id = context.random.id<AssociationId>(context.clock.now());
  row.name = name;
  row.status = status;
  row.entity_type = type;
  return context.write([&](store::WriteTx& tx) {
    store::insert_association(tx, row);
    return *store::find_association(tx.db(), row.id);
  });
}

Result<store::AssociationRow> change_association_status(const Context& context, AssociationId id,
                                                        AssociationStatus to) {
  return context.write([&](store::WriteTx& tx) -> Result<store::AssociationRow> {
    COFFER_TRY(const auto row, existing(store::find_association(tx.db(), id), "association"));
    if (!may_change(row.status, to)) {
      return unexpected(Slug::conflict, "The association is " + std::string(name(row.status)) +
                                            " and cannot become " + std::string(name(to)) + ".");
    }
    store::set_association_status(tx, id, to);
    return *store::find_association(tx.db(), id);
  });
}

Result<RegisteredApplication> register_application(const Context& context,
                                                   const NewApplication& application) {
  COFFER_TRY_VOID(check_name(application.name));
  RegisteredApplication out;
  store::ApplicationRow& row = out.application;
  row.id = context.random.id<ApplicationId>(context.clock.now());
  row.environment = application.environment;
  row.name = application.name;
  row.scopes = application.scopes;
  row.client_id = "app_" + to_hex(context.random.bytes(12));
  row.public_key = application.public_key.value_or("");
  out.secrets = issue_secrets(context, row, application.public_key.has_value());
  COFFER_TRY_VOID(context.write([&](store::WriteTx& tx) -> Result<void> {
    COFFER_TRY_VOID(check_public_key(tx.db(), row.public_key));
    if (application.association) {
      row.tenant = store::find_tenant(tx.db(), *application.association, row.environment);
      if (!row.tenant) return unexpected(unknown_association());
    }
    store::insert_application(tx, row);
    row = *store::find_application(tx.db(), row.id);
    return {};
  }));
  return out;
}

Result<RegisteredApplication> rotate_application(const Context& context, ApplicationId id,
                                                 std::int64_t overlap_ms,
                                                 const std::optional<std::string>& public_key) {
  if (public_key && overlap_ms > 0) {
    return unexpected(Problem(
        Slug::validation_failed, "A key pair is replaced without an overlap.",
        {{"overlap-h", "must be 0 with another key pair, because the old one ends at once"}}));
  }
  RegisteredApplication out;
  const auto rotate = [&](store::WriteTx& tx) -> Result<store::ApplicationRow> {
    COFFER_TRY(auto row, existing(store::find_application(tx.db(), id), "application"));
    const bool is_given = public_key && !public_key->empty();
    if (is_given) COFFER_TRY_VOID(check_public_key(tx.db(), *public_key));
    if (is_given) row.public_key = *public_key;
    row.old.reset();
    if (overlap_ms > 0) {
      row.old =
          store::OldSecrets{row.client_secret_hash, row.api_key_hash, row.connect_hash,
                            row.sign_in_hash,       row.key_version,  tx.now().plus_ms(overlap_ms)};
    }
    // Without `public_key` the key pair stays, because clients know it and coffer has no seed.
    out.secrets = issue_secrets(context, row, is_given || !public_key);
    ++row.key_version;
    row.rotated_at = tx.now();
    store::update_application(tx, row);
    store::forget_ended_secrets(tx, row);
    if (row.tenant) {
      emit_event(tx, context.random, row.tenant->key, EventType::application_credentials_rotated,
                 row.key);
    }
    return row;
  };
  COFFER_TRY(out.application, context.write(rotate));
  log_info("identity", "credentials of an application were rotated",
           {{"application", id.to_string()},
            {"overlap_ms", overlap_ms},
            {"key_pair", public_key ? "replaced" : "kept"}});
  return out;
}

Result<store::ApplicationRow> suspend_application(const Context& context, ApplicationId id,
                                                  bool suspended) {
  return change_application(context, id, [&](store::ApplicationRow& row) {
    row.suspended = suspended;
    end_tokens(row);
  });
}

Result<store::ApplicationRow> change_scopes(const Context& context, ApplicationId id,
                                            ScopeSet scopes) {
  return change_application(context, id, [&](store::ApplicationRow& row) {
    row.scopes = scopes;
    end_tokens(row);
  });
}

Result<store::ApplicationRow> change_networks(const Context& context, ApplicationId id,
                                              const std::vector<std::string>& networks) {
  COFFER_TRY_VOID(AddressList::parse(networks));
  return change_application(
      context, id, [&](store::ApplicationRow& row) { row.networks = join(networks, ","); });
}

Result<store::ApplicationRow> change_certificates(const Context& context, ApplicationId id,
                                                  const std::vector<std::string>& fingerprints) {
  std::vector<std::string> list;
  for (const std::string& text : fingerprints) {
    COFFER_TRY(list.emplace_back(), fingerprint(text));
  }
  return change_application(
      context, id, [&](store::ApplicationRow& row) { row.certificates = join(list, ","); });
}

}  // namespace coffer::flows
