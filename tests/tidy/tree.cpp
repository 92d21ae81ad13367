#include "tree.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <utility>

namespace tidy {
namespace {

namespace fs = std::filesystem;

bool is_foreign_folder(const std::string& name) {
  if (name == ".ci" || name == ".github") return false;
  return name.starts_with('.') || name.starts_with("build") || name == "node_modules";
}

bool is_text(const fs::path& path) {
  constexpr std::array kTexts = {".h",   ".cpp", ".md",    ".js", ".mjs", ".css", ".html",
                                 ".sql", ".sh",  ".cmake", ".py", ".svg", ".json"};
  const std::string extension = path.extension().string();
  return std::find(kTexts.begin(), kTexts.end(), extension) != kTexts.end() ||
         path.filename() == "CMakeLists.txt" || path.filename() == "dev" ||
         path.filename() == "run";
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

std::string_view File::folder() const {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string_view() : std::string_view(path).substr(0, slash);
}

std::string_view File::name() const {
  const auto slash = path.rfind('/');
  return std::string_view(path).substr(slash == std::string::npos ? 0 : slash + 1);
}

std::string_view File::stem() const { return name().substr(0, name().rfind('.')); }

std::string_view File::extension() const {
  const auto dot = name().rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name().substr(dot);
}

bool File::in(std::string_view top) const {
  return path.size() > top.size() && path.starts_with(top) && path[top.size()] == '/';
}

std::vector<std::string_view> File::lines() const {
  std::vector<std::string_view> out;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    out.push_back(line);
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  return out;
}

void Tree::add(std::string path, std::string text) {
  for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    folders_.insert(path.substr(0, slash));
  }
  File file{path, std::move(text), {}};
  if (file.is_cpp()) file.code = read_code(file.text);
  files_.insert_or_assign(std::move(path), std::move(file));
}

Tree Tree::load(const fs::path& root) {
  Tree tree;
  auto walk = fs::recursive_directory_iterator(root);
  for (const fs::directory_entry& entry : walk) {
    if (entry.is_directory() && is_foreign_folder(entry.path().filename().string())) {
      walk.disable_recursion_pending();
    } else if (entry.is_regular_file()) {
      const std::string path = entry.path().lexically_relative(root).generic_string();
      tree.add(path, is_text(entry.path()) ? read(entry.path()) : std::string());
    }
  }
  return tree;
}

const File* Tree::find(const std::string& path) const {
  const auto found = files_.find(path);
  return found == files_.end() ? nullptr : &found->second;
}

bool Tree::has_file_or_folder(const std::string& path) const {
  return path.empty() || path == "." || files_.contains(path) || folders_.contains(path);
}

int line_at(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  return 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
}

}  // namespace tidy
