#include "self_test.h"

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "rules.h"

namespace tidy {
namespace {

Tree tree_of(const Sample& sample) {
  Tree tree;
  for (const auto& [path, text] : sample.files) tree.add(path, text);
  return tree;
}

std::string shown_lines(const std::vector<int>& lines) {
  std::string out = "[";
  for (const int line : lines) out += " " + std::to_string(line);
  return out + " ]";
}

bool passes(const Rule& rule, const Sample& sample) {
  std::vector<int> found;
  for (const Finding& finding : rule.check(tree_of(sample))) found.push_back(finding.line);
  std::sort(found.begin(), found.end());
  if (found == sample.lines) return true;
  std::cout << "self-test: " << rule.name << ": expected lines " << shown_lines(sample.lines)
            << ", found " << shown_lines(found) << " in\n"
            << sample.files.front().first << ":\n"
            << sample.files.front().second << "\n";
  return false;
}

bool test_rules() {
  bool good = true;
  const std::vector<Sample> all = samples();
  for (const Rule& rule : rules()) {
    bool has_bad = false;
    bool has_good = false;
    for (const Sample& sample : all) {
      if (sample.rule != rule.name) continue;
      (sample.lines.empty() ? has_good : has_bad) = true;
      good = passes(rule, sample) && good;
    }
    if (has_bad && has_good) continue;
    std::cout << "self-test: " << rule.name << " needs a bad and a good sample\n";
    good = false;
  }
  for (const Sample& sample : all) {
    const bool known = std::any_of(rules().begin(), rules().end(),
                                   [&](const Rule& rule) { return rule.name == sample.rule; });
    if (!known) std::cout << "self-test: a sample for " << sample.rule << ", which is no rule\n";
    good = good && known;
  }
  return good;
}

bool test_reader() {
  struct Case {
    std::string source;
    std::string names;
  };
  const std::vector<Case> cases = {
      {"a // b\nc", "a     \nc"},
      {"a /* b\n c */ d", "a     \n      d"},
      {"f(\"x//y\", '\"', 2)", "f(\"    \", ' ', 2)"},
      {"n = 1'000'000; c = 'x';", "n = 1'000'000; c = ' ';"},
      {"R\"(a\"b)\" e", "R\"     \" e"},
      {"R\"x(a)\"\n)x\" e", "R\"     \n  \" e"},
      {"VAR\"(a\" e", "VAR\"  \" e"},
      {"\"a\\\"b\" e", "\"    \" e"},
      {"'\\'' e", "'  ' e"},
      {"#include <mutex>\nx", "                \nx"},
  };
  bool good = true;
  for (const Case& c : cases) {
    const std::string found = read_code(c.source).names;
    if (found == c.names) continue;
    std::cout << "self-test: reader: " << c.source << "\nexpected: " << c.names
              << "\nfound:    " << found << "\n";
    good = false;
  }
  return good;
}

}  // namespace

bool self_test() {
  const bool reader = test_reader();
  return test_rules() && reader;
}

}  // namespace tidy
