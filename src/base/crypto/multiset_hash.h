// LtHash (Bellare and Micciancio 1997; Lewi and others 2019): the sum of the SHAKE256 outputs of
// the elements of a multiset, in 1,024 lanes of 16 bits. Elements are added and removed in any
// order. Finding two multisets with the same sum is a hard problem of lattices.
#pragma once

#include <string>
#include <string_view>

namespace coffer {

/// `sum`: kMultisetHashBytes, or empty for an empty multiset. Other lengths throw InternalError.
constexpr std::size_t kMultisetHashBytes = 2'048;
void add_to_multiset(std::string& sum, std::string_view element);
/// An empty sum again if no element is left.
void remove_from_multiset(std::string& sum, std::string_view element);

}  // namespace coffer
