// All values that are sealed under the master key, for the rotation of that key.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/commits/write_tx.h"

namespace coffer::store {

/// A column of sealed values. Each is sealed for `context` and the ID of its row.
struct SealedColumn {
  std::string_view table;
  std::string_view column;
  std::string_view context;
};
std::span<const SealedColumn> sealed_columns();

/// Converts a sealed value and its context to the value to store instead.
using Reseal =
    std::function<Result<std::string>(const std::string& sealed, const std::string& context)>;

/// Replaces every sealed value of the file, including those in meta, and returns their number.
/// Stops at the first Problem; the command then changes nothing.
Result<std::int64_t> reseal_all(WriteTx& tx, const Reseal& reseal);

}  // namespace coffer::store
