// Collects everything that is wrong with a request, so that one answer tells all of it.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"

namespace coffer {

class ValidationErrors {
 public:
  void add(Slug slug, std::string field, std::string message) {
    errors_.push_back({slug, {std::move(field), std::move(message)}});
  }
  void add(const ValidationErrors& more) {
    errors_.insert(errors_.end(), more.errors_.begin(), more.errors_.end());
  }
  bool empty() const { return errors_.empty(); }
  /// Whether something is wrong with this field already.
  bool names(std::string_view field) const {
    return std::any_of(errors_.begin(), errors_.end(),
                       [&](const Fault& fault) { return fault.error.field == field; });
  }

  /// A hundred legs with every field wrong. An answer must not be much larger than what it answers.
  static constexpr std::size_t kShown = 500;

  /// One Problem with every field, or the first `kShown` of them. Its status: a wrong shape (400)
  /// outranks a missing resource (404), which outranks a wrong value (422), which outranks a wrong
  /// state (409). Different slugs of the winning status become that status's general slug. Not for
  /// an empty collection.
  Problem problem() const;

 private:
  struct Fault {
    Slug slug;
    FieldError error;
  };
  std::vector<Fault> errors_;
};

}  // namespace coffer
