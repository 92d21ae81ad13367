#include "store/rows/canonical.h"

#include "base/text/next_part.h"

namespace coffer::store {

std::string canonical_columns(std::string_view names) {
  std::string out;
  while (!names.empty()) {
    const std::string name(next_part(names, ','));
    out += out.empty() ? "" : " || '|' || ";
    out += "iif(" + name + " IS NULL, '-', hex(" + name + "))";
  }
  return out;
}

}  // namespace coffer::store
