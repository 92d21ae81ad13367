#pragma once

namespace coffer::test {

/// A well-formed ID that no record has.
inline constexpr const char* kUnknownId = "0190a5a0-0000-7000-8000-000000000000";

}  // namespace coffer::test
