// Words for searching parties. A text matches if each word of the query is the beginning of one of
// its words.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coffer {

/// The words of a text in folded form (base/text/unicode.h), sorted and unique. A word consists of
/// letters with their marks, digits, and symbols such as emoji.
std::vector<std::string> search_words(std::string_view utf8);
/// Whether each of `wanted` is the beginning of one of `words`, both from search_words().
bool has_words(std::span<const std::string> words, std::span<const std::string> wanted);

}  // namespace coffer
