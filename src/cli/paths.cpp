#include "cli/paths.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace coffer::cli {

bool gives_path(const Command& command, const Arguments& arguments) {
  return std::any_of(command.arguments.begin(), command.arguments.end(),
                     [&](const Argument& argument) {
                       return is_path(argument) && arguments.has(std::string(argument.name));
                     });
}

bool requires_path(const Command& command) {
  return std::any_of(
      command.arguments.begin(), command.arguments.end(),
      [](const Argument& argument) { return is_path(argument) && argument.required; });
}

void make_paths_absolute(const Command& command, Arguments& arguments) {
  for (const Argument& argument : command.arguments) {
    const auto given = arguments.values.find(std::string(argument.name));
    if (!is_path(argument) || given == arguments.values.end() || given->second == "-") continue;
    std::error_code error;
    const auto absolute = std::filesystem::absolute(given->second, error);
    if (!error) given->second = absolute.lexically_normal().string();
  }
}

}  // namespace coffer::cli
