#include "auth/strkey.h"

#include <catch2/catch.hpp>
#include <vector>

#include "base/digest.h"

using namespace coffer;
using namespace coffer::auth;

namespace {

// RFC 8032 section 7.1, tests 1 to 3. The StrKey forms were computed with Python's base64 and
// binascii.crc_hqx.
struct Vector {
  const char* seed;
  const char* public_key_hex;
  const char* public_key;
  const char* message_hex;
  const char* signature_hex;
};

const std::vector<Vector> kVectors{
    {"SCOWDMM5576VUYF2QRFPJEXMFTCEISOFNF5TE2IZOA52YAY4VZ7WBQNO",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
     "GDLVVGABQKYQVN6VJP7NHSLEA45A5YLS6PNKMIZFV4BBU2HXA5IRVHUR", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9"
     "b46bd25bf5f0595bbe24655141438e7a100b"},
    {"SBGM2CE3FD7ZNWU5W3BUN3ARJYHVXCRRT422XJRE3KGPN3KPXCTPXJAU",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
     "GA6UAF6D5BBYSWUSW4FKOTI3P26JZGBMZ4XMJFUMYDGVL4JK6RTAZGXX", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f1"
     "1d8c387b2eaeb4302aeeb00d291612bb0c00"},
    {"SDC2VDPUH6PYG67NW5CC6MO4W6YWNU4FGUDW6CKLQXHDULQLIRMPOR75",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
     "GD6FDTMOMIMKDI4NUR7NAARQ6BMAQFXNCO5DGA5MLXVZCFKISCACKOTL", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984d"
     "c6594a7c15e9716ed28dc027beceea1ec40a"},
};

constexpr const char* kValid = "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ";

}  // namespace

TEST_CASE("strkey: the valid public key of SEP-23") {
  const auto key = PublicKey::parse(kValid);
  REQUIRE(key);
  CHECK(to_hex(as_text(key->bytes)) ==
        "3f0c34bf93ad0d9971d04ccc90f705511c838aad9734a4a2fb0d7a03fc7fe89a");
  CHECK(key->to_string() == kValid);
}

TEST_CASE("strkey: every invalid key of SEP-23 and other kinds of key are rejected") {
  for (const char* text : {
           "GAAAAAAAACGC6",
           "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZA",
           "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUACUSI",
           "G47QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVP2I",
           "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ",
           "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUR",
           "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLKA",
           "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUK===",
           "CA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUWDA",
           "BAAD6DBUX6J22DMZOHIEZTEQ64CVCHEDRKWZONFEUL5Q26QD7R76RGR4TV",
           "SCOWDMM5576VUYF2QRFPJEXMFTCEISOFNF5TE2IZOA52YAY4VZ7WBQNO",
       }) {
    INFO(text);
    CHECK_FALSE(PublicKey::parse(text));
  }
}

TEST_CASE("strkey: any changed, lower-case, padded or missing character is rejected") {
  const std::string valid = kValid;
  for (std::size_t i = 0; i < valid.size(); ++i) {
    INFO(i);
    std::string changed = valid;
    changed[i] = valid[i] == 'A' ? 'B' : 'A';
    CHECK_FALSE(PublicKey::parse(changed));
    changed[i] = '1';  // not in the base32 alphabet
    CHECK_FALSE(PublicKey::parse(changed));
    changed[i] = '\0';
    CHECK_FALSE(PublicKey::parse(changed));
    CHECK_FALSE(PublicKey::parse(valid.substr(0, i)));
  }
  CHECK_FALSE(PublicKey::parse("ga7qynf7sowq3glr2bgmzehxavirza4kvwltjjfc7mgxua74p7ujvsgz"));
  CHECK_FALSE(PublicKey::parse(valid + "="));
  CHECK_FALSE(PublicKey::parse(" " + valid));
}

TEST_CASE("ed25519: RFC 8032 vectors, from the seed's StrKey") {
  for (const auto& vector : kVectors) {
    INFO(vector.seed);
    const auto key = SigningKey::from_seed(Secret(vector.seed));
    REQUIRE(key);
    CHECK(to_hex(as_text(key->public_key().bytes)) == vector.public_key_hex);
    CHECK(key->public_key().to_string() == vector.public_key);
    const std::string message = *from_hex(vector.message_hex);
    const Signature signature = key->sign(message);
    CHECK(to_hex(as_text(signature)) == vector.signature_hex);
    CHECK(verify(key->public_key(), message, as_text(signature)));
  }
}

TEST_CASE("ed25519: a changed message, signature or key does not verify") {
  const auto key = SigningKey::from_seed(Secret(kVectors[2].seed));
  const std::string signature(as_text(key->sign("hello")));
  CHECK(verify(key->public_key(), "hello", signature));
  CHECK_FALSE(verify(key->public_key(), "hellp", signature));
  CHECK_FALSE(verify(key->public_key(), "hello", signature.substr(1)));
  CHECK_FALSE(verify(key->public_key(), "hello", ""));
  CHECK_FALSE(verify(*PublicKey::parse(kVectors[1].public_key), "hello", signature));
  PublicKey no_point;  // y = 2 is not on the curve
  no_point.bytes[0] = 2;
  CHECK_FALSE(verify(no_point, "hello", signature));
  for (std::size_t i = 0; i < signature.size(); ++i) {
    std::string changed = signature;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    CHECK_FALSE(verify(key->public_key(), "hello", changed));
  }
}

TEST_CASE("ed25519: bad seeds are rejected without repeating them") {
  for (const char* text :
       {"", "S", kValid, "SCOWDMM5576VUYF2QRFPJEXMFTCEISOFNF5TE2IZOA52YAY4VZ7WBQNP"}) {
    const auto key = SigningKey::from_seed(Secret(text));
    REQUIRE_FALSE(key);
    CHECK(key.error().slug == Slug::validation_failed);
    CHECK(key.error().detail.find("SCOWD") == std::string::npos);
  }
}

TEST_CASE("ed25519: generated pairs match their seed and differ") {
  SeededRandom random(7);
  const KeyPair first = generate_key_pair(random);
  const KeyPair second = generate_key_pair(random);
  CHECK(first.public_key != second.public_key);
  CHECK(first.seed_text.reveal().size() == 56);
  CHECK(first.seed_text.reveal().front() == 'S');
  CHECK(SigningKey::from_seed(first.seed_text)->public_key() == first.public_key);
  CHECK(PublicKey::parse(first.public_key.to_string()) == first.public_key);
}
