// The size of files and folders, their names, and whether they are used.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rules.h"

namespace tidy {
namespace {

constexpr std::size_t kFileLinesMax = 800;
constexpr std::size_t kFlowLinesMax = 250;
constexpr std::size_t kAppLinesMax = 400;
constexpr std::size_t kArchitectureLinesMax = 200;
constexpr std::size_t kPairsMax = 15;

/// Lines of the sources below src/FOLDER, without subfolders that have a row of their own. A number
/// may only fall: delete before you add.
struct Budget {
  std::string_view folder;
  std::size_t lines = 0;
};
constexpr std::array kBudgets{
    Budget{"api", 8'900},           Budget{"app", 2'238},
    Budget{"auth", 2'723},          Budget{"base", 6'657},
    Budget{"cli", 19'925},          Budget{"config", 1'841},
    Budget{"domain", 8'125},        Budget{"flows", 14'529},
    Budget{"http", 6'160},          Budget{"outbound", 4'777},
    Budget{"provider_sim", 1'882},  Budget{"store", 20'897},
    Budget{"store/archive", 1'240}, Budget{"store/replication", 3'000},
    Budget{"workers", 407},
};

struct Limit {
  std::size_t lines = 0;
  std::string_view remedy;
};

Limit limit_of(const File& file) {
  if (file.in("src/flows")) return {kFlowLinesMax, "its rules belong in domain/"};
  if (file.path == "src/app/app.cpp") {
    return {kAppLinesMax, "something that should be a constructor argument is not one"};
  }
  if (file.path == "ARCHITECTURE.md") {
    return {kArchitectureLinesMax, "leave out what the sources say themselves"};
  }
  const bool bounded = file.in("src") || file.in("tests") || file.in("web");
  if (bounded) return {kFileLinesMax, "look for the second subject in it and give it a file"};
  return {};
}

/// The possible targets of an #include: below src/, below tests/, or next to the including file.
std::array<std::string, 3> targets(const File& file, const Include& include) {
  return {"src/" + include.path, "tests/" + include.path,
          std::string(file.folder()) + "/" + include.path};
}

std::set<std::string> included_paths(const Tree& tree) {
  std::set<std::string> out;
  for (const auto& [path, file] : tree.files()) {
    // Its own source file does not count as a use of a header.
    const std::string own = std::string(file.folder()) + "/" + std::string(file.stem()) + ".h";
    for (const Include& include : file.code.includes) {
      for (const std::string& target : targets(file, include)) {
        if (target != own) out.insert(target);
      }
    }
  }
  return out;
}

/// The parts of a large subject: `payments_list.cpp` for `payments.h`.
bool is_part_of_a_header(const Tree& tree, const File& file) {
  const std::string stem(file.stem());
  for (auto end = stem.rfind('_'); end != std::string::npos && end > 0;
       end = stem.rfind('_', end - 1)) {
    if (tree.find(std::string(file.folder()) + "/" + stem.substr(0, end) + ".h") != nullptr) {
      return true;
    }
  }
  return false;
}

/// By its name, or by the name of its folder below web/ if all files of that folder are read.
bool is_mentioned(const Tree& tree, const File& wanted) {
  const std::string folder = std::string(wanted.folder()).substr(std::string("web").size()) + "/";
  const std::string read_whole = folder.size() > 1 ? "\"" + folder.substr(1) + "\"" : "";
  for (const auto& [path, file] : tree.files()) {
    const bool reader = file.in("web") || file.in("src");
    if (!reader || path == wanted.path) continue;
    if (file.text.find(wanted.name()) != std::string::npos) return true;
    if (!read_whole.empty() && file.text.find(read_whole) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

Findings check_file_length(const Tree& tree) {
  Findings out;
  for (const auto& [path, file] : tree.files()) {
    const Limit limit = limit_of(file);
    const std::size_t lines = file.lines().size();
    if (limit.lines == 0 || lines <= limit.lines || file.in("tests/fixtures")) continue;
    if (file.extension() == ".json") continue;  // data
    out.push_back({path, static_cast<int>(limit.lines) + 1,
                   "the file has " + std::to_string(lines) + " lines, " +
                       std::to_string(limit.lines) + " are the most; " +
                       std::string(limit.remedy)});
  }
  return out;
}

Findings check_file_name(const Tree& tree) {
  constexpr std::array<std::string_view, 7> kEmptyWords = {"util", "utils",  "helper", "helpers",
                                                           "misc", "common", "stuff"};
  Findings out;
  for (const auto& [path, file] : tree.files()) {
    for (const Word& part : words(file.stem())) {
      std::string_view text = part.text;
      while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find('_'));
        if (std::find(kEmptyWords.begin(), kEmptyWords.end(), word) != kEmptyWords.end()) {
          out.push_back({path, 1, std::string(word) + " says nothing; name what is in the file"});
        }
        text.remove_prefix(std::min(text.size(), word.size() + 1));
      }
    }
  }
  return out;
}

/// Groups of commands, calls or routes are declared in one common header.
bool is_group(const File& file) {
  for (const std::string_view header :
       {"cli/command_groups.h", "cli/admin/calls.h", "api/pipeline/route_groups.h"}) {
    const std::string include = "#include \"" + std::string(header) + "\"";
    if (file.text.find(include) != std::string::npos) return true;
  }
  return false;
}

Findings check_line_budget(const Tree& tree) {
  std::map<std::string, std::size_t> lines;
  for (const auto& [path, file] : tree.files()) {
    const bool source = file.extension() == ".h" || file.extension() == ".cpp";
    const std::size_t end = path.find('/', 4);
    if (!file.in("src") || !source || end == std::string::npos) continue;
    const std::string own(file.folder().substr(4));
    const bool apart = std::ranges::find(kBudgets, own, &Budget::folder) != kBudgets.end();
    lines[apart ? own : path.substr(4, end - 4)] += file.lines().size();
  }
  Findings out;
  for (const auto& [folder, count] : lines) {
    const auto budget = std::ranges::find(kBudgets, folder, &Budget::folder);
    if (budget == kBudgets.end() || count <= budget->lines) continue;
    out.push_back({"src/" + folder, 1,
                   "the folder has " + std::to_string(count) + " lines, its budget is " +
                       std::to_string(budget->lines) + "; delete before you add"});
  }
  return out;
}

Findings check_folder_size(const Tree& tree) {
  std::map<std::string, std::set<std::string>> pairs;
  for (const auto& [path, file] : tree.files()) {
    if (file.in("src") && (file.is_header() || is_group(file))) {
      pairs[std::string(file.folder())].insert(std::string(file.stem()));
    }
  }
  Findings out;
  for (const auto& [folder, stems] : pairs) {
    if (stems.size() <= kPairsMax) continue;
    out.push_back({folder, 1,
                   "the folder has " + std::to_string(stems.size()) + " pairs, " +
                       std::to_string(kPairsMax) + " are the most; look for a hidden noun"});
  }
  return out;
}

Findings check_pairs(const Tree& tree) {
  Findings out;
  for (const auto& [path, file] : tree.files()) {
    if (!file.in("src") || file.extension() != ".cpp" || file.folder() == "src") continue;
    const std::string header = std::string(file.folder()) + "/" + std::string(file.stem()) + ".h";
    if (tree.find(header) == nullptr && !is_group(file) && !is_part_of_a_header(tree, file)) {
      out.push_back({path, 1,
                     "it has no header; add " + header + ", or, when it is a part of " +
                         "NOUN.h, call it NOUN_part.cpp"});
    }
  }
  return out;
}

Findings check_dead_files(const Tree& tree) {
  const std::set<std::string> included = included_paths(tree);
  Findings out;
  for (const auto& [path, file] : tree.files()) {
    const bool header = file.is_header() && (file.in("src") || file.in("tests"));
    if (header && !included.contains(path)) {
      out.push_back({path, 1, "nobody includes this header; remove it, or use it"});
    }
    const bool page = file.in("web") && file.name() != "index.html" && file.extension() != ".cmake";
    if (page && !is_mentioned(tree, file)) {
      out.push_back({path, 1, "nothing in web/ or src/ names this file; remove it, or use it"});
    }
  }
  return out;
}

}  // namespace tidy
