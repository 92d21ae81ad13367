// Lets a thread sleep until a word in memory changes. std::atomic::wait does this too, but
// libstdc++ first calls sched_yield() several times, and each call is a context switch when
// processors are busy.
#pragma once

#include <atomic>
#include <cstdint>

namespace coffer {

/// Sleeps while the word has this value. May return earlier, so call it in a loop.
void park(const std::atomic<std::uint32_t>& word, std::uint32_t value);
/// Wakes a thread that sleeps on the word. Call it after a change of the word. Uses only the
/// address, so the word may already be destroyed.
void unpark(std::atomic<std::uint32_t>* word);

}  // namespace coffer
