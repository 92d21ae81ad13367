#include "base/telemetry/log_scope.h"

#include "base/fibers/work_value.h"

namespace coffer {
namespace {

void set_innermost(const LogScope* scope) {
  work_value(WorkValue::log_scope) = reinterpret_cast<std::uintptr_t>(scope);
}

}  // namespace

LogScope::LogScope(std::string_view key, std::string_view value)
    : key_(key), value_(value), outer_(current()) {
  set_innermost(this);
}

LogScope::~LogScope() { set_innermost(outer_); }

const LogScope* LogScope::current() {
  return reinterpret_cast<const LogScope*>(work_value(WorkValue::log_scope));
}

LogScope::Adopted::Adopted(const LogScope* scope) : before_(current()) { set_innermost(scope); }

LogScope::Adopted::~Adopted() { set_innermost(before_); }

}  // namespace coffer
