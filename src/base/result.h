// Result<T>: a value or a Problem, with the interface of std::expected (C++23), which GCC 12 lacks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/problem.h"

namespace coffer {

struct Unexpected {
  Problem problem;
};

inline Unexpected unexpected(Problem problem) { return Unexpected{std::move(problem)}; }
inline Unexpected unexpected(Slug slug, std::string detail = {}) {
  return Unexpected{Problem(slug, std::move(detail))};
}

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: as std::expected
  Result(Unexpected error)                                               // NOLINT: as std::expected
      : state_(std::in_place_index<1>, std::move(error.problem)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & { return check(), std::get<0>(state_); }
  const T& value() const& { return check(), std::get<0>(state_); }
  T&& value() && { return check(), std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Problem& error() & { return std::get<1>(state_); }
  const Problem& error() const& { return std::get<1>(state_); }
  Problem&& error() && { return std::get<1>(std::move(state_)); }

 private:
  void check() const {
    if (!has_value()) throw InternalError("value() on a Problem: " + error().detail);
  }
  std::variant<T, Problem> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Unexpected error) : problem_(std::move(error.problem)), failed_(true) {}  // NOLINT

  bool has_value() const { return !failed_; }
  explicit operator bool() const { return has_value(); }
  void value() const {
    if (failed_) throw InternalError("value() on a Problem: " + problem_.detail);
  }

  Problem& error() & { return problem_; }
  const Problem& error() const& { return problem_; }
  Problem&& error() && { return std::move(problem_); }

 private:
  Problem problem_;
  bool failed_ = false;
};

/// The value; without one, `not-found` for this kind of object.
template <class T>
Result<T> existing(std::optional<T> found, std::string_view what) {
  if (found) return *std::move(found);
  return unexpected(Slug::not_found, "The " + std::string(what) + " was not found.");
}

template <class T>
struct ResultOf {
  using type = Result<T>;
};
template <class T>
struct ResultOf<Result<T>> {
  using type = Result<T>;
};
/// The Result of a function that returns a value or a Result.
template <class T>
using AsResult = typename ResultOf<T>::type;

}  // namespace coffer

// Assigns the value of a Result expression or returns its Problem from the enclosing function.
#define COFFER_CONCAT_INNER(a, b) a##b
#define COFFER_CONCAT(a, b) COFFER_CONCAT_INNER(a, b)
#define COFFER_TRY(declaration, expression)                                           \
  auto COFFER_CONCAT(result_, __LINE__) = (expression);                               \
  if (!COFFER_CONCAT(result_, __LINE__))                                              \
    return ::coffer::unexpected(std::move(COFFER_CONCAT(result_, __LINE__)).error()); \
  declaration = *std::move(COFFER_CONCAT(result_, __LINE__))
#define COFFER_TRY_VOID(expression)                                                            \
  if (auto COFFER_CONCAT(result_, __LINE__) = (expression); !COFFER_CONCAT(result_, __LINE__)) \
  return ::coffer::unexpected(std::move(COFFER_CONCAT(result_, __LINE__)).error())
