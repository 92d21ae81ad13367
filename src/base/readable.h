// Sizes, durations and times for people. Programs get exact values (--json).
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"

namespace coffer {

/// `512 B`, `4.3 MiB`, `120 GiB`.
std::string readable_bytes(std::int64_t bytes);

/// The two largest units: `340 ms`, `4.2 s`, `42 s`, `22 min 5 s`, `4 h 12 min`, `3 d 4 h`. A
/// negative duration is `0 ms`.
std::string readable_duration(std::int64_t ms);

/// With minutes: `2026-11-22 07:28 UTC`.
std::string readable_time(Timestamp at);
/// With milliseconds, to show the order of steps: `2026-11-22 07:28:03.161 UTC`.
std::string exact_time(Timestamp at);
/// The distance from `now`: `22 min ago`, `in 5 min`; empty for a day or more.
std::string readable_age(Timestamp at, Timestamp now);

}  // namespace coffer
