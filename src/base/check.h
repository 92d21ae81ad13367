// Assertions for programming errors and broken invariants. They are always enabled. Not for bad
// input.
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace coffer {

/// A bug in coffer. Caught in exactly three places: the request pipeline, the commit queue and the
/// worker step. Each logs it in full and shows the client no details.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] inline void check_failed(const char* expression, const char* file, int line) {
  throw InternalError(std::string("check failed: ") + expression + " at " + file + ":" +
                      std::to_string(line));
}

/// Whether each row of a table is about the enumerator of its position.
template <class Rows, class Row, class Enum>
constexpr bool in_enum_order(const Rows& rows, Enum Row::*value) {
  return std::ranges::all_of(rows, [&, at = std::size_t{0}](const Row& row) mutable {
    return row.*value == static_cast<Enum>(at++);
  });
}

}  // namespace coffer

#define COFFER_CHECK(expression) \
  ((expression) ? static_cast<void>(0) : ::coffer::check_failed(#expression, __FILE__, __LINE__))
