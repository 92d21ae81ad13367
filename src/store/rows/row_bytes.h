// Size in bytes of a row of each kind in the file, including its index entries, for the quota
// `file_bytes`. tests/unit/store/identity/quota_book_test.cpp compares their sum with a file.
#pragma once

#include <cstdint>

namespace coffer::store::row_bytes {
inline constexpr std::int64_t kPayment = 200;  // without its texts
inline constexpr std::int64_t kLeg = 90;
inline constexpr std::int64_t kEntrySet = 75;
inline constexpr std::int64_t kPosting = 75;  // two entries
inline constexpr std::int64_t kEvent = 28;
inline constexpr std::int64_t kEventBody = 20;
inline constexpr std::int64_t kDelivery = 50;
inline constexpr std::int64_t kAttempt = 48;
inline constexpr std::int64_t kQuote = 190;
inline constexpr std::int64_t kWallet = 700;  // with its metadata and first account
inline constexpr std::int64_t kBeneficiary = 400;
inline constexpr std::int64_t kDestination = 260;
inline constexpr std::int64_t kWebhook = 500;
inline constexpr std::int64_t kReference = 300;
}  // namespace coffer::store::row_bytes
