#include "cli/demo/demo_secrets.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "app/app.h"
#include "auth/password.h"
#include "auth/secret_hash.h"
#include "auth/strkey.h"
#include "base/clock.h"
#include "base/files/descriptor.h"
#include "base/files/durable_file.h"
#include "base/files/folders.h"
#include "base/files/ownership.h"
#include "base/files/side_files.h"
#include "base/telemetry/log.h"
#include "cli/command_result.h"
#include "flows/identity/operators.h"
#include "flows/identity/tenancy_changes.h"
#include "http/json_body.h"
#include "store/file/foreign_file.h"
#include "store/identity/tenants.h"
#include "store/schema.h"

namespace coffer::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kApplicationName = "Demo application";
constexpr std::size_t kFileBytesMax = 16 * 1024;

constexpr std::array<std::pair<std::string_view, std::string DemoSecrets::*>, 2> kTexts = {{
    {"clientId", &DemoSecrets::client_id},
    {"publicKey", &DemoSecrets::public_key},
}};
constexpr std::array<std::pair<std::string_view, Secret DemoSecrets::*>, 6> kSecrets = {{
    {"clientSecret", &DemoSecrets::client_secret},
    {"apiKey", &DemoSecrets::api_key},
    {"connectSecret", &DemoSecrets::connect_secret},
    {"signInSecret", &DemoSecrets::sign_in_secret},
    {"secretSeed", &DemoSecrets::secret_seed},
    {"adminPassword", &DemoSecrets::admin_password},
}};

/// Members that are missing or have another type stay empty, so nothing matches.
DemoSecrets parse(std::string_view text) {
  DemoSecrets out;
  const auto json = http::parse_json(text);
  if (!json) return out;
  const auto member = [&](std::string_view name) {
    const http::JsonValue* value = json->find(name);
    const std::string* found = value == nullptr ? nullptr : value->string();
    return found == nullptr ? std::string() : *found;
  };
  for (const auto& [name, target] : kTexts) out.*target = member(name);
  for (const auto& [name, target] : kSecrets) out.*target = Secret(member(name));
  return out;
}

/// Anyone who can plant this file could choose the keys of the demo.
Problem not_used(const std::string& path, const std::string& why) {
  return Problem(Slug::forbidden, "The file " + path + " is not used: " + why +
                                      ". Remove it, or choose another file for the demo with "
                                      "--db.");
}

/// Empty if the file does not exist.
Result<DemoSecrets> read(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open()) {
    if (errno == ENOENT) return DemoSecrets();
    return unexpected(
        not_used(path, errno == ELOOP ? "it is a symbolic link" : std::strerror(errno)));
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return unexpected(not_used(path, std::strerror(errno)));
  if (const std::string why = judge_secret_file(status, path).fault; !why.empty()) {
    return unexpected(not_used(path, why));
  }
  std::string text(kFileBytesMax, '\0');
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  if (size < 0) return unexpected(not_used(path, std::strerror(errno)));
  text.resize(static_cast<std::size_t>(size));
  return parse(text);
}

/// Called under the lock of the database, so no other demo writes the same file.
Result<void> write(const std::string& path, const DemoSecrets& secrets) {
  Record record;
  for (const auto& [name, member] : kTexts) record.emplace_back(std::string(name), secrets.*member);
  for (const auto& [name, member] : kSecrets) {
    record.emplace_back(std::string(name), secrets.*member);
  }
  const auto written = write_durably(path, to_json(record, false) + "\n");
  if (written) return {};
  return unexpected(written.error().slug,
                    written.error().detail + ". Choose another file for the demo with --db.");
}

bool has_key_pair(const DemoSecrets& secrets) {
  const auto key = auth::SigningKey::from_seed(secrets.secret_seed);
  return key && key->public_key().to_string() == secrets.public_key;
}

bool opens(const auth::SecretHasher& hasher, const DemoSecrets& secrets,
           const store::ApplicationRow& row) {
  return secrets.client_id == row.client_id && !row.suspended &&
         hasher.matches(row.client_secret_hash, secrets.client_secret.reveal()) &&
         hasher.matches(row.api_key_hash, secrets.api_key.reveal()) &&
         hasher.matches(row.connect_hash, secrets.connect_secret.reveal()) &&
         hasher.matches(row.sign_in_hash, secrets.sign_in_secret.reveal());
}

