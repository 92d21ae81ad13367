// Runs the fuzz targets without a fuzzer: passes every file of corpus/<target>/, and every prefix
// of it, to its target.
//   fuzz_corpus <folder corpus>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <vector>

#include "fuzz/property.h"

#define TARGET(name) extern "C" int fuzz_##name(const std::uint8_t*, std::size_t);
#include "fuzz_targets.inc"
#undef TARGET

namespace {

namespace fs = std::filesystem;

struct Target {
  const char* name;
  int (*run)(const std::uint8_t*, std::size_t);
};

constexpr Target kTargets[] = {
#define TARGET(name) {#name, fuzz_##name},
#include "fuzz_targets.inc"
#undef TARGET
};

constexpr std::size_t kBeginningsMax = 512;

int run_file(const Target& target, const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  int runs = 0;
  const auto run = [&](std::size_t size) {
    // An exact copy on the heap, so that the address sanitizer detects reads beyond it.
    const std::vector<std::uint8_t> part(bytes.begin(),
                                         bytes.begin() + static_cast<std::ptrdiff_t>(size));
    target.run(part.data(), part.size());
    ++runs;
  };
  for (std::size_t size = 0; size < bytes.size() && size < kBeginningsMax; ++size) run(size);
  run(bytes.size());
  return runs;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const fs::path corpus = arguments[1];
  std::set<std::string> names;
  bool complete = true;
  for (const Target& target : kTargets) {
    names.insert(target.name);
    int files = 0, runs = 0;
    if (fs::is_directory(corpus / target.name)) {
      for (const fs::directory_entry& entry : fs::directory_iterator(corpus / target.name)) {
        std::cout << target.name << "/" << entry.path().filename().string() << std::endl;
        runs += run_file(target, entry.path());
        ++files;
      }
    }
    std::cout << target.name << ": " << files << " files, " << runs << " runs\n";
    complete = complete && files > 0;
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(corpus)) {
    complete = complete && names.count(entry.path().filename().string()) == 1;
  }
  if (!complete) std::cerr << "A target without a corpus, or a corpus without a target.\n";
  return complete ? 0 : 1;
}
