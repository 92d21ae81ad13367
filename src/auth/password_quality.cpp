#include "auth/password_quality.h"

#include <set>
#include <string>

#include "base/text/ascii.h"
#include "base/text/characters.h"

namespace coffer::auth {
namespace {

constexpr std::size_t kCharactersMin = 12;
constexpr std::size_t kBytesMax = 128;
constexpr std::size_t kDistinctMin = 5;

// A line feed before and after each word.
constexpr std::string_view kWords =
#include "auth/common_passwords.inc"
    ;

bool is_letter(char c) { return ascii::is_lower(c) || (static_cast<unsigned char>(c) & 0x80) != 0; }

/// The text without digits and signs at both ends.
std::string_view core(std::string_view text) {
  while (!text.empty() && !is_letter(text.front())) text.remove_prefix(1);
  while (!text.empty() && !is_letter(text.back())) text.remove_suffix(1);
  return text;
}

/// The repeated part, such as `abc` of `abcabc`; the whole text if nothing repeats.
std::string_view period(std::string_view text) {
  for (std::size_t size = 1; size <= text.size() / 2; ++size) {
    if (text.size() % size == 0 && text.substr(size) == text.substr(0, text.size() - size)) {
      return text.substr(0, size);
    }
  }
  return text;
}

bool is_weak(std::string_view password, std::string_view name) {
  const std::string folded = ascii::to_lower(password);
  const std::string_view word = period(core(folded));
  return word.empty() || word == name || is_common_password(word) || is_common_password(folded);
}

}  // namespace

bool is_common_password(std::string_view word) {
  return kWords.find("\n" + std::string(word) + "\n") != std::string_view::npos;
}

std::string password_fault(std::string_view password, std::string_view name) {
  if (character_count(password) < kCharactersMin) return "must have at least 12 characters";
  if (password.size() > kBytesMax) return "must have at most 128 bytes";
  if (ascii::to_lower(password) == name) return "must differ from the name";
  if (std::set<char>(password.begin(), password.end()).size() < kDistinctMin) {
    return "must have at least 5 different characters";
  }
  if (is_weak(password, name)) {
    return "is easy to guess: it is a common password or the name, or one of these with digits or "
           "signs around it. Choose several unrelated words";
  }
  return {};
}

}  // namespace coffer::auth
