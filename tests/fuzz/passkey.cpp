// Passkeys: the input as CBOR, as a COSE key, as an attestation object, and as client data and
// authenticator data (one line, and the rest) with a valid signature.
#include "auth/passkeys/passkey.h"

#include "auth/passkeys/cbor.h"
#include "auth/strkey.h"
#include "base/digest.h"
#include "fuzz/property.h"

namespace coffer::fuzz {
namespace {

using namespace auth;

const RelyingParty kParty{"pay.example", "https://pay.example"};
const std::string kCreated =
    R"({"type":"webauthn.create","challenge":"eHh4","origin":"https://pay.example"})";
const std::string kSigned =
    R"({"type":"webauthn.get","challenge":"eHh4","origin":"https://pay.example"})";

SigningKey make_key() {
  SeededRandom random(3);
  return *SigningKey::from_seed(generate_key_pair(random).seed_text);
}

/// An Ed25519 key as COSE.
std::string cose(const SigningKey& key) {
  return *from_hex("a4010103272006215820") + std::string(as_text(key.public_key().bytes));
}

void check_cbor(std::string_view input) {
  CborReader reader(input);
  if (!reader.skip()) return;
  HOLDS(reader.rest().size() < input.size() && input.ends_with(reader.rest()));
  // A skipped item is complete, and no prefix of it is.
  const std::string_view item = input.substr(0, input.size() - reader.rest().size());
  CborReader again(item);
  HOLDS(again.skip() && again.rest().empty());
  CborReader shorter(item.substr(0, item.size() - 1));
  HOLDS(!shorter.skip() || !shorter.rest().empty());
}

void check_registration(std::string_view input) {
  const auto made = verify_registration({kCreated, std::string(input)}, kParty);
  if (!made) return;
  HOLDS(made->challenge == "xxx" && read_cose_key(made->public_key).has_value());
  HOLDS(made->credential_id.size() >= kCredentialIdBytesMin);
  HOLDS(made->credential_id.size() <= kCredentialIdBytesMax);
  HOLDS(input.find(as_text(sha256(kParty.id))) != std::string_view::npos);
  HOLDS(!verify_registration({kSigned, std::string(input)}, kParty));
  HOLDS(!verify_registration({kCreated, std::string(input) + '\0'}, kParty));
  HOLDS(!verify_registration({kCreated, std::string(input)}, {"other.example", kParty.origin}));
}

void check_assertion(const std::string& client_data, const std::string& data) {
  static const SigningKey key = make_key();
  static const std::string public_key = cose(key);
  const std::string message = data + std::string(as_text(sha256(client_data)));
  PasskeyAssertion made{std::string(16, 'c'), client_data, data,
                        std::string(as_text(key.sign(message)))};
  const auto used = verify_assertion(made, public_key, kParty);
  if (used) {
    HOLDS(data.starts_with(as_text(sha256(kParty.id))) && (data[32] & 1) != 0);
    HOLDS(client_data.find("webauthn.get") != std::string::npos);
    HOLDS(!verify_assertion(made, public_key, {kParty.id, "https://other.example"}));
  }
  made.signature[0] = static_cast<char>(made.signature[0] ^ 1);
  HOLDS(!verify_assertion(made, public_key, kParty));
}

void check(std::string_view input) {
  check_cbor(input);
  if (const auto key = read_cose_key(input)) {
    HOLDS(!key->verifies("message", std::string(64, '\1')));
    HOLDS(!read_cose_key(std::string(input) + '\0'));
  }
  check_registration(input);
  check_assertion(kSigned, std::string(input));
  const auto [client_data, data] = split(input, '\n');
  check_assertion(std::string(client_data), std::string(data));
}

}  // namespace
}  // namespace coffer::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  coffer::fuzz::check(coffer::fuzz::text_of(data, size));
  return 0;
}
