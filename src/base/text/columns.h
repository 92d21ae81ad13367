// How wide text is on a terminal, and text cut to a width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace coffer {

/// Columns of UTF-8 text without control characters: East Asian wide characters and emoji take two,
/// combining marks none. A byte that is no UTF-8 takes one.
std::size_t columns_of(std::string_view text);

enum class Kept { start, end };
/// `text` in at most `columns`; where it is longer, an ellipsis stands for what is cut: `Treasur…`,
/// `…5f60718`. Never cuts a character.
std::string cut_to(std::string_view text, std::size_t columns, Kept kept = Kept::start);

}  // namespace coffer
