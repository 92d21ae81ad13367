// The embedded files equal those of the repository.
#include "embedded/embedded.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>

#include "source_dir.h"

using namespace coffer;

namespace {

std::string source(const std::string& path) {
  std::ifstream in(std::string(COFFER_SOURCE_DIR) + "/" + path, std::ios::binary);
  INFO(path);
  REQUIRE(in.good());
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace

TEST_CASE("embedded: the files of this tree, not of an earlier build") {
  CHECK(source("schema.sql") == embedded::schema_sql());
  for (const embedded::File& file : embedded::web_files()) {
    if (file.path == "admin/qrcode.js") continue;  // of a dependency
    INFO(file.path);
    constexpr std::string_view kGuides = "guides/";
    const bool is_guide = file.path.starts_with(kGuides);
    const std::string path(is_guide ? file.path.substr(kGuides.size()) : file.path);
    const std::string found =
        path == "changes.md" ? "CHANGELOG.md" : (is_guide ? "docs/" : "web/") + path;
    CHECK(source(found) == file.content);
  }
}
