// Reads CBOR (RFC 8949) as authenticators send it: definite lengths, no tags, few levels of
// nesting. nlohmann::json cannot read it, because the maps of a COSE key have integer keys. It
// would also keep the last of two equal keys, and accept numbers that are not in their shortest
// form.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace coffer::auth {

/// Each function reads one item and advances past it. nullopt or false: the item has another type,
/// is not encoded in the shortest form, or is truncated. The reader must not be used afterwards.
class CborReader {
 public:
  explicit CborReader(std::string_view bytes) : rest_(bytes) {}

  std::optional<std::int64_t> integer();
  std::optional<std::string_view> bytes() { return run_of(kBytes); }
  std::optional<std::string_view> text() { return run_of(kText); }
  /// Number of key-value pairs that follow.
  std::optional<std::uint64_t> map() { return head(kMap); }
  /// Skips one item of any type with everything that it contains.
  bool skip() { return skip(kDepthMax); }

  /// The bytes that were not read yet.
  std::string_view rest() const { return rest_; }

 private:
  static constexpr int kDepthMax = 8;
  static constexpr std::uint8_t kUnsigned = 0, kNegative = 1, kBytes = 2, kText = 3, kArray = 4,
                                kMap = 5, kSimple = 7;

  std::optional<std::uint8_t> next_type() const;
  std::optional<std::uint64_t> head(std::uint8_t type);
  std::optional<std::string_view> run_of(std::uint8_t type);
  bool skip(int depth);

  std::string_view rest_;
};

}  // namespace coffer::auth
