#include "self_test.h"

namespace tidy {
namespace {

Sample direction(std::string path, std::string include, std::vector<int> lines) {
  return {"include-direction",
          {{std::move(path), "// x\n#include \"" + include + "\"\n"}},
          std::move(lines)};
}

Sample outside(std::string path, std::string include, std::vector<int> lines) {
  return {
      "third-party", {{std::move(path), "// x\n#include <" + include + ">\n"}}, std::move(lines)};
}

}  // namespace

std::vector<Sample> samples_of_includes() {
  const std::vector<int> bad = {2};
  return {
      direction("src/base/a.cpp", "domain/b.h", bad),
      direction("src/domain/a.h", "store/b.h", bad),
      direction("src/auth/a.cpp", "store/b.h", bad),
      direction("src/http/a.cpp", "domain/b.h", bad),
      direction("src/store/a.cpp", "flows/b.h", bad),
      direction("src/outbound/a.cpp", "store/b.h", bad),
      direction("src/flows/a.cpp", "http/b.h", bad),
      direction("src/workers/a.cpp", "outbound/b.h", bad),
      direction("src/api/a.cpp", "outbound/b.h", bad),
      direction("src/api/a.cpp", "workers/b.h", bad),
      direction("src/api/a.cpp", "config/b.h", bad),
      direction("src/domain/a.cpp", "embedded/embedded.h", bad),
      direction("src/base/a.cpp", "../domain/b.h", bad),
      direction("src/api/deep/a.cpp", "outbound/b.h", bad),
      direction("src/novelty/a.cpp", "base/b.h", bad),
      direction("src/base/a.cpp", "base/b.h", {}),
      direction("src/domain/a.cpp", "base/b.h", {}),
      direction("src/store/a.cpp", "embedded/embedded.h", {}),
      direction("src/api/deep/a.cpp", "flows/b.h", {}),
      direction("src/cli/a.cpp", "app/b.h", {}),
      direction("src/app/a.cpp", "workers/b.h", {}),
      direction("src/app/a.cpp", "config/b.h", {}),
      direction("src/app/a.cpp", "cli/b.h", bad),
      direction("tests/unit/a.cpp", "store/b.h", {}),
      {"include-direction", {{"src/base/a.cpp", "// #include \"api/b.h\"\n"}}, {}},

      outside("src/api/a.cpp", "httplib.h", bad),
      outside("src/domain/a.cpp", "nlohmann/json.hpp", bad),
      outside("src/flows/a.cpp", "sqlite3.h", bad),
      outside("src/app/a.cpp", "sqlite3.h", bad),
      outside("src/store/a.cpp", "openssl/evp.h", bad),
      outside("src/http/a.cpp", "spdlog/spdlog.h", bad),
      outside("src/http/a.cpp", "fmt/core.h", bad),
      outside("src/api/a.cpp", "CLI/CLI.hpp", bad),
      outside("src/http/a.cpp", "ares.h", bad),
      outside("src/http/a.cpp", "curl/curl.h", bad),
      outside("src/base/a.cpp", "boost/any.hpp", bad),
      {"third-party", {{"src/api/a.cpp", "#include \"httplib.h\"\n"}}, {1}},
      outside("src/http/a.cpp", "httplib.h", {}),
      outside("src/auth/a.cpp", "nlohmann/json.hpp", {}),
      outside("src/store/a.cpp", "sqlite3.h", {}),
      outside("src/base/a.cpp", "openssl/evp.h", {}),
      outside("src/config/a.cpp", "CLI/CLI.hpp", {}),
      outside("src/outbound/a.cpp", "ares.h", {}),
      outside("src/http/a.cpp", "sys/socket.h", {}),
      outside("src/domain/a.cpp", "vector", {}),
  };
}

}  // namespace tidy
