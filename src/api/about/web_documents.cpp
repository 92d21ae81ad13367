#include "api/about/web_documents.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "base/check.h"
#include "embedded/embedded.h"

namespace coffer::api {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kTypes = {{
    {".html", "text/html; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".md", "text/markdown; charset=utf-8"},
}};

// Sources of the OpenAPI document, which are not served.
constexpr std::string_view kSources = "openapi/";

std::string_view type_of(std::string_view path) {
  const auto found =
      std::ranges::find_if(kTypes, [&](const auto& row) { return path.ends_with(row.first); });
  return found == kTypes.end() ? "application/octet-stream" : found->second;
}

using Documents = std::map<std::string_view, http::Document>;

Documents all_documents() {
  Documents out;
  for (const embedded::File& file : embedded::web_files()) {
    if (file.path.starts_with(kSources)) continue;
    out.try_emplace(file.path, std::string(type_of(file.path)), std::string(file.content));
  }
  return out;
}

}  // namespace

const http::Document* find_web_document(std::string_view path) {
  static const Documents documents = all_documents();
  const auto found = documents.find(path);
  return found == documents.end() ? nullptr : &found->second;
}

std::string_view web_text(std::string_view path) {
  for (const embedded::File& file : embedded::web_files()) {
    if (file.path == path) return file.content;
  }
  throw InternalError("web file is not embedded: " + std::string(path));
}

}  // namespace coffer::api
