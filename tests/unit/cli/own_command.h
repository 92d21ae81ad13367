// Commands that open files themselves, and the files that they use and leave.
#pragma once

#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>

#include "unit/cli/open_file.h"

namespace coffer::cli::test {

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void put(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

/// A command that opens files itself.
inline Ran run_own(const std::string& command, const std::map<std::string, std::string>& values,
                   const ConfigFlags& flags = {}, bool json = true) {
  std::ostringstream out;
  std::ostringstream err;
  const Command& row = *find_command(command);
  const auto* own = std::get_if<OwnCommand>(&row.run);
  const int code = (own != nullptr ? *own : row.on_given_file)({out, err}, {values, json}, flags);
  return {code, out.str(), err.str()};
}

}  // namespace coffer::cli::test
