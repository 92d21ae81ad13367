// The contents of an export: a table of types with their columns. Names are those of the API where
// possible. Rows refer to each other by public IDs. An export contains no hashes, secrets or sealed
// values.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "store/file/connection.h"

namespace coffer::store {

enum class ExportKind { text, integer, boolean, id, time, amount, hex, name, json };

struct ExportColumn {
  std::string name;
  ExportKind kind = ExportKind::text;
  std::string_view expression;                        // SQL over the noun's table, `x`
  std::string_view (*named)(std::int64_t) = nullptr;  // for ExportKind::name
};

struct ExportNoun {
  std::string_view type;
  std::string_view table;
  std::string_view order;
  std::vector<ExportColumn> columns;
  std::string_view joined = {};  // joins of its expressions; at most one row for each
};

/// In an order in which referenced rows come first.
std::span<const ExportNoun> export_nouns();

using ExportValue = std::variant<std::nullptr_t, std::string, std::int64_t, bool>;

/// One consistent state of the file during its lifetime.
class ExportReader {
 public:
  explicit ExportReader(const std::string& path);

  Connection& db() { return db_; }
  std::int64_t count(const ExportNoun& noun);
  /// Values in the order of the columns.
  void each(const ExportNoun& noun,
            const std::function<void(const std::vector<ExportValue>&)>& take);

 private:
  Connection db_;
};

}  // namespace coffer::store
