#include "self_test.h"

namespace tidy {
namespace {

Sample of(std::string rule, std::string path, std::string text, std::vector<int> lines) {
  return {std::move(rule), {{std::move(path), std::move(text)}}, std::move(lines)};
}

Sample link(std::string text, std::vector<int> lines) {
  return {"dead-link",
          {{"doc/a.md", std::move(text)}, {"doc/b.md", ""}, {"src/c.cpp", ""}, {".ci/run", ""}},
          std::move(lines)};
}

}  // namespace

std::vector<Sample> samples_of_texts() {
  // In halves: the rule reads this file too.
  const std::string mark =
      "TO"
      "DO";
  return {
      of("unfinished", "src/base/a.cpp", "\n// " + mark + "(me): later\n", {2}),
      of("unfinished", "web/app.js",
         "// FIX"
         "ME\n",
         {1}),
      of("unfinished", "CMakeLists.txt", "# " + mark + "\n", {1}),
      of("unfinished", "src/base/a.cpp", "// to do is not " + mark + "S\n", {}),

      of("white-space", "src/base/a.cpp", "a\n\tb\n", {2}),
      of("white-space", "schema.sql", "a \nb\n", {1}),
      of("white-space", "web/app.js", "a\r\nb\n", {1}),
      of("white-space", "src/base/a.cpp", "a\nb", {2}),
      of("white-space", "dev", "a \n", {1}),
      of("white-space", "src/base/a.cpp", "a\n\n  b\n", {}),
      of("white-space", "README.md", "two spaces at the end break a line  \n", {}),

      of("shell-word", "src/cli/a.cpp", "x(\"\\n serve --db \" +\n  config.db);\n", {1}),
      of("shell-word", "src/cli/a.cpp", "x(\"Run chmod 600 \" + path);\n", {1}),
      of("shell-word", "src/cli/a.cpp", "text.append(\" --db \").append(config.db);\n", {1}),
      of("shell-word", "src/cli/a.cpp", "x(\"serve --db \" +\n  shell_word(config.db));\n", {}),

      of("header-opening", "src/base/a.h", "#pragma once\n\n// What this is.\n", {1}),
      of("header-opening", "src/base/a.h", "// A.\n#pragma once\n", {1}),
      of("header-opening", "src/base/a.h", "// What this is.\nint a;\n", {1}),
      of("header-opening", "src/base/a.h", "", {1, 1}),
      of("header-opening", "src/base/a.h", "// What this is.\n#pragma once\n", {}),

      link("\n[b](c.md)\n", {2}),
      link("[b](b.md) and ![i](i.png \"title\")\n", {1}),
      link("[name]: ../src/d.cpp\n", {1}),
      link("[b](b.md#part) [c](../src/c.cpp) [s](../src/) [r](/.ci/run) [m](mailto:a@b)\n", {}),
      link("[w](https://example.org/x) [here](#part)\n[name]: b.md\n", {}),
      link("```\n[b](none.md)\n```\n`[b](none.md)`\n", {}),

      of("phrase", "docs/contract.md", "# A\n\nNobody sees it, and it is\nunder\nway.\n", {3, 4}),
      of("phrase", "docs/contract.md", "Under control, way ahead: it is. None of it counts.\n", {}),
      of("phrase", "src/base/text/a.h", "// What it is, and that it is\n// none.\n", {1}),
      of("phrase", "tests/unit/a_test.cpp", "TEST_CASE(\"it is sent to whomever\") {}\n", {1}),
      of("phrase", "web/openapi/schemas/a.json", "{\"description\": \"Disabled for good\"}\n", {1}),
      of("phrase", "tests/crash/a.py", "# Nobody reads it.\nif it is None:\n", {1}),
      of("phrase", "tests/browser/a.mjs", "// Somebody reads it.\n", {1}),
      of("phrase", "tests/tidy/a.cpp", "// nobody\n", {}),
  };
}

}  // namespace tidy
