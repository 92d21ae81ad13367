// An authenticator with one passkey, in software: what a browser would send, and what it would not.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "base/digest.h"
#include "support/token_issuer.h"

namespace coffer::test {

/// CBOR (RFC 8949) of what passkeys consist of.
inline std::string cbor_head(std::uint8_t type, std::uint64_t value) {
  const auto major = static_cast<char>(type << 5);
  if (value < 24) return {static_cast<char>(major | static_cast<char>(value))};
  if (value < 256) return {static_cast<char>(major | 24), static_cast<char>(value)};
  return {static_cast<char>(major | 25), static_cast<char>(value >> 8), static_cast<char>(value)};
}
inline std::string cbor_number(std::int64_t value) {
  return value >= 0 ? cbor_head(0, static_cast<std::uint64_t>(value))
                    : cbor_head(1, static_cast<std::uint64_t>(-1 - value));
}
inline std::string cbor_bytes(const std::string& value) {
  return cbor_head(2, value.size()) + value;
}
inline std::string cbor_text(const std::string& value) {
  return cbor_head(3, value.size()) + value;
}

class Authenticator {
 public:
  using Json = nlohmann::json;

  /// Fields are free: a test changes what it wants to be wrong.
  explicit Authenticator(IssuerKey key) : key_(std::move(key)) {}

  std::string credential_id = std::string(32, 'c');
  std::string origin = "https://pay.example";
  std::string site = "pay.example";
  std::string user_handle = std::string(16, 'u');
  std::uint8_t flags = kPresent | kVerified;
  std::uint32_t counter = 1;
  Json client_extra = Json::object();  // members that replace those of the client data

  static constexpr std::uint8_t kPresent = 0x01, kVerified = 0x04, kHasCredential = 0x40;

  std::string client_data(const std::string& type, const std::string& challenge) const {
    Json out{{"type", type},
             {"challenge", to_base64url(challenge)},
             {"origin", origin},
             {"crossOrigin", false}};
    out.update(client_extra);
    return out.dump();
  }

  std::string authenticator_data(bool with_key) const {
    std::string out(as_text(sha256(site)));
    out += static_cast<char>(flags | (with_key ? kHasCredential : 0));
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(counter >> shift);
    if (!with_key) return out;
    out += std::string(16, '\0');
    out += static_cast<char>(credential_id.size() >> 8);
    out += static_cast<char>(credential_id.size());
    return out + credential_id + cose_key();
  }

  std::string cose_key() const {
    const Json jwk = key_.jwk();
    const auto bytes = [&](const char* name) {
      return cbor_bytes(*from_base64url(jwk.at(name).get<std::string>()));
    };
    const auto pair = [](std::int64_t label, const std::string& value) {
      return cbor_number(label) + value;
    };
    if (jwk.at("kty") == "EC") {
      return cbor_head(5, 5) + pair(1, cbor_number(2)) + pair(3, cbor_number(-7)) +
             pair(-1, cbor_number(1)) + pair(-2, bytes("x")) + pair(-3, bytes("y"));
    }
    if (jwk.at("kty") == "OKP") {
      return cbor_head(5, 4) + pair(1, cbor_number(1)) + pair(3, cbor_number(-8)) +
             pair(-1, cbor_number(6)) + pair(-2, bytes("x"));
    }
    return cbor_head(5, 4) + pair(1, cbor_number(3)) + pair(3, cbor_number(-257)) +
           pair(-1, bytes("n")) + pair(-2, bytes("e"));
  }

  std::string attestation_object() const {
    return cbor_head(5, 3) + cbor_text("fmt") + cbor_text("none") + cbor_text("attStmt") +
           cbor_head(5, 0) + cbor_text("authData") + cbor_bytes(authenticator_data(true));
  }

  /// What navigator.credentials.create gives the page. The counter goes up.
  Json create(const std::string& challenge) {
    Json out{{"clientDataJSON", to_base64url(client_data("webauthn.create", challenge))},
             {"attestationObject", to_base64url(attestation_object())}};
    ++counter;
    return out;
  }
  /// And navigator.credentials.get.
  Json get(const std::string& challenge) {
    const std::string client = client_data("webauthn.get", challenge);
    const std::string data = authenticator_data(false);
    ++counter;
    return {{"id", to_base64url(credential_id)},
            {"clientDataJSON", to_base64url(client)},
            {"authenticatorData", to_base64url(data)},
            {"signature", to_base64url(key_.sign_der(data + std::string(as_text(sha256(client)))))},
            {"userHandle", to_base64url(user_handle)}};
  }

 private:
  IssuerKey key_;
};

}  // namespace coffer::test
