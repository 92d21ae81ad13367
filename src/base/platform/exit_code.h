// Exit codes (docs/contract.md#command-line). A supervisor must not restart on
// `kUsage`, `kFault`, `kPermission` and `kConfiguration`.
#pragma once

namespace coffer::exit_code {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kFault = 3;         // not healthy, or verification found an error
inline constexpr int kUnreachable = 69;  // the server does not respond
inline constexpr int kUncertain = 70;    // state of the storage unknown; a restart recovers
inline constexpr int kCannotCreate = 73;
inline constexpr int kCorrupt = 74;
inline constexpr int kBusy = 75;  // busy, locked or disk full; may work later
inline constexpr int kPermission = 77;
inline constexpr int kConfiguration = 78;

}  // namespace coffer::exit_code
