// Checks of single lines: unfinished work, white space, opening comments, links.
#include <algorithm>
#include <array>
#include <filesystem>
#include <regex>
#include <string>
#include <string_view>

#include "rules.h"

namespace tidy {
namespace {

bool is_source(const File& file) {
  constexpr std::array<std::string_view, 10> kSources = {".h",    ".cpp", ".js", ".mjs",   ".css",
                                                         ".html", ".sql", ".sh", ".cmake", ".py"};
  return std::find(kSources.begin(), kSources.end(), file.extension()) != kSources.end() ||
         file.name() == "CMakeLists.txt" || file.path == "dev" || file.path == ".ci/run";
}

bool is_address(std::string_view target) {
  return target.find("://") != std::string_view::npos || target.starts_with("mailto:") ||
         target.starts_with('#');
}

/// The path of a link, from the source root; GitHub interprets a leading slash as that root.
std::string resolve(const File& file, std::string_view target) {
  target = target.substr(0, target.find_first_of("#? "));
  if (target.starts_with('<') && target.ends_with('>')) {
    target = target.substr(1, target.size() - 2);
  }
  if (target.starts_with('/')) return std::string(target.substr(1));
  namespace fs = std::filesystem;
  std::string path = (fs::path(file.folder()) / target).lexically_normal().generic_string();
  if (path.ends_with('/')) path.pop_back();
  return path;
}

/// `line` without text between backquotes.
std::string without_code(std::string_view line) {
  std::string out;
  bool code = false;
  for (const char c : line) {
    if (c == '`') code = !code;
    out += code ? ' ' : c;
  }
  return out;
}

void judge_target(const Tree& tree, const File& file, int line, std::string_view target,
                  Findings& out) {
  if (target.empty() || is_address(target)) return;
  if (tree.has_file_or_folder(resolve(file, target))) return;
  out.push_back({file.path, line, "nothing is at " + std::string(target) + "; mend the link"});
}

/// Both forms: [text](target) and, on a separate line, [name]: target.
void judge_links(const Tree& tree, const File& file, int number, const std::string& line,
                 Findings& out) {
  for (auto at = line.find("]("); at != std::string::npos; at = line.find("](", at + 2)) {
    const auto end = line.find(')', at);
    if (end != std::string::npos) {
      judge_target(tree, file, number, std::string_view(line).substr(at + 2, end - at - 2), out);
    }
  }
  const auto colon = line.find("]: ");
  if (line.starts_with('[') && colon != std::string::npos) {
    judge_target(tree, file, number, std::string_view(line).substr(colon + 3), out);
  }
}

std::string_view comment_text(std::string_view line) {
  if (!line.starts_with("//")) return {};
  line.remove_prefix(2);
  return line;
}

}  // namespace

Findings check_unfinished(const Tree& tree) {
  // In halves, so that this file does not match itself.
  static const std::array<std::string, 2> marks = {
      "TO"
      "DO",
      "FIX"
      "ME"};
  Findings out;
  for (const auto& [path, file] : tree.files()) {
    if (!is_source(file)) continue;
    for (const Word& word : words(file.text)) {
      if (std::find(marks.begin(), marks.end(), word.text) == marks.end()) continue;
      out.push_back({path, line_at(file.text, word.offset),
                     std::string(word.text) + " promises what nobody keeps; do it or drop it"});
    }
  }
  return out;
}

Findings check_white_space(const Tree& tree) {
  Findings out;
  for (const auto& [path, file] : tree.files()) {
    if (!is_source(file)) continue;
    int number = 0;
    for (const std::string_view line : file.lines()) {
      ++number;
      if (line.find('\t') != std::string_view::npos) {
        out.push_back({path, number, "indent with spaces, write \\t in a string"});
      }
      if (line.ends_with(' ') || line.ends_with('\r')) {
        out.push_back({path, number, "remove the white space at the end of the line"});
      }
    }
    if (!file.text.empty() && !file.text.ends_with('\n')) {
      out.push_back({path, number, "end the last line"});
    }
  }
  return out;
}

Findings check_header_opening(const Tree& tree) {
  constexpr std::size_t kWordsMin = 3;
  Findings out;
  for (const auto& [path, file] : tree.files()) {
    if (!file.in("src") || !file.is_header()) continue;
    const auto lines = file.lines();
    const bool says = !lines.empty() && words(comment_text(lines[0])).size() >= kWordsMin;
    if (!says) {
      out.push_back({path, 1, "start with a comment that says what this is"});
    }
    const bool once = std::find(lines.begin(), lines.end(), "#pragma once") != lines.end();
    if (!once) out.push_back({path, 1, "#pragma once is missing"});
  }
  return out;
}

/// A path after a command or an option that a person copies from a text.
Findings check_shell_words(const Tree& tree) {
  static const std::regex pasted(
      "(--db|--cacert|--master-key-file|chmod [0-9a-z+-]+|fuser|sqlite3|mv|cp|rm) \""
      "(\\s*\\+|\\)\\.append\\()(?!\\s*shell_word\\()");
  Findings out;
  for (const auto& [path, file] : tree.files()) {
    if (!file.in("src") || !file.is_cpp()) continue;
    for (std::sregex_iterator at(file.text.begin(), file.text.end(), pasted), end; at != end;
         ++at) {
      out.push_back({path, line_at(file.text, static_cast<std::size_t>(at->position())),
                     "a path may contain a blank; write shell_word(PATH)"});
    }
  }
  return out;
}

Findings check_links(const Tree& tree) {
  Findings out;
  for (const auto& [path, file] : tree.files()) {
    if (file.extension() != ".md") continue;
    int number = 0;
    bool fenced = false;
    for (const std::string_view line : file.lines()) {
      ++number;
      const auto start = line.find_first_not_of(' ');
      const bool fence = start != std::string_view::npos && line.substr(start).starts_with("```");
      if (fence) fenced = !fenced;
      if (!fenced && !fence) judge_links(tree, file, number, without_code(line), out);
    }
  }
  return out;
}

}  // namespace tidy
