// A fault point that is armed for as long as this lives.
#pragma once

#include "base/fault.h"

namespace coffer::test {

class ArmedFault {
 public:
  /// As in COFFER_FAULT: `name[:n][=action]`; with n = 0 at every passage.
  explicit ArmedFault(const char* spec) { fault::arm(spec); }
  ~ArmedFault() { fault::arm(""); }
  ArmedFault(const ArmedFault&) = delete;
  ArmedFault& operator=(const ArmedFault&) = delete;
};

}  // namespace coffer::test
