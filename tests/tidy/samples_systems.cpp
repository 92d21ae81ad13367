#include "self_test.h"

namespace tidy {
namespace {

Sample one(std::string path, std::string text, std::vector<int> lines) {
  return {"systems", {{std::move(path), std::move(text)}}, std::move(lines)};
}

/// A file for each system.
Sample both(std::string linux_text, std::string macos_text, std::vector<int> lines) {
  return {"systems",
          {{"src/base/a_linux.cpp", std::move(linux_text)},
           {"src/base/a_macos.cpp", std::move(macos_text)}},
          std::move(lines)};
}

}  // namespace

std::vector<Sample> samples_of_systems() {
  std::vector<Sample> out = {
      one("src/base/a.cpp", "#if defined(__linux__)\nfdatasync(fd);\n#else\nother(fd);\n#endif\n",
          {}),
      one("src/base/a.cpp",
          "#ifdef __linux__\naccept4(fd);\n#elif defined(__APPLE__)\nx();\n#endif", {}),
      one("src/base/a.cpp", "#if defined(__APPLE__)\nx();\n#else\npipe2(p, 0);\n#endif\n", {}),
      one("src/base/a.cpp", "#ifndef __APPLE__\nx();\n#else\nfsync(1);\n#endif\ngettid();\n", {6}),
      // No branch for the other system, the wrong branch, and a condition about something else.
      one("src/base/a.cpp", "#if defined(__linux__)\nfdatasync(fd);\n#endif\n", {2}),
      one("src/base/a.cpp", "#if defined(__linux__)\nx();\n#else\nprctl(1);\n#endif\n", {4}),
      one("src/base/a.cpp", "#if defined(__APPLE__)\npipe2(p, 0);\n#else\nx();\n#endif\n", {2}),
      one("src/base/a.cpp", "#if defined(__linux__)\nkqueue();\n#else\nx();\n#endif\n", {2}),
      one("src/base/a.cpp", "#if COFFER_FAULTS\ngettid();\n#else\nx();\n#endif\n", {2}),
      // Inside another condition.
      one("src/base/a.cpp",
          "#if defined(__linux__)\n#if A\ngettid();\n#endif\n#else\nx();\n#endif\ndup3();\n", {8}),
      // An include does not count as a use.
      one("src/base/a.cpp", "#if defined(__linux__)\n#include <sys/vfs.h>\n#endif\n", {}),
      one("src/base/a.cpp", "#if __has_include(<malloc.h>)\n#include <malloc.h>\n#endif\n", {}),
      one("src/base/a.cpp", "#if defined(__GLIBC__)\nmallopt(1, 2);\n#endif\n", {}),
      one("src/base/a.cpp", "#if defined(__GLIBC__)\ngettid();\n#endif\n", {2}),
      one("src/base/a.cpp", "// accept4, \"/proc/\"\nf(\"accept4\", \"see /proc/self\");\n", {}),
      one("src/base/a.cpp", "Row accept(int pipe, int socket);\nfsynced(1);\n", {}),
      one("tests/unit/a.cpp", "accept4(fd);\nopen(\"/proc/self/fd\");\n", {}),
      both("#include <sys/epoll.h>\nepoll_wait(a);\nfsync(a);\n",
           "#include <sys/event.h>\nkevent(a);\nfsync(a);\n", {}),
      both("kqueue();\n", "x();\n", {1}),
      both("x();\n", "\neventfd(0, 0);\n", {2}),
      one("src/base/a_linux.cpp", "x();\n", {1}),
      one("src/base/a_macos.cpp", "x();\n", {1}),
  };
  // One of each kind: a header, a call, a constant, a member, a place, a macro's value.
  for (const char* use :
       {"#include <sys/epoll.h>", "#include <linux/fs.h>", "#include <sys/event.h>",
        "#include <malloc.h>", "::fsync(fd);", "x(SOCK_CLOEXEC);", "a.st_ctim.tv_sec;",
        "mallopt(a, b);", "fcntl(fd, F_FULLFSYNC);", "open(\"/proc/self/fd\");",
        "is(\"/run/systemd/system\");", "#define FLAGS SOCK_CLOEXEC"}) {
    out.push_back(one("src/http/a.cpp", "\n" + std::string(use) + "\n", {2}));
  }
  return out;
}

}  // namespace tidy
