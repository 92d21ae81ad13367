#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/platform/parking.h"

namespace coffer {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

void park(const std::atomic<std::uint32_t>& word, std::uint32_t value) {
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

void unpark(std::atomic<std::uint32_t>* word) {
  ::syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace coffer
