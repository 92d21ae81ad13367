#include "self_test.h"

namespace tidy {
namespace {

std::string lines(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += "x\n";
  return text;
}

Sample length(std::string path, std::size_t most) {
  return {"file-length", {{std::move(path), lines(most + 1)}}, {static_cast<int>(most) + 1}};
}

Sample length_fits(std::string path, std::size_t most) {
  return {"file-length", {{std::move(path), lines(most)}}, {}};
}

Sample folder(std::size_t headers, std::vector<int> found) {
  Sample sample{"folder-size", {{"src/api/deep/a.h", ""}}, std::move(found)};
  for (std::size_t i = 0; i < headers; ++i) {
    sample.files.emplace_back("src/api/h" + std::to_string(i) + ".h", "");
    sample.files.emplace_back("src/api/h" + std::to_string(i) + ".cpp", "");
  }
  return sample;
}

}  // namespace

std::vector<Sample> samples_of_files() {
  return {
      length("src/base/a.cpp", 800),
      length("tests/unit/a_test.cpp", 800),
      length("web/app.js", 800),
      length("src/flows/a.cpp", 250),
      length("src/app/app.cpp", 400),
      length("ARCHITECTURE.md", 200),
      length_fits("src/base/a.cpp", 800),
      length_fits("src/flows/a.cpp", 250),
      length_fits("src/app/app.cpp", 400),
      length_fits("ARCHITECTURE.md", 200),
      length_fits("README.md", 900),
      length_fits("tests/fixtures/a.json", 900),

      {"file-name", {{"src/base/utils.h", ""}}, {1}},
      {"file-name", {{"src/base/json_util.cpp", ""}}, {1}},
      {"file-name", {{"tests/support/test-helpers.h", ""}}, {1}},
      {"file-name", {{"web/common.js", ""}}, {1}},
      {"file-name", {{"src/base/utilisation.h", ""}, {"src/base/clock.h", ""}}, {}},

      folder(16, {1}),
      folder(15, {}),

      {"pair", {{"src/base/a.cpp", ""}}, {1}},
      {"pair", {{"src/base/clocks_a.cpp", ""}, {"src/base/clock.h", ""}}, {1}},
      {"pair", {{"src/base/a.cpp", ""}, {"src/http/a.h", ""}}, {1}},
      {"pair", {{"src/base/a.cpp", ""}, {"src/base/a.h", ""}}, {}},
      {"pair", {{"src/cli/a.cpp", "#include \"cli/command_groups.h\"\n"}}, {}},
      {"pair", {{"src/base/a_b_c.cpp", ""}, {"src/base/a.h", ""}}, {}},
      {"pair", {{"src/main.cpp", ""}, {"tests/unit/a_test.cpp", ""}, {"src/base/only.h", ""}}, {}},

      {"dead-file", {{"src/base/a.h", ""}}, {1}},
      {"dead-file", {{"src/base/a.h", ""}, {"src/base/a.cpp", "#include \"base/a.h\"\n"}}, {1}},
      {"dead-file", {{"src/base/a.h", ""}, {"src/api/b.cpp", "// #include \"base/a.h\"\n"}}, {1}},
      {"dead-file", {{"tests/support/a.h", ""}}, {1}},
      {"dead-file", {{"web/old.js", ""}, {"web/index.html", "app.js"}}, {1}},
      {"dead-file", {{"src/base/a.h", ""}, {"src/api/b.cpp", "#include \"base/a.h\"\n"}}, {}},
      {"dead-file", {{"tests/tidy/a.h", ""}, {"tests/tidy/b.cpp", "#include \"a.h\"\n"}}, {}},
      {"dead-file", {{"tests/support/a.h", ""}, {"tests/b.cpp", "#include \"support/a.h\"\n"}}, {}},
      {"dead-file", {{"web/app.js", ""}, {"web/index.html", "<script src=\"app.js\">"}}, {}},
  };
}

}  // namespace tidy
