#include "base/platform/parking.h"

namespace coffer {

void park(const std::atomic<std::uint32_t>& word, std::uint32_t value) {
  word.wait(value, std::memory_order_acquire);
}

void unpark(std::atomic<std::uint32_t>* word) { word->notify_one(); }

}  // namespace coffer
