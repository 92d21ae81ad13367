// coffer's bearer tokens: the input as a complete token, and as a payload with a valid signature.
#include "auth/token.h"

#include "base/digest.h"
#include "fuzz/property.h"

namespace coffer::fuzz {
namespace {

const std::string kKey(32, 't');
constexpr std::string_view kHeader = R"({"alg":"HS256","typ":"JWT"})";

void check(std::string_view input) {
  static const auth::TokenIssuer issuer{Secret(kKey)};
  // Fuzzer input cannot be signed without the key.
  const auto raw = issuer.verify(input, Timestamp{0});
  HOLDS(!raw && raw.error().slug == Slug::unauthorized);

  std::string token = to_base64url(kHeader) + "." + to_base64url(input);
  token += "." + to_base64url(as_text(hmac_sha256(kKey, token)));
  HOLDS(auth::TokenIssuer::could_be_ours(token));
  const auto claims = issuer.verify(token, Timestamp{0});
  if (!claims) return;
  HOLDS(token.size() <= auth::TokenIssuer::kMaxTokenBytes);
  HOLDS(claims->user.has_value() == (claims->kind == auth::TokenKind::user));
  const auto again = issuer.verify(issuer.issue(*claims), Timestamp{0});
  HOLDS(again && *again == *claims);
  const auto late = issuer.verify(token, claims->expires_at);
  HOLDS(!late && late.error().slug == Slug::token_expired);
  char& c = token[input.size() % token.size()];
  c = c == 'A' ? 'B' : 'A';
  HOLDS(!issuer.verify(token, Timestamp{0}));
}

}  // namespace
}  // namespace coffer::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  coffer::fuzz::check(coffer::fuzz::text_of(data, size));
  return 0;
}
