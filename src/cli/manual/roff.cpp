#include "cli/manual/roff.h"

#include "embedded/embedded.h"

namespace coffer::cli {

std::string roff_text(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    // After a zero-width character, a dot does not start a roff request.
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    line_start = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '|' || c == ',') {
      out += c;
      out += "\\:";  // allows a line break
    } else {
      out += c;
    }
  }
  return out;
}

RoffPage::RoffPage(std::string_view title, int section_number, std::string_view summary) {
  const std::string name(title);
  text_ = ".\\\" Generated from the tables of commands and settings: coffer man " + name +
          "\n.TH " + name + " " + std::to_string(section_number) + " \"\" \"coffer " +
          std::string(embedded::version()) + "\" \"coffer\"\n.ad l\n.nh\n";
  section("NAME");
  text_ += roff_text(title) + " \\- " + roff_text(summary) + "\n";
}

void RoffPage::section(std::string_view name) { text_ += ".SH " + roff_text(name) + "\n"; }

void RoffPage::subsection(std::string_view name) { text_ += ".SS " + roff_text(name) + "\n"; }

void RoffPage::begin_paragraph() {
  const auto last = text_.rfind('\n', text_.size() - 2);
  // A heading already starts a paragraph.
  if (text_.compare(last + 1, 2, ".S") != 0) text_ += ".PP\n";
}

void RoffPage::paragraph(std::string_view text) {
  begin_paragraph();
  text_ += roff_text(text) + "\n";
}

void RoffPage::item(std::string_view term, std::string_view value, std::string_view text) {
  text_ += ".TP\n\\fB" + roff_text(term) + "\\fR";
  if (!value.empty()) text_ += " \\fI" + roff_text(value) + "\\fR";
  text_ += "\n" + roff_text(text) + "\n";
}

void RoffPage::usage(std::string_view command, std::string_view rest) {
  begin_paragraph();
  text_ += "\\fB" + roff_text(command) + "\\fR";
  if (!rest.empty()) text_ += " " + roff_text(rest);
  text_ += "\n";
}

}  // namespace coffer::cli
