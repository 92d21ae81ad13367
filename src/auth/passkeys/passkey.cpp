#include "auth/passkeys/passkey.h"

#include <map>
#include <nlohmann/json.hpp>

#include "auth/passkeys/cbor.h"
#include "base/digest.h"

namespace coffer::auth {
namespace {

// Flags of the authenticator data.
constexpr std::uint8_t kUserPresent = 0x01;
constexpr std::uint8_t kUserVerified = 0x04;
constexpr std::uint8_t kBackupEligible = 0x08;
constexpr std::uint8_t kBackedUp = 0x10;
constexpr std::uint8_t kHasCredential = 0x40;
constexpr std::uint8_t kHasExtensions = 0x80;

constexpr std::size_t kRpIdHashBytes = 32;
constexpr std::size_t kModelBytes = 16;
constexpr std::size_t kChallengeBytesMax = 128;

// Labels and values of COSE keys (RFC 9052 section 7, RFC 9053 section 7).
constexpr std::int64_t kKeyType = 1, kAlgorithm = 3;
constexpr std::int64_t kCurve = -1, kX = -2, kY = -3;  // of EC2 and OKP
constexpr std::int64_t kModulus = -1, kExponent = -2;  // of RSA
constexpr std::int64_t kTypeOkp = 1, kTypeEc2 = 2, kTypeRsa = 3;
constexpr std::int64_t kEs256 = -7, kEdDsa = -8, kRs256 = -257;
constexpr std::int64_t kP256 = 1, kEd25519 = 6;
constexpr std::uint64_t kMembersMax = 8;

struct CoseKey {
  std::map<std::int64_t, std::int64_t> numbers;
  std::map<std::int64_t, std::string_view> texts;

