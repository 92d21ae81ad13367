// What an export holds: a table of types, each with its columns. The names are the API's where the
// API has them; rows refer to each other by public ids. No hash, no secret, nothing sealed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "store/connection.h"

namespace coffer::store {

enum class ExportKind { text, integer, boolean, id, time, amount, hex, name };

struct ExportColumn {
  std::string_view name;
  ExportKind kind = ExportKind::text;
  std::string_view expression;                        // SQL over the noun's table, `x`
  std::string_view (*named)(std::int64_t) = nullptr;  // of ExportKind::name
};

struct ExportNoun {
  std::string_view type;
  std::string_view table;
  std::string_view order;
  std::span<const ExportColumn> columns;
  std::string_view joined = {};  // what else its expressions look at: one row at most for each
};

/// In an order in which whatever is referred to comes first.
std::span<const ExportNoun> export_nouns();

using ExportValue = std::variant<std::monostate, std::string, std::int64_t, bool>;

/// One state of the file, for as long as it lives.
class ExportReader {
 public:
  explicit ExportReader(const std::string& path);

  std::int64_t count(const ExportNoun& noun);
  /// Values in the order of the columns.
  void each(const ExportNoun& noun,
            const std::function<void(const std::vector<ExportValue>&)>& take);

 private:
  Connection db_;
};

}  // namespace coffer::store
