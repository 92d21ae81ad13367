#include "base/platform/processors.h"

#include <unistd.h>

#include <algorithm>

namespace coffer {

int processors() { return static_cast<int>(std::max(2L, ::sysconf(_SC_NPROCESSORS_ONLN))); }

}  // namespace coffer
