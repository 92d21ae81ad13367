// What Unicode characters show, and folding for searches (utf8proc).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace coffer {

/// Whether the text shows nothing: it is empty, or has only white space, invisible characters and
/// marks without a character that they belong to.
bool is_blank(std::string_view utf8);

/// Without white space of Unicode at both ends.
std::string_view without_outer_space(std::string_view utf8);

/// A clause about the first character that a text on one line must not contain: a control
/// character, a line separator, or a character that is invisible or changes the direction of
/// writing; empty without one. Joiners and variation selectors are accepted where scripts
/// without case and emoji need them.
std::string character_fault(std::string_view utf8);

/// A clause about a text that must not be blank and has at most `length_max` characters, each
/// without a fault; empty if it is valid.
std::string line_fault(std::string_view utf8, std::size_t length_max);

/// Without invisible characters, and with a space in place of each control character. For texts of
/// others that must not be rejected.
std::string cleaned(std::string_view utf8);

/// Equal for texts that differ only in case, in composition (NFC, NFD) or in compatible forms, such
/// as ligatures, in the dot of i, or in the comma and cedilla below s and t. For searching, not for
/// display. A text that is not UTF-8 is returned unchanged.
std::string fold_case(std::string_view utf8);
/// Differs if fold_case() may return something else for the same text.
std::string folding_version();

/// Whether the character is part of a word: a letter, mark, digit, or a symbol such as an emoji.
bool is_word_character(char32_t character);
/// Columns of the character on a terminal.
std::size_t columns_of(char32_t character);

}  // namespace coffer
