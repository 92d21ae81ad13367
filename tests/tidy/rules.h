// The rules of the project that a program can check. Each is a function from a tree to findings.
#pragma once

#include <string>
#include <vector>

#include "tree.h"

namespace tidy {

struct Finding {
  std::string path;
  int line = 0;
  std::string what;  // the problem and its remedy
};
using Findings = std::vector<Finding>;

struct Rule {
  std::string name;
  Findings (*check)(const Tree&);
};

/// All rules. Only rules in this list run; a rule without a sample fails the self-test.
const std::vector<Rule>& rules();

// includes.cpp
Findings check_include_direction(const Tree& tree);
Findings check_third_party(const Tree& tree);
// names.cpp
Findings check_sql(const Tree& tree);
Findings check_sqlite_calls(const Tree& tree);
Findings check_stored_values(const Tree& tree);
Findings check_banned_names(const Tree& tree);
Findings check_using_namespace(const Tree& tree);
Findings check_shared_ptr(const Tree& tree);
Findings check_default_case(const Tree& tree);
Findings check_write_path(const Tree& tree);
// systems.cpp
Findings check_systems(const Tree& tree);
// functions.cpp
Findings check_function_length(const Tree& tree);
Findings check_class_size(const Tree& tree);
// files.cpp
Findings check_file_length(const Tree& tree);
Findings check_file_name(const Tree& tree);
Findings check_line_budget(const Tree& tree);
Findings check_folder_size(const Tree& tree);
Findings check_pairs(const Tree& tree);
Findings check_dead_files(const Tree& tree);
// texts.cpp
Findings check_unfinished(const Tree& tree);
Findings check_white_space(const Tree& tree);
Findings check_header_opening(const Tree& tree);
Findings check_links(const Tree& tree);
Findings check_shell_words(const Tree& tree);
// references.cpp
Findings check_references(const Tree& tree);
// phrases.cpp
Findings check_phrases(const Tree& tree);

}  // namespace tidy
