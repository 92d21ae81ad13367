// A shell script in its own folder, for programs that coffer starts.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace coffer::test {

class Script {
 public:
  /// `body` is POSIX shell; `$OUT` is the folder.
  explicit Script(const std::string& body) {
    std::string name = (std::filesystem::temp_directory_path() / "coffer-script-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder at " + name);
    folder_ = name;
    rewrite(body);
  }
  ~Script() { std::filesystem::remove_all(folder_); }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  void rewrite(const std::string& body) const {
    std::ofstream(path()) << "#!/bin/sh\nOUT='" << folder_.string() << "'\n" << body << "\n";
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all);
  }
  std::string path() const { return (folder_ / "script").string(); }
  /// The content of the file that the script has written under this name, or empty.
  std::string left(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace coffer::test
