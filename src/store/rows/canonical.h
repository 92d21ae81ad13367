// The canonical text of a row, over which keyed digests are computed.
#pragma once

#include <string>
#include <string_view>

namespace coffer::store {

/// An SQL expression for the columns in `names`, which are separated by commas: per column `-` for
/// NULL, otherwise the bytes of the value in upper-case hex (of an integer: its decimal digits),
/// with `|` between columns.
std::string canonical_columns(std::string_view names);

}  // namespace coffer::store
