// Page cursors: the first line of the input is a cursor, the second its binding.
#include "api/json/cursor.h"

#include <cstring>

#include "base/digest.h"
#include "fuzz/property.h"

namespace coffer::fuzz {
namespace {

const std::string kKey(32, 'k');

void check(std::string_view input) {
  static const api::CursorCodec codec{Secret(kKey)};
  const auto [text, binding] = split(input, '\n');
  // Fuzzer input cannot be authenticated without the key.
  const auto raw = codec.decode(text, binding);
  HOLDS(!raw && raw.error().slug == Slug::invalid_cursor);

  // After authentication, the payload parser must accept any bytes.
  const std::string mac(
      as_text(hmac_sha256(kKey, std::string(text) + '\n' + std::string(binding))).substr(0, 12));
  const auto read = codec.decode(to_base64url(mac + std::string(text)), binding);

  api::Cursor cursor;
  if (read) cursor = *read;
  if (!read && text.size() >= sizeof cursor.position) {
    std::memcpy(&cursor.position, text.data(), sizeof cursor.position);
    cursor.backward = text.size() % 2 == 0;
  }
  std::string encoded = codec.encode(cursor, binding);
  const auto again = codec.decode(encoded, binding);
  HOLDS(again && again->position == cursor.position && again->backward == cursor.backward);
  HOLDS(!codec.decode(encoded, std::string(binding) + "x"));
  HOLDS(encoded.find_first_of("+/= ") == std::string::npos);
  char& c = encoded[input.size() % encoded.size()];
  c = c == 'A' ? 'B' : 'A';
  HOLDS(!codec.decode(encoded, binding));
}

}  // namespace
}  // namespace coffer::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  coffer::fuzz::check(coffer::fuzz::text_of(data, size));
  return 0;
}
