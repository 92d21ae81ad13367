// Valid and invalid registrations and signatures of passkeys (WebAuthn).
#include "auth/passkeys/passkey.h"

#include <catch2/catch.hpp>
#include <functional>
#include <vector>

#include "auth/passkeys/cbor.h"
#include "support/authenticator.h"

using namespace coffer;
using namespace coffer::auth;
using coffer::test::Authenticator;
using coffer::test::IssuerKey;
using Json = nlohmann::json;

namespace {

const RelyingParty kParty{"pay.example", "https://pay.example"};
const std::string kChallenge(32, 'x');

std::string raw(const Json& object, const char* name) {
  return from_base64url(object.at(name).get<std::string>()).value();
}
PasskeyRegistration registration(const Json& made) {
  return {raw(made, "clientDataJSON"), raw(made, "attestationObject")};
}
PasskeyAssertion assertion(const Json& made) {
  return {raw(made, "id"), raw(made, "clientDataJSON"), raw(made, "authenticatorData"),
          raw(made, "signature"), raw(made, "userHandle")};
}

using Change = std::function<void(Authenticator&)>;

/// Errors that both ceremonies reject.
const std::vector<std::pair<const char*, Change>> kWrong = {
    {"another origin", [](Authenticator& a) { a.origin = "https://evil.example"; }},
    {"another port", [](Authenticator& a) { a.origin = "https://pay.example:8443"; }},
    {"another scheme", [](Authenticator& a) { a.origin = "http://pay.example"; }},
    {"a name below", [](Authenticator& a) { a.origin = "https://a.pay.example"; }},
    {"another site", [](Authenticator& a) { a.site = "example"; }},
    {"the user not present", [](Authenticator& a) { a.flags = Authenticator::kVerified; }},
    {"backed up, and not eligible", [](Authenticator& a) { a.flags |= 0x10; }},
    {"extensions that are missing", [](Authenticator& a) { a.flags |= 0x80; }},
    {"another type",
     [](Authenticator& a) {
       a.client_extra = {{"type", "webauthn.other"}};
     }},
    {"inside another page",
     [](Authenticator& a) {
       a.client_extra = {{"crossOrigin", true}};
     }},
    {"inside a page of another site",
     [](Authenticator& a) {
       a.client_extra = {{"topOrigin", "https://evil.example"}};
     }},
    {"no challenge",
     [](Authenticator& a) {
       a.client_extra = {{"challenge", ""}};
     }},
    {"a challenge of another type",
     [](Authenticator& a) {
       a.client_extra = {{"challenge", 7}};
     }},
    {"an origin of another type",
     [](Authenticator& a) {
       a.client_extra = {{"origin", nullptr}};
     }},
};

}  // namespace

TEST_CASE("passkeys: ES256, EdDSA and RS256 register and sign", "[auth]") {
  for (auto key : {&IssuerKey::p256, &IssuerKey::ed25519}) {
    Authenticator device(key("k"));
    const auto made = verify_registration(registration(device.create(kChallenge)), kParty);
    REQUIRE(made);
    CHECK(made->credential_id == device.credential_id);
    CHECK(made->challenge == kChallenge);
    CHECK(made->sign_count == 1);
    const auto used = verify_assertion(assertion(device.get(kChallenge)), made->public_key, kParty);
    REQUIRE(used);
    CHECK(used->challenge == kChallenge);
    CHECK(used->user_verified);
  }
  Authenticator device(IssuerKey::rsa("k"));
  const auto made = verify_registration(registration(device.create(kChallenge)), kParty);
  REQUIRE(made);
  CHECK(verify_assertion(assertion(device.get(kChallenge)), made->public_key, kParty));
  CHECK_FALSE(read_cose_key(Authenticator(IssuerKey::rsa("k", 1024)).cose_key()));
}

TEST_CASE("passkeys: a sign-in without user verification is reported as such", "[auth]") {
  Authenticator device(IssuerKey::p256("k"));
  const auto made = verify_registration(registration(device.create(kChallenge)), kParty);
  REQUIRE(made);
  device.flags = Authenticator::kPresent;
  const auto used = verify_assertion(assertion(device.get(kChallenge)), made->public_key, kParty);
  REQUIRE(used);
  CHECK_FALSE(used->user_verified);
}

