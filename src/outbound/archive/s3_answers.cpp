#include "outbound/archive/s3_answers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <pugixml.hpp>
#include <utility>

#include "base/text/ascii.h"
#include "base/text/whole_number.h"

namespace coffer::outbound {
namespace {

struct Remedy {
  std::string_view code;
  std::string_view text;
};
constexpr std::string_view kCheckKeys = " Check archive_access_key and archive_secret_key.";
constexpr std::string_view kCheckRegion = " Set archive_region to the region of the bucket.";
constexpr std::string_view kPermit =
    " The key needs s3:PutObject, s3:GetObject, s3:DeleteObject and s3:ListBucket.";
constexpr auto kRemedies = std::to_array<Remedy>({
    {"RequestTimeTooSkewed", " The clocks of this machine and of the store differ: set the clock."},
    {"InvalidAccessKeyId", kCheckKeys},
    {"SignatureDoesNotMatch", kCheckKeys},
    {"ExpiredToken", " archive_session_token has expired: set new keys."},
    {"InvalidToken", " Check archive_session_token."},
    {"AccessDenied", kPermit},
    {"AllAccessDisabled", kPermit},
    {"NoSuchBucket", " Create the bucket."},
    {"PermanentRedirect", kCheckRegion},
    {"TemporaryRedirect", kCheckRegion},
    {"AuthorizationHeaderMalformed", kCheckRegion},
    {"NotImplemented", " The store cannot refuse to replace an object: choose another one."},
});

bool is_loaded(pugi::xml_document& document, std::string_view xml) {
  return bool(
      document.load_buffer(xml.data(), xml.size(), pugi::parse_default, pugi::encoding_utf8));
}

}  // namespace

std::optional<S3List> s3_list_from(std::string_view xml) {
  pugi::xml_document document;
  const pugi::xml_node root =
      is_loaded(document, xml) ? document.child("ListBucketResult") : pugi::xml_node();
  const std::string_view truncated = root.child_value("IsTruncated");
  if (truncated != "true" && truncated != "false") return std::nullopt;
  S3List out;
  out.is_truncated = truncated == "true";
  out.next = root.child_value("NextContinuationToken");
  if (out.is_truncated && out.next.empty()) return std::nullopt;
  for (const pugi::xml_node one : root.children("Contents")) {
    const auto bytes = whole_number<std::int64_t>(one.child_value("Size"), 0);
    if (!bytes) return std::nullopt;
    out.objects.push_back({one.child_value("Key"), *bytes});
  }
  return out;
}

std::string s3_error_code(std::string_view xml) {
  constexpr std::size_t kCodeMax = 64;
  pugi::xml_document document;
  if (!is_loaded(document, xml)) return {};
  const std::string_view code = document.child("Error").child_value("Code");
  const bool fits = code.size() <= kCodeMax && std::ranges::all_of(code, ascii::is_letter_or_digit);
  return std::string(fits ? code : "");
}

std::string_view s3_remedy(std::string_view code) {
  const auto found = std::ranges::find(kRemedies, code, &Remedy::code);
  return found == kRemedies.end() ? std::string_view() : found->text;
}

}  // namespace coffer::outbound
