#include "base/files/csv_rows.h"

#include <utility>

namespace coffer {
namespace {

class CsvReader {
 public:
  CsvReader(std::string_view text, char separator) : text_(text), separator_(separator) {}

  Result<std::vector<CsvRow>> read() {
    std::vector<CsvRow> rows;
    while (at_ < text_.size()) {
      COFFER_TRY(CsvRow row, read_row());
      const bool blank = row.cells.size() == 1 && row.cells.front().empty();
      if (!blank) rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  Result<CsvRow> read_row() {
    CsvRow row{line_, {}};
    for (;;) {
      COFFER_TRY(std::string cell, at('"') ? read_quoted() : read_plain());
      row.cells.push_back(std::move(cell));
      if (!at(separator_)) break;
      ++at_;
    }
    if (at('\r')) ++at_;
    if (at('\n')) end_line();
    return row;
  }

  Result<std::string> read_plain() {
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] != separator_ && !at_line_end()) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  Result<std::string> read_quoted() {
    const std::size_t first_line = line_;
    std::string cell;
    for (++at_; at_ < text_.size();) {
      if (at('"')) {
        ++at_;
        if (!at('"')) return end_of_quoted(std::move(cell), first_line);
      }
      cell += text_[at_];
      if (text_[at_] == '\n') {
        end_line();
      } else {
        ++at_;
      }
    }
    return unexpected(fault(first_line, "a quoted cell is not closed"));
  }

  Result<std::string> end_of_quoted(std::string cell, std::size_t first_line) const {
    if (at_ == text_.size() || at(separator_) || at_line_end()) return cell;
    return unexpected(fault(first_line, "a closing quote must be followed by the separator"));
  }

  bool at(char c) const { return at_ < text_.size() && text_[at_] == c; }
  /// A lone carriage return belongs to its cell.
  bool at_line_end() const {
    return at('\n') || (at('\r') && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ||
           (at('\r') && at_ + 1 == text_.size());
  }
  void end_line() {
    ++at_;
    ++line_;
  }
  static Problem fault(std::size_t line, const std::string& what) {
    return Problem(Slug::malformed_request,
                   "Invalid CSV on line " + std::to_string(line) + ": " + what + ".");
  }

  std::string_view text_;
  char separator_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

Result<std::vector<CsvRow>> csv_rows(std::string_view text, char separator) {
  return CsvReader(text, separator).read();
}

}  // namespace coffer
