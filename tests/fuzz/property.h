// Shared by all fuzz targets: the input as text, and a check that aborts the process, which a
// fuzzer reports as a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace coffer::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return size == 0 ? std::string_view()
                   : std::string_view(reinterpret_cast<const char*>(data), size);
}

/// The text before and after the first `separator`; without a separator, the second is empty.
inline std::pair<std::string_view, std::string_view> split(std::string_view text, char separator) {
  const auto at = text.find(separator);
  if (at == std::string_view::npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + 1)};
}

/// The text as a JSON string, which is also a TOML string.
inline std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + '"';
}

[[noreturn]] inline void broken(const char* property, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, property);
  std::abort();
}

}  // namespace coffer::fuzz

#define HOLDS(property) \
  ((property) ? static_cast<void>(0) : ::coffer::fuzz::broken(#property, __FILE__, __LINE__))

/// Called with any bytes; returns 0 or aborts. It has this name in a fuzzer's binary; in
/// fuzz_corpus, which contains all targets, each has its own name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
