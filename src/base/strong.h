// Strong types: values that cannot be mixed up, and secrets that cannot be printed.
#pragma once

#include <compare>
#include <string>
#include <utility>

namespace coffer {

/// A T that only converts explicitly; `Tag` keeps kinds apart.
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

/// Text that must not reach a log, an error or a stream. No operator<<, no implicit conversion:
/// whoever really needs the text says `reveal()`.
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