TEST_CASE("passkeys: the page and the authenticator must match in every respect", "[auth]") {
  Authenticator right(IssuerKey::p256("k"));
  const auto made = verify_registration(registration(right.create(kChallenge)), kParty);
  REQUIRE(made);
  for (const auto& [what, change] : kWrong) {
    INFO(what);
    const std::string key = right.cose_key();
    const auto origin = right.origin, site = right.site;
    const auto flags = right.flags;
    change(right);
    const auto registered = verify_registration(registration(right.create(kChallenge)), kParty);
    REQUIRE_FALSE(registered);
    CHECK(registered.error().slug == Slug::validation_failed);
    const auto used = verify_assertion(assertion(right.get(kChallenge)), key, kParty);
    REQUIRE_FALSE(used);
    CHECK(used.error().slug == Slug::unauthorized);
    right.origin = origin;
    right.site = site;
    right.flags = flags;
    right.client_extra = Json::object();
  }
  CHECK(verify_assertion(assertion(right.get(kChallenge)), right.cose_key(), kParty));
}

TEST_CASE("passkeys: a signature covers every byte and belongs to this key", "[auth]") {
  Authenticator device(IssuerKey::p256("k"));
  const std::string key = device.cose_key();
  const PasskeyAssertion good = assertion(device.get(kChallenge));
  REQUIRE(verify_assertion(good, key, kParty));
  CHECK_FALSE(verify_assertion(good, Authenticator(IssuerKey::p256("k")).cose_key(), kParty));
  for (std::size_t at = 0; at < good.authenticator_data.size(); ++at) {
    PasskeyAssertion bad = good;
    bad.authenticator_data[at] = static_cast<char>(bad.authenticator_data[at] ^ 1);
    CHECK_FALSE(verify_assertion(bad, key, kParty));
  }
  for (std::size_t at = 0; at < good.signature.size(); ++at) {
    PasskeyAssertion bad = good;
    bad.signature[at] = static_cast<char>(bad.signature[at] ^ 1);
    CHECK_FALSE(verify_assertion(bad, key, kParty));
  }
  PasskeyAssertion bad = good;
  bad.client_data += ' ';
  CHECK_FALSE(verify_assertion(bad, key, kParty));
  bad = good;
  bad.authenticator_data += '\0';
  CHECK_FALSE(verify_assertion(bad, key, kParty));
  // A registration is not a valid signature.
  bad = good;
  bad.client_data = device.client_data("webauthn.create", kChallenge);
  CHECK_FALSE(verify_assertion(bad, key, kParty));
}

