#include "base/telemetry/log_scope.h"

namespace coffer {
namespace {

thread_local const LogScope* innermost = nullptr;

}  // namespace

LogScope::LogScope(std::string_view key, std::string_view value)
    : key_(key), value_(value), outer_(innermost) {
  innermost = this;
}

LogScope::~LogScope() { innermost = outer_; }

const LogScope* LogScope::current() { return innermost; }

LogScope::Adopted::Adopted(const LogScope* scope) : before_(innermost) { innermost = scope; }

LogScope::Adopted::~Adopted() { innermost = before_; }

}  // namespace coffer
