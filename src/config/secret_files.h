// The files with secrets that the settings name.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/files/ownership.h"
#include "config/config.h"

namespace coffer {

/// The paths of the files, each with the name of its setting. They may not exist.
std::vector<std::pair<std::string, std::string>> secret_files(const Config& config);

/// A file with a secret that must not be used, or about which an operator should know.
struct SecretFileFault {
  std::string setting;
  std::string path;
  SecretFile found;
  std::string remedy;  // a sentence
};
/// Applies the one rule (judge_secret_file) to the files that exist.
std::vector<SecretFileFault> secret_file_faults(const Config& config);

}  // namespace coffer
