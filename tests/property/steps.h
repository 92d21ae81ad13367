#pragma once

#include <cstdint>

namespace coffer::property {

/// The smallest amount of an asset with `decimals` places, in units of 0.0000001.
inline std::int64_t step_of(int decimals) {
  std::int64_t step = 10'000'000;
  for (int i = 0; i < decimals; ++i) step /= 10;
  return step;
}

}  // namespace coffer::property
