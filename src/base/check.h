// Always-on assertions for programmer errors and broken invariants (never for bad input).
#pragma once

#include <stdexcept>
#include <string>

namespace coffer {

/// Thrown when coffer itself is wrong. Caught in exactly three places: the request pipeline, the
/// commit queue and the worker step; each logs it in full and shows the client nothing of it.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] inline void check_failed(const char* expression, const char* file, int line) {
  throw InternalError(std::string("check failed: ") + expression + " at " + file + ":" +
                      std::to_string(line));
}

}  // namespace coffer

#define COFFER_CHECK(expression) \
  ((expression) ? static_cast<void>(0) : ::coffer::check_failed(#expression, __FILE__, __LINE__))
