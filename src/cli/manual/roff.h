// The few man macros that coffer's manual pages are made of.
#pragma once

#include <string>
#include <string_view>

namespace coffer::cli {

/// Text as man shows it: backslashes, hyphens that are to be copied, lists of words that may be
/// broken, and what would start a request at the beginning of a line.
std::string roff_text(std::string_view text);

/// A page that grows from the top down.
class RoffPage {
 public:
  /// `title` as in coffer(1); `summary` is the line that apropos finds.
  RoffPage(std::string_view title, int section, std::string_view summary);

  void section(std::string_view name);
  void subsection(std::string_view name);
  void paragraph(std::string_view text);
  /// A term in bold and what it means, below it and to the right. `value` follows in italics.
  void item(std::string_view term, std::string_view value, std::string_view text);
  /// `.SH SYNOPSIS` bodies and the like: one line, its first word in bold.
  void usage(std::string_view command, std::string_view rest);

  const std::string& text() const { return text_; }

 private:
  void begin_paragraph();

  std::string text_;
};

}  // namespace coffer::cli
