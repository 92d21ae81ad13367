// A text as one word of a shell command that a person copies.
#pragma once

#include <string>
#include <string_view>

namespace coffer {

/// Unchanged if no POSIX shell gives one of its characters a meaning, otherwise in single quotes.
std::string shell_word(std::string_view text);

}  // namespace coffer
