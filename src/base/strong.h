// Strong types: values that cannot be mixed up, and secrets that cannot be printed.
#pragma once

#include <compare>
#include <string>
#include <utility>

namespace coffer {

/// A T with explicit conversions only. `Tag` makes each type distinct.
template <class Tag, class T>
class Strong {
 public:
  Strong() = default;
  explicit Strong(T value) : value_(std::move(value)) {}
  const T& value() const { return value_; }
  auto operator<=>(const Strong&) const = default;

 private:
  T value_{};
};

/// Text that must not appear in a log, an error or a stream. It has no operator<< and no implicit
/// conversion; code that needs the text calls `reveal()`.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  const std::string& reveal() const { return text_; }
  bool empty() const { return text_.empty(); }

 private:
  std::string text_;
};

}  // namespace coffer
