// Result<T>: a value or a Problem, with the interface of std::expected (C++23), which GCC 12 lacks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

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

// A union, because std::variant took up to a tenth of the compile time of a source.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : value_(std::move(value)), has_value_(true) {}  // NOLINT: as std::expected
  Result(Unexpected error)                                         // NOLINT: as std::expected
      : problem_(std::move(error.problem)), has_value_(false) {}
  Result(const Result& other) requires std::is_copy_constructible_v<T>
      : has_value_(other.has_value_) {
    if (has_value_) {
      std::construct_at(&value_, other.value_);
    } else {
      std::construct_at(&problem_, other.problem_);
    }
  }
  Result(Result&& other) noexcept : has_value_(other.has_value_) {
    if (has_value_) {
      std::construct_at(&value_, std::move(other.value_));
    } else {
      std::construct_at(&problem_, std::move(other.problem_));
    }
  }
  Result& operator=(Result other) noexcept {
    std::destroy_at(this);
    return *std::construct_at(this, std::move(other));
  }
  ~Result() {
    if (has_value_) {
      std::destroy_at(&value_);
    } else {
      std::destroy_at(&problem_);
    }
  }

  bool has_value() const { return has_value_; }
  explicit operator bool() const { return has_value_; }

  T& value() & { return check(), value_; }
  const T& value() const& { return check(), value_; }
  T&& value() && { return check(), std::move(value_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Problem& error() & { return check_error(), problem_; }
  const Problem& error() const& { return check_error(), problem_; }
  Problem&& error() && { return check_error(), std::move(problem_); }

 private:
  static_assert(std::is_nothrow_move_constructible_v<T>);

  void check() const {
    if (!has_value_) throw InternalError("value() on a Problem: " + problem_.detail);
  }
  void check_error() const {
    if (has_value_) throw InternalError("error() on a value");
  }
  union {
    T value_;
    Problem problem_;
  };
  bool has_value_;
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
