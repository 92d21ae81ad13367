// Checks the sources against the rules of ARCHITECTURE.md that a program can check.
//
// tidy_test <source root>
// first tests itself, then prints `file:line: rule: what to do` for each finding; exits with 1 if
// there is one
//
// tidy_test --self-test
// only tests itself
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>

#include "rules.h"
#include "self_test.h"

namespace {

int judge_tree(const std::filesystem::path& root) {
  const tidy::Tree tree = tidy::Tree::load(root);
  // A wrong path must not look like a clean source tree.
  if (tree.find("CMakeLists.txt") == nullptr || !tree.has_file_or_folder("src/base")) {
    std::cerr << "tidy_test: " << root.string() << " is not the source root\n";
    return 2;
  }
  std::size_t count = 0;
  for (const tidy::Rule& rule : tidy::rules()) {
    for (const tidy::Finding& finding : rule.check(tree)) {
      std::cout << finding.path << ":" << finding.line << ": " << rule.name << ": " << finding.what
                << "\n";
      ++count;
    }
  }
  std::cout << tree.files().size() << " files, " << tidy::rules().size() << " rules, " << count
            << " findings\n";
  return count == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: tidy_test <source root> | --self-test\n";
    return 2;
  }
  try {
    if (!tidy::self_test()) return EXIT_FAILURE;
    return std::string(argv[1]) == "--self-test" ? EXIT_SUCCESS : judge_tree(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << "tidy_test: " << error.what() << "\n";
    return 2;
  }
}
