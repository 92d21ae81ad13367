// What every log line of a thread carries while something is under way: the request it belongs to,
// the payment. Whoever logs deep below needs to know nothing of it.
//
//   const LogScope scope("request_id", request.request_id);
#pragma once

#include <string_view>

namespace coffer {

/// Lives on the stack of one thread; scopes nest. A line that has a field of this key keeps its
/// own.
class LogScope {
 public:
  /// Key and value are referred to and outlive the scope. The value is no secret; an empty one
  /// shows nowhere.
  LogScope(std::string_view key, std::string_view value);
  ~LogScope();
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;

  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }
  const LogScope* outer() const { return outer_; }
  /// The innermost of this thread; nullptr outside of all.
  static const LogScope* current();

  /// Another thread works for the owner of `scope`, who waits meanwhile: the lines carry the
  /// owner's.
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
