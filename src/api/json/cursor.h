// Opaque page cursors. A cursor is valid only for its list and filters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/strong.h"

namespace coffer::api {

struct Cursor {
  std::int64_t position = 0;
  bool backward = false;
};

/// Authenticates cursors with a key of the server. A modified cursor, or one used with other
/// filters or by another tenant, is `invalid-cursor` and never leads to a wrong page.
class CursorCodec {
 public:
  explicit CursorCodec(Secret key) : key_(std::move(key)) {}
  /// `binding` contains everything that the page depends on: list, tenant, filters, sort order.
  std::string encode(const Cursor& cursor, std::string_view binding) const;
  Result<Cursor> decode(std::string_view text, std::string_view binding) const;

 private:
  std::string tag(std::string_view payload, std::string_view binding) const;
  Secret key_;
};

}  // namespace coffer::api
