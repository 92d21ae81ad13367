#include "store/rows/row_buffer.h"

#include "store/rows/columns.h"

namespace coffer::store {
namespace {

/// The name under which SQLite reads the gathered rows of a table.
std::string source_of(const std::string& table) { return "new_" + table; }

}  // namespace

RowBuffer::RowBuffer(Connection& writer, const std::string& table, std::string_view columns)
    : writer_(writer),
      insert_("INSERT INTO " + table + " (" + std::string(columns) + ") SELECT * FROM " +
              source_of(table)),
      rows_{static_cast<std::size_t>(count_names(columns))} {
  writer.add_table(source_of(table), rows_);
}

void RowBuffer::append(Blob value) {
  rows_.cells.push_back({Kind::blob, static_cast<std::uint32_t>(value.bytes.size()),
                         static_cast<std::int64_t>(rows_.bytes.size())});
  rows_.bytes += value.bytes;
}

void RowBuffer::write() {
  if (rows_.cells.empty()) return;
  writer_.run(insert_.c_str());
  clear();
}

void RowBuffer::clear() {
  rows_.cells.clear();
  rows_.bytes.clear();
}

}  // namespace coffer::store
