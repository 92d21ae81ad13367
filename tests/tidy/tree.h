// The files that the rules read: loaded from disk for the real check, created in memory for the
// self-test.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "code.h"

namespace tidy {

struct File {
  std::string path;  // from the source root, with forward slashes
  std::string text;  // empty for files that no rule reads
  Code code;         // C++ only

  std::string_view folder() const;     // "src/base"; empty at the root
  std::string_view name() const;       // "clock.h"
  std::string_view stem() const;       // "clock"
  std::string_view extension() const;  // ".h"
  bool is_header() const { return extension() == ".h"; }
  bool is_cpp() const { return is_header() || extension() == ".cpp"; }
  bool in(std::string_view top) const;  // is it below this folder?
  std::vector<std::string_view> lines() const;
};

class Tree {
 public:
  void add(std::string path, std::string text);
  /// Everything below `root` except build output, packages of other tools and hidden folders.
  static Tree load(const std::filesystem::path& root);

  const std::map<std::string, File>& files() const { return files_; }
  const File* find(const std::string& path) const;
  bool has_file_or_folder(const std::string& path) const;

 private:
  std::map<std::string, File> files_;
  std::set<std::string> folders_;
};

/// The line, from 1, of an offset in a text.
int line_at(std::string_view text, std::size_t offset);

}  // namespace tidy
