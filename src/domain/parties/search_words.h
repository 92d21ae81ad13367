// Words that people search parties by. A text matches when each word of the query begins a word of
// it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coffer {

/// The words of a text with folded case (contact.h), sorted, each once. Letters and digits make a
/// word, as does every character beyond ASCII but spaces and punctuation.
std::vector<std::string> search_words(std::string_view utf8);
/// Whether each of `wanted` begins one of `words`, both as search_words() gives them.
bool has_words(std::span<const std::string> words, std::span<const std::string> wanted);

}  // namespace coffer
