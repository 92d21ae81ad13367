#include "auth/recovery_code.h"

#include "base/digest.h"
#include "base/text/ascii.h"

namespace coffer::auth {
namespace {

constexpr std::size_t kBytes = 10;
constexpr std::size_t kCharacters = 16;
constexpr std::size_t kGroup = 4;

}  // namespace

Secret generate_recovery_code(Random& random) {
  const std::string text = to_base32(random.bytes(kBytes));
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += kGroup) {
    out += (out.empty() ? "" : "-") + text.substr(at, kGroup);
  }
  return Secret(out);
}

std::optional<std::string> parse_recovery_code(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '-' || c == ' ') continue;
    out += ascii::to_upper(c);
  }
  if (out.size() != kCharacters || !from_base32(out)) return std::nullopt;
  return out;
}

}  // namespace coffer::auth
