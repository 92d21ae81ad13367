// A fault point that is active during the lifetime of the object.
#pragma once

#include "base/fault.h"

namespace coffer::test {

class ArmedFault {
 public:
  /// As in COFFER_FAULT: `name[:n][=action]`; n = 0 means every pass.
  explicit ArmedFault(const char* spec) { fault::arm(spec); }
  ~ArmedFault() { fault::arm(""); }
  ArmedFault(const ArmedFault&) = delete;
  ArmedFault& operator=(const ArmedFault&) = delete;
};

}  // namespace coffer::test
