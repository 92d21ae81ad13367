#include "self_test.h"

namespace tidy {
namespace {

constexpr const char* kDocument =
    "# Title\n\n## On-ramp\n\n### `memo`, and more\n\n## Twice\n\n## Twice\n\n"
    "```\n## Fenced\n```\n#no-heading\n";

Sample reference_sample(std::string path, std::string text, std::vector<int> lines) {
  return {"reference",
          {{std::move(path), std::move(text)}, {"docs/a.md", kDocument}, {"README.md", "# R\n"}},
          std::move(lines)};
}

}  // namespace

std::vector<Sample> samples_of_references() {
  return {
      reference_sample("src/base/a.h", "// What this is.\n// (docs/b.md)\n", {2}),
      reference_sample("src/base/a.h", "// See docs/a.md#off-ramp.\n", {1}),
      reference_sample("src/base/a.h",
                       "// docs/a.md#on-ramp, docs/a.md#memo-and-more, docs/a.md#twice-1.\n", {}),
      reference_sample("src/base/a.h", "// See docs/a.md#fenced.\n// See docs/a.md#no-heading.\n",
                       {1, 2}),
      reference_sample("tests/x.py", "# docs/a.md and docs/gone.md\n", {1}),
      reference_sample("web/a.js", "// docs/a.md, a.md and https://example.org/docs/other.md\n",
                       {}),
      reference_sample("schema.sql", "-- docs/a.md#on-ramp\n-- docs/a.md#of-ramp\n", {2}),
      reference_sample("docs/c.md",
                       "[here](#part) [a](a.md#on-ramp) [a](a.md#part) [r](../README.md#r)\n",
                       {1, 1}),
      reference_sample("docs/c.md", "## Part\n\n[here](#part), [a](a.md)\n", {}),

      reference_sample("src/base/a.h", "// As decided (decisions section 5).\n", {1}),
      reference_sample("src/base/a.h",
                       "// As decided (decisions\n// section 5), and sections\n// 6 and 7.\n",
                       {2, 2}),
      reference_sample("src/base/a.h", "// RFC 9110 section 5.6.7; RFC 9112, section 4.\n", {}),
      reference_sample("src/base/a.h",
                       "// As in RFC 7519\n// section 2, or RFC\n// 6749, sections 4 and 5.\n", {}),
      reference_sample("src/base/a.h", "// A section of 5 lines, and 9110 section 5.\n", {1}),
      reference_sample("dev", "# see section 3\n# Section 12, third vector\n", {1, 2}),

      reference_sample("src/base/a.h",
                       "// Routes (contract \"Events\").\n// Which? (contract, Wallet)\n", {1, 2}),
      reference_sample("tests/a.py", "# the contract's section on it\n# the reliability notes\n",
                       {1, 2}),
      reference_sample("src/base/a.h",
                       "// The contract of the caller.\nint n = f(contract_of(1));\n", {}),
  };
}

}  // namespace tidy
