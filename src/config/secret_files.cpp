#include "config/secret_files.h"

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

}  // namespace coffer
