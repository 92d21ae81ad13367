// Checks that every rule finds its violations and nothing else.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tidy {

/// A small tree and the lines at which the rule must find a violation; no lines: a good sample.
struct Sample {
  std::string rule;
  std::vector<std::pair<std::string, std::string>> files;  // path, text
  std::vector<int> lines;
};

std::vector<Sample> samples();

/// Runs each rule on its samples and the C++ reader on hard cases; prints failures. A rule without
/// a bad and a good sample is a failure.
bool self_test();

}  // namespace tidy
