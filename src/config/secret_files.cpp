#include "config/secret_files.h"

#include <sys/stat.h>

#include "base/text/shell_word.h"
#include "config/config_options.h"

namespace coffer {

std::vector<std::pair<std::string, std::string>> secret_files(const Config& config) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto add = [&](std::string name, const std::string& path) {
    if (!path.empty()) out.emplace_back(std::move(name), path);
  };
  add("tls_key", config.tls_key);
  for (const ConfigOption& option : config_options()) {
    const ConfigOption* file = find_config_option(std::string(option.name) + "_file");
    if (!option.secret() || file == nullptr) continue;
    const bool replaced = file->name == "master_key_file" && !config.master_key.empty();
    if (!replaced) add(std::string(file->name), config_value_text(*file, config));
  }
  return out;
}

std::vector<SecretFileFault> secret_file_faults(const Config& config) {
  std::vector<SecretFileFault> out;
  for (auto& [name, path] : secret_files(config)) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) continue;  // reported where it is needed
    SecretFile found = judge_secret_file(status, path);
    if (found.fault.empty() && found.warning.empty()) continue;
    std::string remedy = "Run `chmod 600 " + shell_word(path) +
                         "`, and replace the secret if another user may have read it.";
    out.push_back({name, path, std::move(found), std::move(remedy)});
  }
  return out;
}

}  // namespace coffer
