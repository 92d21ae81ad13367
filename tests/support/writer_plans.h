// How SQLite plans what the writer runs: work inside the writer must not grow with the file.
#pragma once

#include <string>
#include <vector>

#include "store/commit_queue.h"

namespace coffer::test {

/// Statements which the writer has run and which walk a table that grows with use, each with the
/// step of its plan. A statement that ends at its first row is none. Empty when the queue refuses.
std::vector<std::string> writer_scans(store::CommitQueue& queue);

}  // namespace coffer::test
