// Collects all errors of a request, so that one response reports all of them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

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
  /// Whether this field already has an error.
  bool names(std::string_view field) const {
    return std::ranges::any_of(errors_,
                               [&](const Fault& fault) { return fault.error.field == field; });
  }

  /// Enough for 100 legs with every field invalid. The limit keeps a response from being much
  /// larger than its request.
  static constexpr std::size_t kShown = 500;

  /// One Problem with all fields, or the first `kShown`. Precedence of the status: a wrong shape
  /// (400), a missing resource (404), an invalid value (422), a wrong state (409). If errors with
  /// the winning status have different slugs, the Problem has the general slug of that status. Do
  /// not call it without errors.
  Problem problem() const;
  /// That Problem if there are errors.
  Result<void> check() const;

 private:
  struct Fault {
    Slug slug;
    FieldError error;
  };
  std::vector<Fault> errors_;
};

}  // namespace coffer
