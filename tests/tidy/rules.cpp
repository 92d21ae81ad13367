#include "rules.h"

namespace tidy {

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = {
      {"include-direction", check_include_direction},
      {"third-party", check_third_party},
      {"sql", check_sql},
      {"sqlite-call", check_sqlite_calls},
      {"stored-value", check_stored_values},
      {"banned-name", check_banned_names},
      {"using-namespace", check_using_namespace},
      {"shared-ptr", check_shared_ptr},
      {"default-case", check_default_case},
      {"write-path", check_write_path},
      {"systems", check_systems},
      {"function-length", check_function_length},
      {"class-size", check_class_size},
      {"file-length", check_file_length},
      {"file-name", check_file_name},
      {"line-budget", check_line_budget},
      {"folder-size", check_folder_size},
      {"pair", check_pairs},
      {"dead-file", check_dead_files},
      {"unfinished", check_unfinished},
      {"white-space", check_white_space},
      {"header-opening", check_header_opening},
      {"dead-link", check_links},
      {"shell-word", check_shell_words},
      {"reference", check_references},
      {"phrase", check_phrases},
  };
  return all;
}

}  // namespace tidy
