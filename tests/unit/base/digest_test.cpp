#include "base/digest.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "base/crypto/keyed_digest.h"

using namespace coffer;

namespace {

std::string sha(std::string_view data) {
  CHECK(sha256({data.substr(0, 3), "", data.substr(std::min<std::size_t>(3, data.size()))}) ==
        sha256(data));
  return to_hex(as_text(sha256(data)));
}
/// With the key prepared for one digest, and for several.
std::string hmac(std::string_view key, std::string_view data) {
  const KeyedDigest keyed(key);
  CHECK(keyed.of(data) == hmac_sha256(key, data));
  CHECK(keyed.of(data.substr(0, 3), data.substr(3)) == hmac_sha256(key, data));
  return to_hex(as_text(hmac_sha256(key, data)));
}

}  // namespace

TEST_CASE("digest: SHA-256 vectors (FIPS 180-4 examples)") {
  CHECK(sha("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("digest: HMAC-SHA-256 vectors (RFC 4231)") {
  CHECK(hmac(std::string(20, '\x0b'), "Hi There") ==
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  CHECK(hmac("Jefe", "what do ya want for nothing?") ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(hmac(std::string(20, '\xaa'), std::string(50, '\xdd')) ==
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  std::string counting;
  for (char c = 1; c <= 25; ++c) counting.push_back(c);
  CHECK(hmac(counting, std::string(50, '\xcd')) ==
        "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
  CHECK(hmac(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First") ==
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  CHECK(hmac(std::string(131, '\xaa'),
             "This is a test using a larger than block-size key and a larger than block-size data. "
             "The key needs to be hashed before being used by the HMAC algorithm.") ==
        "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

TEST_CASE("digest: constant-time comparison") {
  CHECK(equal_constant_time("", ""));
  CHECK(equal_constant_time("abc", "abc"));
  CHECK_FALSE(equal_constant_time("abc", "abd"));
  CHECK_FALSE(equal_constant_time("abc", "ab"));
  CHECK_FALSE(equal_constant_time("", "a"));
}

TEST_CASE("codecs: RFC 4648 section 10 vectors") {
  const std::string text = "foobar";
  const char* base64[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
  const char* base64url[] = {"", "Zg", "Zm8", "Zm9v", "Zm9vYg", "Zm9vYmE", "Zm9vYmFy"};
  const char* base32[] = {"", "MY", "MZXQ", "MZXW6", "MZXW6YQ", "MZXW6YTB", "MZXW6YTBOI"};
  const char* base16[] = {"", "66", "666f", "666f6f", "666f6f62", "666f6f6261", "666f6f626172"};
  for (std::size_t i = 0; i <= text.size(); ++i) {
    INFO(i);
    const std::string part = text.substr(0, i);
    CHECK(to_base64(part) == base64[i]);
    CHECK(from_base64(base64[i]) == part);
    CHECK(to_base64url(part) == base64url[i]);
    CHECK(from_base64url(base64url[i]) == part);
    CHECK(to_base32(part) == base32[i]);
    CHECK(from_base32(base32[i]) == part);
    CHECK(to_hex(part) == base16[i]);
    CHECK(from_hex(base16[i]) == part);
  }
}

TEST_CASE("codecs: every byte survives a round trip") {
  std::string all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
  CHECK(from_hex(to_hex(all)) == all);
  CHECK(from_base64(to_base64(all)) == all);
  CHECK(from_base64url(to_base64url(all)) == all);
  CHECK(from_base32(to_base32(all)) == all);
  CHECK(from_hex("DEADBEEF") == "\xde\xad\xbe\xef");
  CHECK(to_base64url("\xfb\xff") == "-_8");
  CHECK(to_base64("\xfb\xff") == "+/8=");
}

TEST_CASE("codecs: only the canonical spelling is accepted") {
  for (const char* text : {"6", "6g", "0x66", "66 ", "\xc3\xa9"}) {
    INFO(text);
    CHECK_FALSE(from_hex(text));
  }
  for (const char* text : {"Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "=", "====", "Zg==Zg==", "Zm9v\n",
                           "Zm 9v", "-_8=", "Z===", "Z"}) {
    INFO(text);
    CHECK_FALSE(from_base64(text));
  }
  for (const char* text : {"Z", "Zh", "Zm9", "Zg==", "+/8", "Zm9vY"}) {
    INFO(text);
    CHECK_FALSE(from_base64url(text));
  }
  for (const char* text : {"M", "MZ", "MZX", "MZXW6Y", "my", "MY======", "MY1"}) {
    INFO(text);
    CHECK_FALSE(from_base32(text));
  }
}

TEST_CASE("codecs: every byte except unreserved characters is percent-encoded") {
  CHECK(percent_encoded("aZ09-._~") == "aZ09-._~");
  CHECK(percent_encoded("a b/\xc3\xa9+%") == "a%20b%2F%C3%A9%2B%25");
}

TEST_CASE("codecs: a digest is made from its bytes only") {
  const Sha256 digest = sha256("x");
  CHECK(sha256_from(as_text(digest)) == digest);
  CHECK_FALSE(sha256_from(as_text(digest).substr(1)));
  CHECK_FALSE(sha256_from(""));
}
