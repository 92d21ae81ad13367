// References in comments and texts: to a document of this repository and a heading in it, or to a
// section of a published standard.
#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "rules.h"

namespace tidy {
namespace {

constexpr std::string_view kExtension = ".md";
constexpr std::string_view kDocuments = "docs/";

/// Names of documents that are not in this repository, and of headings without an address.
constexpr auto kNameless =
    std::to_array<std::string_view>({" (contract \"", " (contract, ", "contract's section",
                                     "reliability anchors", "reliability notes"});

bool is_path_char(char c) { return is_word_char(c) || c == '/' || c == '.' || c == '-'; }
bool is_anchor_char(char c) { return is_word_char(c) || c == '-'; }
bool is_blank(char c) { return c == ' ' || c == '\n'; }

/// The samples of the rules contain names that do not exist.
bool is_sample(const File& file) {
  return file.folder() == "tests/tidy" && file.name() == "samples.cpp";
}

/// As GitHub derives it from a heading: lower case, hyphens for blanks, no punctuation.
std::string anchor_of(std::string_view heading) {
  std::string out;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == ' ') out += '-';
    if (is_anchor_char(c) || byte >= 0x80) out += static_cast<char>(std::tolower(byte));
  }
  return out;
}

std::set<std::string> anchors_of(const File& document) {
  std::set<std::string> out;
  std::map<std::string, int> seen;
  bool fenced = false;
  for (const std::string_view line : document.lines()) {
    if (line.starts_with("```")) fenced = !fenced;
    const auto level = std::min(line.find_first_not_of('#'), line.size());
    if (fenced || level == 0 || level == line.size() || line[level] != ' ') continue;
    std::string anchor = anchor_of(line.substr(level + 1));
    const int before = seen[anchor]++;
    if (before > 0) anchor += "-" + std::to_string(before);
    out.insert(std::move(anchor));
  }
  return out;
}

/// The document of a path: from the source root, or next to the referring file.
const File* document_at(const Tree& tree, const File& from, std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  if (const File* found = tree.find(std::string(path))) return found;
  namespace fs = std::filesystem;
  return tree.find((fs::path(from.folder()) / path).lexically_normal().generic_string());
}

void judge_anchor(const File& document, std::string_view anchor, const File& file,
                  std::size_t offset, Findings& out) {
  if (anchors_of(document).contains(std::string(anchor))) return;
  out.push_back(
      {file.path, line_at(file.text, offset),
       document.path + " has no heading #" + std::string(anchor) + "; point to one it has"});
}

std::string_view anchor_at(std::string_view text, std::size_t offset) {
  if (offset >= text.size() || text[offset] != '#') return {};
  std::size_t end = offset + 1;
  while (end < text.size() && is_anchor_char(text[end])) ++end;
  return text.substr(offset + 1, end - offset - 1);
}

/// `docs/x.md`, `docs/x.md#heading`, and in a document `x.md#heading`.
void judge_documents(const Tree& tree, const File& file, Findings& out) {
  const std::string_view text = file.text;
  for (auto at = text.find(kExtension); at != std::string_view::npos;
       at = text.find(kExtension, at + 1)) {
    const std::size_t end = at + kExtension.size();
    if (end < text.size() && is_word_char(text[end])) continue;
    std::size_t start = at;
    while (start > 0 && is_path_char(text[start - 1])) --start;
    const std::string_view path = text.substr(start, end - start);
    const std::string_view anchor = anchor_at(text, end);
    const bool address = start > 0 && text[start - 1] == ':';
    if (address || (anchor.empty() && path.find(kDocuments) == std::string_view::npos)) continue;
    const File* document = document_at(tree, file, path);
    if (document == nullptr) {
      out.push_back({file.path, line_at(text, at),
                     "there is no document " + std::string(path) + " in this repository"});
    } else if (!anchor.empty()) {
      judge_anchor(*document, anchor, file, at, out);
    }
  }
}

/// Links inside a document: [text](#heading).
void judge_own_anchors(const File& file, Findings& out) {
  constexpr std::string_view kLink = "](#";
  if (file.extension() != kExtension) return;
  const std::string_view text = file.text;
  for (auto at = text.find(kLink); at != std::string_view::npos; at = text.find(kLink, at + 1)) {
    judge_anchor(file, anchor_at(text, at + 2), file, at, out);
  }
}

/// Whether `before` ends with the name of an RFC, also across the line break of a comment.
bool ends_with_rfc(std::string_view before) {
  const auto drop = [&](auto is_dropped) {
    while (!before.empty() && is_dropped(before.back())) before.remove_suffix(1);
  };
  const auto is_between = [](char c) { return is_blank(c) || c == '/' || c == '#' || c == '*'; };
  drop(is_between);
  drop([](char c) { return c == ','; });
  const std::size_t size = before.size();
  drop([](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
  if (before.size() == size) return false;
  drop(is_between);
  return before.ends_with("RFC");
}

void judge_sections(const File& file, Findings& out) {
  for (const Word& word : words(file.text)) {
    const bool section = word.text == "section" || word.text == "sections" ||
                         word.text == "Section" || word.text == "Sections";
    if (!section) continue;
    const std::string_view text = file.text;
    std::size_t next = word.offset + word.text.size();
    while (next < text.size() && (is_blank(text[next]) || text[next] == '/')) ++next;
    const bool numbered =
        next < text.size() && std::isdigit(static_cast<unsigned char>(text[next])) != 0;
    if (!numbered || ends_with_rfc(text.substr(0, word.offset))) continue;
    out.push_back(
        {file.path, line_at(text, word.offset),
         "only an RFC has numbered sections; name a heading, such as docs/contract.md#errors"});
  }
}

void judge_names(const File& file, Findings& out) {
  for (const std::string_view name : kNameless) {
    const std::string_view text = file.text;
    for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
      out.push_back({file.path, line_at(text, at),
                     "\"" + std::string(name) + "\" has no address; point to a heading in docs/"});
    }
  }
}

}  // namespace

Findings check_references(const Tree& tree) {
  Findings out;
  for (const auto& [path, file] : tree.files()) {
    // This file contains the names that it looks for.
    if (is_sample(file) || path == "tests/tidy/references.cpp") continue;
    judge_documents(tree, file, out);
    judge_own_anchors(file, out);
    judge_sections(file, out);
    judge_names(file, out);
  }
  return out;
}

}  // namespace tidy
