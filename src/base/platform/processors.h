// How many threads can run at once on this machine.
#pragma once

namespace coffer {

/// At least two: one of them may be asleep in the kernel. Any thread.
int processors();

}  // namespace coffer
