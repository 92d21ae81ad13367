// The plans of the writer's statements: work inside the writer must not grow with the file.
#pragma once

#include <string>
#include <vector>

#include "store/commit_queue.h"

namespace coffer::test {

/// Statements of the writer that scan a table that grows with use, with the step of the plan. A
/// statement that ends at its first row does not count. Empty if the queue rejects the command.
std::vector<std::string> writer_scans(store::CommitQueue& queue);

}  // namespace coffer::test
