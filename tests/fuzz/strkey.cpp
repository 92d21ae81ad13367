// StrKey: only the canonical spelling of a key is accepted, and no other character at any position.
#include "auth/strkey.h"

#include "fuzz/property.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using coffer::auth::PublicKey;
  const std::string_view text = coffer::fuzz::text_of(data, size);
  if (const auto key = PublicKey::parse(text)) {
    HOLDS(key->to_string() == text && text.size() == 56 && text[0] == 'G');
    std::string changed(text);
    char& c = changed[static_cast<std::size_t>(data[size - 1]) % changed.size()];
    c = c == 'A' ? 'B' : 'A';
    HOLDS(!PublicKey::parse(changed));
  }
  if (const auto seed = coffer::auth::SigningKey::from_seed(coffer::Secret(std::string(text)))) {
    HOLDS(text.size() == 56 && text[0] == 'S');
    HOLDS(PublicKey::parse(seed->public_key().to_string()) == seed->public_key());
  } else {
    // The error is the same for every text, so it contains nothing of a seed.
    HOLDS(seed.error().detail ==
          coffer::auth::SigningKey::from_seed(coffer::Secret()).error().detail);
  }
  // Any 32 bytes are a valid key.
  PublicKey key;
  for (std::size_t i = 0; i < size && i < key.bytes.size(); ++i) key.bytes[i] = data[i];
  HOLDS(PublicKey::parse(key.to_string()) == key);
  return 0;
}
