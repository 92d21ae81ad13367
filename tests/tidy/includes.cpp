// Permitted includes: the directions in ARCHITECTURE.md, and the folders that may see certain
// headers.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rules.h"

namespace tidy {
namespace {

using Names = std::vector<std::string_view>;

// "" is the root of src/. A folder may always include itself.
const std::map<std::string_view, Names>& allowed_folders() {
  static const Names below_app = {"base",  "domain",  "auth", "http",   "store",   "outbound",
                                  "flows", "workers", "api",  "config", "embedded"};
  static const Names below_cli = {"base",     "domain", "auth",        "http", "store",
                                  "outbound", "flows",  "workers",     "api",  "config",
                                  "embedded", "app",    "provider_sim"};
  static const std::map<std::string_view, Names> table = {
      {"base", {}},
      {"domain", {"base"}},
      {"auth", {"base", "domain"}},
      {"http", {"base", "embedded"}},
      {"store", {"base", "domain", "embedded"}},
      {"outbound", {"base", "domain", "http"}},
      {"flows", {"base", "domain", "auth", "store", "outbound"}},
      {"workers", {"base", "domain", "store", "flows"}},
      {"api", {"base", "domain", "auth", "http", "store", "flows", "embedded"}},
      {"config", {"base", "domain", "auth", "outbound"}},
      {"provider_sim", {"base", "domain", "http", "outbound", "config"}},
      {"app", below_app},
      {"cli", below_cli},
      {"", {"base", "cli", "provider_sim"}},
  };
  return table;
}

/// The folders below src/LAYER, from the lowest step to the highest; "." has the files of LAYER
/// itself. A folder may include those of lower steps, and not those beside it, so no two folders
/// include each other.
const std::map<std::string_view, Names>& steps_of_layers() {
  static const std::map<std::string_view, Names> table = {
      {"base", {"text", ".", "crypto platform", "fibers files", "telemetry", "limits"}},
      {"domain",
       {"tables", ".", "ledger", "identity payments",
        "operations parties providers reconciliation "
        "webhooks"}},
      {"auth", {".", "passkeys"}},
      {"http", {".", "wire"}},
      {"store",
       {"file", "rows replication", "archive commits requests", "identity payments",
        "ledger providers webhooks", "lists parties", ".", "operations", "reconciliation"}},
      {"outbound", {"wire", ". archive providers webhooks", "operations"}},
      {"flows",
       {".", "identity ledger parties", "operations", "payments",
        "providers reconciliation webhooks", "settlement"}},
      {"api",
       {"json", "pipeline", ". about identity ledger parties payments webhooks", "providers"}},
      {"app", {"service", "."}},
      {"cli",
       {".", "apply ledger output shell", "providers run webhooks",
        "identity operations parties payments reconciliation", "admin", "serve", "demo doctor"}},
  };
  return table;
}

struct ThirdParty {
  std::string_view prefix;
  Names folders;
};

const std::vector<ThirdParty>& third_party() {
  static const std::vector<ThirdParty> table = {
      {"httplib", {"http"}},
      {"nlohmann/", {"http", "auth", "outbound", "flows", "api", "cli", "config", "provider_sim"}},
      {"sqlite3", {"store"}},
      {"SQLiteCpp/", {"store"}},
      {"openssl/", {"base", "auth", "http", "outbound"}},
      {"spdlog/", {"base"}},
      {"fmt/", {"base"}},
      {"CLI/", {"cli", "config", "provider_sim"}},
      {"ares", {"outbound"}},
      {"curl", {"outbound"}},
      {"libpq-fe.h", {"store"}},
      {"pugixml.hpp", {"domain", "outbound"}},
      {"qrencode", {"cli"}},
      {"re2/", {"domain"}},
      {"toml++/", {"config"}},
      {"sanitizer/", {"base"}},  // of the compiler
      {"utf8proc.h", {"base"}},
      {"zlib.h", {"http"}},
      {"zstd.h", {"store"}},
  };
  return table;
}

bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The folder directly below src/; empty for a file in src/ itself.
std::string_view layer_of(const File& file) {
  const std::string_view below = std::string_view(file.path).substr(4);
  const auto slash = below.find('/');
  return slash == std::string_view::npos ? std::string_view() : below.substr(0, slash);
}

/// The folder of a path below src/LAYER; "." for LAYER itself.
std::string_view folder_in(std::string_view layer, std::string_view below_src) {
  const std::string_view rest = below_src.substr(layer.size() + 1);
  const auto slash = rest.find('/');
  return slash == std::string_view::npos ? "." : rest.substr(0, slash);
}

/// The number of the step with this folder; the number of steps if none has it.
std::size_t step_of(const Names& steps, std::string_view folder) {
  std::size_t step = 0;
  for (; step < steps.size(); ++step) {
    const std::string padded = " " + std::string(steps[step]) + " ";
    if (padded.find(" " + std::string(folder) + " ") != std::string::npos) break;
  }
  return step;
}

std::string shown(std::string_view layer) {
  return layer.empty() ? "src/ itself" : std::string(layer) + "/";
}

// System headers in their own folder.
bool is_system(std::string_view path) {
  static const Names folders = {"sys/", "netinet/", "arpa/", "net/", "linux/"};
  return path.find('/') == std::string_view::npos ||
         std::any_of(folders.begin(), folders.end(),
                     [&](std::string_view folder) { return path.starts_with(folder); });
}

const ThirdParty* find_third_party(std::string_view path) {
  for (const ThirdParty& entry : third_party()) {
    if (path.starts_with(entry.prefix)) return &entry;
  }
  return nullptr;
}

void judge_step(std::string_view layer, const File& file, const Include& include, Findings& out) {
  const auto row = steps_of_layers().find(layer);
  const std::string_view from = folder_in(layer, std::string_view(file.path).substr(4));
  const std::string_view to = folder_in(layer, include.path);
  if (from == to) return;
  if (row == steps_of_layers().end() || step_of(row->second, from) == row->second.size()) {
    out.push_back({file.path, include.line,
                   "give " + shown(layer) + std::string(from) + " a step in the table of folders"});
  } else if (step_of(row->second, to) >= step_of(row->second, from)) {
    out.push_back({file.path, include.line,
                   shown(layer) + std::string(from) + " may not include " + shown(layer) +
                       std::string(to) +
                       ", which is not on a lower step; turn the arrow round or "
                       "move the code"});
  }
}

void judge_direction(const File& file, const Include& include, Findings& out) {
  const std::string_view layer = layer_of(file);
  const auto slash = include.path.find('/');
  const std::string_view target = slash == std::string::npos
                                      ? std::string_view()
                                      : std::string_view(include.path).substr(0, slash);
  if (target == "." || target == "..") {
    out.push_back({file.path, include.line, "write the path from src/, as in \"base/clock.h\""});
    return;
  }
  const auto row = allowed_folders().find(layer);
  if (row == allowed_folders().end()) {
    out.push_back({file.path, include.line,
                   shown(layer) + " is no folder of ARCHITECTURE.md; give it a row in the table"});
  } else if (target == layer) {
    judge_step(layer, file, include, out);
  } else if (!contains(row->second, target)) {
    out.push_back({file.path, include.line,
                   shown(layer) + " may not include " + shown(target) +
                       "; turn the arrow round or move the code"});
  }
}

}  // namespace

Findings check_include_direction(const Tree& tree) {
  Findings out;
  for (const auto& [path, file] : tree.files()) {
    if (!file.in("src") || !file.is_cpp()) continue;
    for (const Include& include : file.code.includes) {
      if (!include.angle && find_third_party(include.path) == nullptr) {
        judge_direction(file, include, out);
      }
    }
  }
  return out;
}

Findings check_third_party(const Tree& tree) {
  Findings out;
  for (const auto& [path, file] : tree.files()) {
    if (!file.in("src") || !file.is_cpp()) continue;
    for (const Include& include : file.code.includes) {
      const ThirdParty* entry = find_third_party(include.path);
      const std::string_view layer = layer_of(file);
      if (entry != nullptr && !contains(entry->folders, layer)) {
        out.push_back({path, include.line,
                       shown(layer) + " may not see " + include.path + "; only " +
                           shown(entry->folders.front()) +
                           (entry->folders.size() > 1 ? " and others" : "") +
                           " may (ARCHITECTURE.md)"});
      } else if (entry == nullptr && include.angle && !is_system(include.path)) {
        out.push_back({path, include.line,
                       include.path + " is not in the table of third-party " +
                           "headers; say which folder may see it"});
      }
    }
  }
  return out;
}

}  // namespace tidy
