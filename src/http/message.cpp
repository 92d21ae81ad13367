#include "http/message.h"

#include "base/text/ascii.h"

namespace coffer::http {
bool same_name(std::string_view a, std::string_view b) { return ascii::same_word(a, b); }

const std::string* Request::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (same_name(key, name)) return &value;
  }
  return nullptr;
}

const std::string* Request::query_value(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return &value;
  }
  return nullptr;
}

}  // namespace coffer::http
