// The width of text on a terminal, and text cut to a width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace coffer {

/// Columns of UTF-8 text without control characters. East Asian wide characters and emoji take two
/// columns, combining marks none, an invalid byte one.
std::size_t columns_of(std::string_view text);

enum class Kept { start, end };
/// Cuts `text` to at most `columns`, with an ellipsis in place of the removed part: `Treasur…`,
/// `…5f60718`. Never splits a character.
std::string cut_to(std::string_view text, std::size_t columns, Kept kept = Kept::start);

}  // namespace coffer
