#include "store/rows/chain.h"

#include <algorithm>

#include "base/text/append_number.h"

namespace coffer::store {

int count_names(std::string_view names) {
  return static_cast<int>(std::ranges::count(names, ',')) + 1;
}

void append_canonical(const Query& row, int first, int count, std::string& out) {
  for (int column = first; column < first + count; ++column) {
    if (row.is_null(column)) {
      out += '-';
      continue;
    }
    const std::string_view bytes = row.bytes(column);
    append_number(out, bytes.size());
    out += ':';
    out += bytes;
  }
}

}  // namespace coffer::store
