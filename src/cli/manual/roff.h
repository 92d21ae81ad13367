// The few man macros that coffer's manual pages use.
#pragma once

#include <string>
#include <string_view>

namespace coffer::cli {

/// Escapes text for man: backslashes, hyphens (so that copied options work), and characters that
/// would start a request at the beginning of a line. Also lets lists of words break across lines.
std::string roff_text(std::string_view text);

/// A page that is written from top to bottom.
class RoffPage {
 public:
  /// `title` as in coffer(1); `summary` is the line for apropos.
  RoffPage(std::string_view title, int section, std::string_view summary);

  void section(std::string_view name);
  void subsection(std::string_view name);
  void paragraph(std::string_view text);
  /// A term in bold with its meaning indented below. `value` follows the term in italics.
  void item(std::string_view term, std::string_view value, std::string_view text);
  /// A line of a synopsis, with its first word in bold.
  void usage(std::string_view command, std::string_view rest);

  const std::string& text() const { return text_; }

 private:
  void begin_paragraph();

  std::string text_;
};

}  // namespace coffer::cli
