#include "api/json/cursor.h"

#include "base/digest.h"
#include "base/text/whole_number.h"

namespace coffer::api {
namespace {

constexpr std::size_t kTagBytes = 12;

Unexpected invalid() {
  return unexpected(Problem(Slug::invalid_cursor, "The cursor does not belong to this list.",
                            {{"cursor", "must be sent unchanged, with the same filters"}}));
}

}  // namespace

std::string CursorCodec::tag(std::string_view payload, std::string_view binding) const {
  const Sha256 mac = hmac_sha256(key_.reveal(), std::string(payload) + '\n' + std::string(binding));
  return std::string(as_text(mac).substr(0, kTagBytes));
}

std::string CursorCodec::encode(const Cursor& cursor, std::string_view binding) const {
  const std::string payload = (cursor.backward ? "b" : "f") + std::to_string(cursor.position);
  return to_base64url(tag(payload, binding) + payload);
}

Result<Cursor> CursorCodec::decode(std::string_view text, std::string_view binding) const {
  const auto bytes = from_base64url(text);
  if (!bytes || bytes->size() < kTagBytes + 2) return invalid();
  const std::string_view payload = std::string_view(*bytes).substr(kTagBytes);
  if (!equal_constant_time(bytes->substr(0, kTagBytes), tag(payload, binding))) return invalid();
  const auto position = whole_number<std::int64_t>(payload.substr(1));
  if (!position) return invalid();
  return Cursor{*position, payload[0] == 'b'};
}

}  // namespace coffer::api
