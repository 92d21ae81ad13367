// Fields that every log line of an operation carries, such as the ID of the request or the payment.
// Code deep below can log without knowing them.
//
//   const LogScope scope("request_id", request.request_id);
#pragma once

#include <string_view>

namespace coffer {

/// Lives on the stack of one thread; scopes nest. If a line has a field with the same key, it keeps
/// that field.
class LogScope {
 public:
  /// Key and value are referenced and must outlive the scope. The value must not be a secret. An
  /// empty value is omitted.
  LogScope(std::string_view key, std::string_view value);
  ~LogScope();
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;

  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }
  const LogScope* outer() const { return outer_; }
  /// The innermost scope of the present work (base/fibers/work_value.h), or nullptr.
  static const LogScope* current();

  /// For a thread that works on behalf of the waiting owner of `scope`: its log lines carry the
  /// owner's fields.
  class Adopted {
   public:
    explicit Adopted(const LogScope* scope);
    ~Adopted();
    Adopted(const Adopted&) = delete;
    Adopted& operator=(const Adopted&) = delete;

   private:
    const LogScope* before_;
  };

 private:
  std::string_view key_;
  std::string_view value_;
  const LogScope* outer_;
};

}  // namespace coffer
