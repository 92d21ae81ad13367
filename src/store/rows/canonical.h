// The canonical text of a row, over which keyed digests are computed.
#pragma once

#include <string>
#include <string_view>

#include "store/connection.h"

namespace coffer::store {

/// The number of names in a list that is separated by commas.
int count_names(std::string_view names);

/// Appends `count` columns of the row from `first` on: per column `-` for NULL, otherwise the
/// number of bytes, `:` and the bytes (of an integer: its decimal digits).
void append_canonical(const Query& row, int first, int count, std::string& out);

}  // namespace coffer::store