Result<std::optional<store::ApplicationRow>> find_by_key(App& app, const std::string& public_key) {
  using Found = std::optional<store::ApplicationRow>;
  return app.flows().read([&](store::Connection& db) {
    for (auto& row : store::list_applications(db)) {
      if (row.public_key == public_key) return Found(std::move(row));
    }
    return Found();
  });
}

/// Keeps the key pair, because only the caller knows its seed.
DemoSecrets joined(const DemoSecrets& keys, const flows::RegisteredApplication& registered) {
  const flows::IssuedSecrets& issued = registered.secrets;
  return {registered.application.id, issued.client_id, keys.public_key,
          issued.client_secret,      issued.api_key,   issued.connect_secret,
          issued.sign_in_secret,     keys.secret_seed, keys.admin_password};
}

Result<flows::RegisteredApplication> register_with(App& app, AssociationId association,
                                                   const std::string& public_key) {
  flows::NewApplication application;
  application.name = kApplicationName;
  application.association = association;
  application.public_key = public_key;
  return flows::register_application(app.flows(), application);
}

}  // namespace

std::string demo_secrets_path(const std::string& database) { return database + kDemoSecretsEnding; }

Result<bool> claim_demo(const std::string& database) {
  const std::string path = demo_secrets_path(database);
  static_cast<void>(make_private_folder(directory_of(path)));
  const Descriptor made(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (made.is_open() || errno != EEXIST) return made.is_open();
  COFFER_TRY(const DemoSecrets former, read(path));
  if (file_bytes(path) == 0 || has_key_pair(former)) return false;
  return unexpected(not_used(path, "it was not written by coffer demo"));
}

void drop_unused_claim(const std::string& database) {
  if (!store::holds_tables(database)) ::unlink(demo_secrets_path(database).c_str());
}

bool is_claimed_as_demo(const std::string& database) {
  std::error_code ignored;
  const std::string path = demo_secrets_path(database);
  return fs::exists(path, ignored) && read(path);
}

Result<DemoSecrets> ensure_demo_secrets(App& app, AssociationId association) {
  const std::string path = demo_secrets_path(app.database().path());
  COFFER_TRY(DemoSecrets secrets, read(path));
  if (!has_key_pair(secrets)) {
    const auth::KeyPair pair = auth::generate_key_pair(app.flows().random);
    secrets = {};
    secrets.public_key = pair.public_key.to_string();
    secrets.secret_seed = pair.seed_text;
    // Written before the application exists, so that its seed is never lost.
    COFFER_TRY_VOID(write(path, secrets));
  }
  COFFER_TRY(const auto row, find_by_key(app, secrets.public_key));
  if (row && opens(*app.flows().hasher, secrets, *row)) {
    secrets.application = row->id;
    return secrets;
  }
  if (row && row->suspended) {
    COFFER_TRY(const auto resumed, flows::suspend_application(app.flows(), row->id, false));
  }
  // Someone else may use the secrets that were issued since the file was written.
  if (row) {
    log_warning("demo", "the keys in the file were replaced; issued new ones, beside the others",
                {{"file", path}});
  }
  auto registered = row ? flows::rotate_application(app.flows(), row->id, kDayMs)
                        : register_with(app, association, secrets.public_key);
  if (!registered) return unexpected(std::move(registered).error());
  secrets = joined(secrets, *registered);
  COFFER_TRY_VOID(write(path, secrets));
  return secrets;
}

Result<void> ensure_demo_operator(App& app, DemoSecrets& secrets) {
  // The password is random, so guesses find nothing at any cost, and each start compares it.
  flows::Context flows = app.flows();
  flows.password_cost = {1, 1, 1};
  const std::string name(kDemoOperator);
  if (secrets.admin_password.empty()) {
    secrets.admin_password = auth::generate_password(flows.random);
    COFFER_TRY_VOID(write(demo_secrets_path(app.database().path()), secrets));
  }
  COFFER_TRY(const auto row,
             flows::ensure_administrator(flows, name, secrets.admin_password, false));
  const bool opens = row.password_hash && !row.suspended && !row.sealed_otp &&
                     auth::matches_password(*row.password_hash, secrets.admin_password.reveal());
  if (opens) return {};
  COFFER_TRY(const auto resumed, flows::suspend_operator(flows, name, false));
  COFFER_TRY(const auto invited, flows::reset_operator(flows, name));
  COFFER_TRY(const auto claimed,
             flows::claim_link(flows, invited.link.reveal(), std::nullopt, secrets.admin_password,
                               {"127.0.0.1", "127.0.0.1"}));
  return {};
}

}  // namespace coffer::cli
