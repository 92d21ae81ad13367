#include <fcntl.h>
#include <unistd.h>

#include "base/platform/short_name.h"

namespace coffer {

ShortName::ShortName(const std::string& folder)
    : fd_(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
  if (fd_ >= 0) path_ = "/proc/self/fd/" + std::to_string(fd_);
}

ShortName::~ShortName() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace coffer