TEST_CASE("passkeys: an attestation object is complete and has no other content", "[auth]") {
  Authenticator device(IssuerKey::p256("k"));
  const PasskeyRegistration good = registration(device.create(kChallenge));
  REQUIRE(verify_registration(good, kParty));
  for (std::size_t size = 0; size < good.attestation_object.size(); ++size) {
    PasskeyRegistration bad = good;
    bad.attestation_object.resize(size);
    CHECK_FALSE(verify_registration(bad, kParty));
  }
  PasskeyRegistration bad = good;
  bad.attestation_object += '\0';
  CHECK_FALSE(verify_registration(bad, kParty));
  device.credential_id = std::string(15, 'c');
  CHECK_FALSE(verify_registration(registration(device.create(kChallenge)), kParty));
  device.credential_id = std::string(1'023, 'c');
  CHECK(verify_registration(registration(device.create(kChallenge)), kParty));
  device.credential_id += 'c';
  CHECK_FALSE(verify_registration(registration(device.create(kChallenge)), kParty));
}

TEST_CASE("passkeys: a counter increases or stays 0", "[auth]") {
  CHECK(is_next_sign_count(0, 0));
  CHECK(is_next_sign_count(0, 1));
  CHECK(is_next_sign_count(4, 5));
  CHECK_FALSE(is_next_sign_count(5, 5));
  CHECK_FALSE(is_next_sign_count(5, 4));
  CHECK_FALSE(is_next_sign_count(5, 0));
}

TEST_CASE("passkeys: keys of other kinds and forms are rejected", "[auth]") {
  const auto key = [](const char* hex) { return read_cose_key(*from_hex(hex)).has_value(); };
  // The example of RFC 9052, appendix C.7.1, is on the curve, but has no algorithm.
  CHECK_FALSE(
      key("a401022001215820"
          "65eda5a12577c2bae829437fe338701a10aaa375e1bb5b5de108de439c08551d"
          "2258201e52ed75701163f7f9e40ddf9f341b3dc9ba860af7e0ca7ca7e9eecd0084d19c"));
  CHECK(
      key("a50102032620012158"
          "2065eda5a12577c2bae829437fe338701a10aaa375e1bb5b5de108de439c08551d"
          "2258201e52ed75701163f7f9e40ddf9f341b3dc9ba860af7e0ca7ca7e9eecd0084d19c"));
  // The last byte of y changed: off the curve.
  CHECK_FALSE(
      key("a50102032620012158"
          "2065eda5a12577c2bae829437fe338701a10aaa375e1bb5b5de108de439c08551d"
          "2258201e52ed75701163f7f9e40ddf9f341b3dc9ba860af7e0ca7ca7e9eecd0084d19d"));
  // The infinite point of P-256 has no coordinates, but some encode it as 0, 0.
  CHECK_FALSE(key(
      ("a5010203262001215820" + std::string(64, '0') + "225820" + std::string(64, '0')).c_str()));
  CHECK_FALSE(key(""));
  CHECK_FALSE(key("a0"));
  CHECK_FALSE(key("a10102"));
  CHECK_FALSE(key("a201020102"));
  CHECK_FALSE(key("bf0102ff"));
}

TEST_CASE("passkeys: Ed25519 points that anyone can sign for, or no one, are rejected", "[auth]") {
  const auto is_accepted = [](const std::string& hex) {
    const std::string raw = *from_hex(hex);
    return read_cose_key(*from_hex("a4010103272006215820" + hex)).has_value() &&
           is_sound_ed25519_key(raw);
  };
  // RFC 8032 section 7.1, test 1.
  CHECK(is_accepted("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"));
  // The points of order 1, 2, 4 and 8 of the curve, each also with the other sign, forms of them
  // that are not reduced, and a number that is no point.
  for (const char* hex : {
           "0000000000000000000000000000000000000000000000000000000000000000",
           "0100000000000000000000000000000000000000000000000000000000000000",
           "26e8958fc2b227b045c3f489f298eff0d5dfac05d3c63339b13802886d53fc05",
           "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
           "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
           "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
           "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
           "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
           "0200000000000000000000000000000000000000000000000000000000000000",
       }) {
    INFO(hex);
    std::string signed_hex = hex;
    signed_hex[62] = signed_hex[62] == '0' ? '8' : 'f';
    CHECK_FALSE(is_accepted(hex));
    CHECK_FALSE(is_accepted(signed_hex));
  }
}

TEST_CASE("passkeys: RSA keys that are even, prime or easy to factor are rejected", "[auth]") {
  const auto is_accepted = [](const std::string& modulus) {
    return VerifyingKey::rsa(modulus, *from_hex("010001")).has_value();
  };
  std::string modulus =
      from_base64url(IssuerKey::rsa("k").jwk().at("n").get<std::string>()).value();
  CHECK(is_accepted(modulus));
  CHECK_FALSE(is_accepted(modulus.substr(1)));
  modulus.back() = static_cast<char>(modulus.back() & 0xfe);
  CHECK_FALSE(is_accepted(modulus));
  // 2^2048 - 1 has the factor 3.
  CHECK_FALSE(is_accepted(std::string(256, '\xff')));
}

TEST_CASE("CBOR: only the shortest form, complete items and few levels", "[auth]") {
  const auto skips = [](const char* hex) {
    const std::string bytes = *from_hex(hex);
    CborReader reader(bytes);
    return reader.skip() && reader.rest().empty();
  };
  for (const char* good : {"00", "17", "1818", "20", "40", "4101", "60", "80", "820102", "a0",
                           "a10102", "f4", "f5", "f6", "f90000", "fa00000000"}) {
    INFO(good);
    CHECK(skips(good));
  }
  for (const char* bad :
       {"", "1817", "190001", "1a0000ffff", "1b00000000ffffffff", "41", "5f4101ff", "9f01ff",
        "bf0102ff", "8201", "c001", "1c", "ff", "9bffffffffffffffff", "bb8000000000000000",
        "5bffffffffffffffff", "818181818181818100"}) {
    INFO(bad);
    CHECK_FALSE(skips(bad));
  }
  const auto integer = [](const char* hex) { return CborReader(*from_hex(hex)).integer(); };
  CHECK(integer("390100") == -257);
  CHECK(integer("1b7fffffffffffffff") == INT64_MAX);
  CHECK(integer("3b7fffffffffffffff") == INT64_MIN);
  CHECK_FALSE(integer("1b8000000000000000"));
}
