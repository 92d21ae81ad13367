#include "auth/token.h"

#include <charconv>

#include "auth/strkey.h"
#include "base/check.h"
#include "base/digest.h"

namespace coffer::auth {
namespace {

// base64url of {"alg":"HS256","typ":"JWT"}, the only header that is issued and accepted. A header
// chosen by the sender ("alg":"none", another key ID) is therefore never interpreted.
constexpr std::string_view kHeader = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";
constexpr std::size_t kTokenKeyBytes = 32;

Problem not_ours() { return Problem(Slug::unauthorized, "The bearer token is not valid."); }

constexpr std::int64_t kSecondMs = 1'000;

/// NumericDate (RFC 7519 section 2).
std::string to_numeric_date(Timestamp at) {
  COFFER_CHECK(at.ms >= 0 && at.ms % kSecondMs == 0);
  return std::to_string(at.ms / kSecondMs);
}

/// Reads exactly the text that to_payload() writes. This server signed the payload, so any other
/// text is a token of another version. It is rejected, and its owner requests a new one.
class PayloadReader {
 public:
  explicit PayloadReader(std::string_view rest) : rest_(rest) {}

  bool skip(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }

  /// Up to the closing quote, which is consumed. No claim needs escapes.
  std::optional<std::string_view> text() {
    const auto end = rest_.find('"');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view value = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return value;
  }

  std::optional<std::int64_t> integer() {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{}) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  std::optional<Timestamp> numeric_date() {
    const auto seconds = integer();
    constexpr std::int64_t kMaxSeconds = INT64_MAX / kSecondMs;
    if (!seconds || *seconds < 0 || *seconds > kMaxSeconds) return std::nullopt;
    return Timestamp{*seconds * kSecondMs};
  }

  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

std::string to_payload(const TokenClaims& claims) {
  const bool is_user = claims.kind == TokenKind::user;
  const bool is_id = claims.kind == TokenKind::id;
  COFFER_CHECK(is_user == claims.user.has_value() && is_id != claims.account.empty());
  std::string text = R"({"iss":")";
  text.append(claims.issuer).append(R"(","kind":")").append(name(claims.kind));
  text.append(R"(","sub":")");
  text.append(is_user ? claims.user->to_string()
              : is_id ? claims.account
                      : claims.application.to_string());
  if (is_id) text.append(R"(","application":")").append(claims.application.to_string());
  if (claims.association) {
    text.append(R"(","association":")").append(claims.association->to_string());
  }
  if (!is_user) text.append(R"(","environment":")").append(name(claims.environment));
  text.append(R"(","scope":")").append(claims.scopes.to_string());
  text.append(R"(","kv":)").append(std::to_string(claims.key_version));
  text.append(R"(,"iat":)").append(to_numeric_date(claims.issued_at));
  text.append(R"(,"exp":)").append(to_numeric_date(claims.expires_at)).append("}");
  return text;
}

std::optional<TokenClaims> from_payload(std::string_view payload) {
  PayloadReader reader(payload);
  TokenClaims claims;

  if (!reader.skip(R"({"iss":")")) return std::nullopt;
  claims.issuer = reader.text().value_or("");
  if (!reader.skip(R"(,"kind":")")) return std::nullopt;
  const auto kind = parse_term<TokenKind>(reader.text().value_or(""));
  if (!kind || !reader.skip(R"(,"sub":")")) return std::nullopt;
  claims.kind = *kind;

  if (claims.kind == TokenKind::id) {
    claims.account = reader.text().value_or("");
    if (!PublicKey::parse(claims.account) || !reader.skip(R"(,"application":")")) {
      return std::nullopt;
    }
  }
  const auto subject = Uuid::parse(reader.text().value_or(""));
  if (!subject) return std::nullopt;
  if (claims.kind == TokenKind::user) {
    claims.user = UserId{*subject};
  } else {
    claims.application = ApplicationId{*subject};
  }

  if (reader.skip(R"(,"association":")")) {
    claims.association = AssociationId::parse(reader.text().value_or(""));
    if (!claims.association) return std::nullopt;
  }

  if (claims.kind != TokenKind::user) {
    if (!reader.skip(R"(,"environment":")")) return std::nullopt;
    const auto environment = parse_term<Environment>(reader.text().value_or(""));
    if (!environment) return std::nullopt;
    claims.environment = *environment;
  }
  if (!reader.skip(R"(,"scope":")")) return std::nullopt;

  const auto scope_text = reader.text();
  if (!scope_text || !reader.skip(R"(,"kv":)")) return std::nullopt;
  const auto scopes = ScopeSet::parse(*scope_text);
  const auto key_version = reader.integer();
  if (!scopes || !key_version || !reader.skip(R"(,"iat":)")) return std::nullopt;
  claims.scopes = *scopes;
  claims.key_version = *key_version;

  const auto issued_at = reader.numeric_date();
  if (!issued_at || !reader.skip(R"(,"exp":)")) return std::nullopt;
  const auto expires_at = reader.numeric_date();
  if (!expires_at || !reader.skip("}") || !reader.at_end()) return std::nullopt;
  claims.issued_at = *issued_at;
  claims.expires_at = *expires_at;
  return claims;
}

}  // namespace

void TokenClaims::last(Timestamp now, std::int64_t lifetime_ms) {
  issued_at = now.plus_ms(-(now.ms % kSecondMs));
  expires_at = issued_at.plus_ms(lifetime_ms);
}

TokenIssuer::TokenIssuer(Secret key) : key_(std::move(key)) {
  COFFER_CHECK(key_.reveal().size() == kTokenKeyBytes);
}

std::string TokenIssuer::signature(std::string_view signed_part) const {
  return to_base64url(as_text(hmac_sha256(key_.reveal(), signed_part)));
}

std::string TokenIssuer::issue(const TokenClaims& claims) const {
  std::string token(kHeader);
  token.append(".").append(to_base64url(to_payload(claims)));
  const std::string signed_with = signature(token);
  token.append(".").append(signed_with);
  COFFER_CHECK(token.size() <= kMaxTokenBytes);
  return token;
}

bool TokenIssuer::could_be_ours(std::string_view token) { return token.starts_with(kHeader); }

Result<TokenClaims> TokenIssuer::verify(std::string_view token, Timestamp now) const {
  if (token.size() > kMaxTokenBytes) return unexpected(not_ours());
  if (!token.starts_with(kHeader) || token.substr(kHeader.size(), 1) != ".") {
    return unexpected(not_ours());
  }
  const auto last_dot = token.rfind('.');
  if (last_dot <= kHeader.size()) return unexpected(not_ours());
  // Compares the encoded signatures, because decoding would also accept other spellings of the same
  // bytes.
  if (!equal_constant_time(signature(token.substr(0, last_dot)), token.substr(last_dot + 1))) {
    return unexpected(not_ours());
  }
  const auto payload =
      from_base64url(token.substr(kHeader.size() + 1, last_dot - kHeader.size() - 1));
  if (!payload) return unexpected(not_ours());
  const auto claims = from_payload(*payload);
  if (!claims) return unexpected(not_ours());
  if (now >= claims->expires_at) {
    return unexpected(Slug::token_expired, "The bearer token has expired.");
  }
  return *claims;
}

}  // namespace coffer::auth
