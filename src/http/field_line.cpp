#include "http/field_line.h"

#include <algorithm>

#include "base/text/trimmed.h"

namespace coffer::http {
namespace {

constexpr CharTable kTokenChars = char_table("!#$%&'*+-.^_`|~");

}  // namespace

bool all_of(std::string_view text, const CharTable& allowed) {
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return allowed[static_cast<unsigned char>(c)]; });
}

bool is_token(std::string_view text) { return !text.empty() && all_of(text, kTokenChars); }

Result<FieldLine> parse_field_line(std::string_view line) {
  const auto malformed = [](const char* detail) {
    return unexpected(Slug::malformed_request, detail);
  };
  if (line.starts_with(' ') || line.starts_with('\t')) {
    return malformed("A header field is folded over several lines.");
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return malformed("A header line has no colon.");
  const std::string_view name = line.substr(0, colon);
  if (name.ends_with(' ') || name.ends_with('\t')) {
    return malformed("There is white space between a header name and its colon.");
  }
  if (!is_token(name)) return malformed("A header name is not a token.");
  return FieldLine{name, trimmed(line.substr(colon + 1), " \t")};
}

}  // namespace coffer::http