  bool is(std::int64_t label, std::int64_t value) const {
    const auto found = numbers.find(label);
    return found != numbers.end() && found->second == value;
  }
  std::string_view text(std::int64_t label) const {
    const auto found = texts.find(label);
    return found == texts.end() ? std::string_view() : found->second;
  }
};

/// The members of all three key types; nullopt for a map with other members.
std::optional<CoseKey> read_cose_map(CborReader& reader) {
  CoseKey out;
  const auto count = reader.map();
  if (!count || *count > kMembersMax) return std::nullopt;
  for (std::uint64_t i = 0; i < *count; ++i) {
    const auto label = reader.integer();
    if (!label || out.numbers.contains(*label) || out.texts.contains(*label)) return std::nullopt;
    CborReader ahead = reader;
    if (const auto text = ahead.bytes()) {
      out.texts[*label] = *text;
      reader = ahead;
      continue;
    }
    const auto number = reader.integer();
    if (!number) return std::nullopt;
    out.numbers[*label] = *number;
  }
  return out;
}

std::optional<VerifyingKey> key_of(const CoseKey& key) {
  if (key.is(kKeyType, kTypeEc2) && key.is(kAlgorithm, kEs256) && key.is(kCurve, kP256)) {
    return VerifyingKey::p256(key.text(kX), key.text(kY));
  }
  if (key.is(kKeyType, kTypeOkp) && key.is(kAlgorithm, kEdDsa) && key.is(kCurve, kEd25519)) {
    return VerifyingKey::ed25519(key.text(kX));
  }
  if (key.is(kKeyType, kTypeRsa) && key.is(kAlgorithm, kRs256)) {
    return VerifyingKey::rsa(key.text(kModulus), key.text(kExponent));
  }
  return std::nullopt;
}

/// The error, or an empty text; sets `challenge` if there is no error.
std::string check_client_data(const std::string& text, std::string_view type,
                              const RelyingParty& party, std::string& challenge) {
  const auto data = text.size() > kPasskeyPartBytesMax
                        ? nlohmann::json()
                        : nlohmann::json::parse(text, nullptr, false);
  if (!data.is_object()) return "the client data is not a JSON object";
  const auto member = [&](const char* name) {
    const auto found = data.find(name);
    return found != data.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (member("type") != type) return "the client data is of another type";
  if (member("origin") != party.origin) return "the origin differs from that of this page";
  const auto cross = data.find("crossOrigin");
  if (cross != data.end() && *cross != nlohmann::json(false))
    return "the page is embedded in another page";
  if (data.contains("topOrigin")) return "the page is embedded in another page";
  auto raw = from_base64url(member("challenge"));
  if (!raw || raw->empty() || raw->size() > kChallengeBytesMax) return "the challenge is invalid";
  challenge = *std::move(raw);
  return {};
}

struct AuthenticatorData {
  std::uint8_t flags = 0;
  std::uint32_t sign_count = 0;
  std::string_view credential_id;
  std::string_view public_key;

  bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
};

/// Reads the credential at the start of `rest` and removes it.
bool read_credential(std::string_view& rest, AuthenticatorData& out) {
  if (rest.size() < kModelBytes + 2) return false;
  const std::size_t size = from_big_endian(rest.substr(kModelBytes, 2));
  rest.remove_prefix(kModelBytes + 2);
  if (size < kCredentialIdBytesMin || size > kCredentialIdBytesMax || size > rest.size()) {
    return false;
  }
  out.credential_id = rest.substr(0, size);
  rest.remove_prefix(size);
  CborReader reader(rest);
  if (!reader.skip()) return false;
  out.public_key = rest.substr(0, rest.size() - reader.rest().size());
  rest = reader.rest();
  return true;
}

/// nullopt if malformed, truncated, or followed by other bytes.
std::optional<AuthenticatorData> read_authenticator_data(std::string_view bytes,
                                                         std::string_view& rp_id_hash) {
  constexpr std::size_t kHeadBytes = kRpIdHashBytes + 1 + 4;
  if (bytes.size() < kHeadBytes || bytes.size() > kPasskeyPartBytesMax) return std::nullopt;
  AuthenticatorData out;
  rp_id_hash = bytes.substr(0, kRpIdHashBytes);
  out.flags = static_cast<std::uint8_t>(bytes[kRpIdHashBytes]);
  out.sign_count = static_cast<std::uint32_t>(from_big_endian(bytes.substr(kRpIdHashBytes + 1, 4)));
  std::string_view rest = bytes.substr(kHeadBytes);
  if (out.has(kHasCredential) && !read_credential(rest, out)) return std::nullopt;
  if (out.has(kHasExtensions)) {
    CborReader reader(rest);
    if (CborReader ahead = reader; !ahead.map() || !reader.skip()) return std::nullopt;
    rest = reader.rest();
  }
  if (!rest.empty() || (out.has(kBackedUp) && !out.has(kBackupEligible))) return std::nullopt;
  return out;
}

/// The error, or an empty text.
std::string check_authenticator_data(std::string_view bytes, const RelyingParty& party,
                                     AuthenticatorData& out) {
  std::string_view hash;
  const auto data = read_authenticator_data(bytes, hash);
  if (!data) return "the authenticator data is invalid";
  if (hash != as_text(sha256(party.id))) return "the passkey is for another site";
  if (!data->has(kUserPresent)) return "the user was not present";
  out = *data;
  return {};
}

/// The authenticator data of an attestation object; empty if malformed.
std::string_view authenticator_data_of(std::string_view object) {
  CborReader reader(object);
  const auto count = object.size() > kPasskeyPartBytesMax ? std::nullopt : reader.map();
  if (count != std::optional<std::uint64_t>(3)) return {};
  std::string_view data;
  bool has_format = false, has_statement = false;
  for (std::uint64_t i = 0; i < *count; ++i) {
    const auto name = reader.text();
    if (name == "fmt") {
      if (!reader.text()) return {};
      has_format = true;
    } else if (name == "attStmt") {
      if (CborReader ahead = reader; !ahead.map() || !reader.skip()) return {};
      has_statement = true;
    } else if (name == "authData") {
      data = reader.bytes().value_or(std::string_view());
    } else {
      return {};
    }
  }
  return has_format && has_statement && reader.rest().empty() ? data : std::string_view();
}

Unexpected not_registered(const std::string& why) {
  return unexpected(Slug::validation_failed, "The passkey was not accepted: " + why + ".");
}
Unexpected not_verified(const std::string& why) { return unexpected(Slug::unauthorized, why); }

}  // namespace

std::optional<VerifyingKey> read_cose_key(std::string_view bytes) {
  CborReader reader(bytes);
  const auto key = read_cose_map(reader);
  if (!key || !reader.rest().empty()) return std::nullopt;
  return key_of(*key);
}

Result<NewPasskey> verify_registration(const PasskeyRegistration& response,
                                       const RelyingParty& party) {
  NewPasskey out;
  std::string why =
      check_client_data(response.client_data, "webauthn.create", party, out.challenge);
  if (!why.empty()) return not_registered(why);
  AuthenticatorData data;
  why = check_authenticator_data(authenticator_data_of(response.attestation_object), party, data);
  if (!why.empty()) return not_registered(why);
  if (!data.has(kHasCredential)) return not_registered("its public key is missing");
  if (!read_cose_key(data.public_key)) {
    return not_registered(
        "its public key is invalid, or its algorithm is not ES256, EdDSA or RS256");
  }
  out.credential_id = data.credential_id;
  out.public_key = data.public_key;
  out.sign_count = data.sign_count;
  return out;
}

Result<VerifiedAssertion> verify_assertion(const PasskeyAssertion& response,
                                           std::string_view public_key, const RelyingParty& party) {
  VerifiedAssertion out;
  std::string why = check_client_data(response.client_data, "webauthn.get", party, out.challenge);
  if (!why.empty()) return not_verified(why);
  AuthenticatorData data;
  why = check_authenticator_data(response.authenticator_data, party, data);
  if (!why.empty()) return not_verified(why);
  if (data.has(kHasCredential)) return not_verified("the authenticator data is invalid");
  const auto key = read_cose_key(public_key);
  const std::string message =
      response.authenticator_data + std::string(as_text(sha256(response.client_data)));
  if (!key || !key->verifies(message, response.signature)) {
    return not_verified("the signature is wrong");
  }
  out.sign_count = data.sign_count;
  out.user_verified = data.has(kUserVerified);
  return out;
}

bool is_next_sign_count(std::uint32_t stored, std::uint32_t sent) {
  return sent > stored || (sent == 0 && stored == 0);
}

}  // namespace coffer::auth
