// Two samples of each rule: one with violations of each kind that the rule knows, and one without.
// The tree itself is the large good sample.
#include "self_test.h"

namespace tidy {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

/// One file, with a violation in each of its lines, or in none.
Sample lines_of(std::string rule, std::string path, const std::vector<std::string>& lines,
                bool bad) {
  std::string text;
  std::vector<int> found;
  for (const std::string& line : lines) {
    text += line + "\n";
    if (bad) found.push_back(static_cast<int>(found.size()) + 1);
  }
  return {std::move(rule), {{std::move(path), std::move(text)}}, std::move(found)};
}

std::string repeated(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += "x\n";
  return text;
}

/// `head`, `{`, and enough lines for a total of `lines`.
std::string block(const std::string& head, int lines, const std::string& end = "}\n") {
  std::string text = head + " {\n";
  for (int i = 0; i < lines - 2; ++i) text += "  g();\n";
  return text + end;
}

/// Functions of `lines` lines, whose heads are hard to read.
Sample functions(int lines) {
  Sample out{"function-length", {{"src/base/a.cpp", "char c = '{';  // {\n"}}, {}};
  int at = 2;
  for (const char* head :
       {"void f(int a = 1, std::map<int, int> b = {})", "template <class T = int> void f()",
        "A::A(int a) : a_{a}, b_({1})", "bool A::operator()(int a) const noexcept",
        "auto f() -> std::vector<int>", "struct stat f()", "TEST_CASE(\"a { b\", \"[c]\")",
        "extern \"C\" void f()", "const Rule kRule = [](int a)"}) {
    out.files[0].second +=
        block(head, lines, std::string(head).starts_with("const") ? "};\n" : "}\n");
    if (lines > 70) out.lines.push_back(at);
    at += lines;
  }
  for (const char* head :
       {"namespace a", "class A : public B", "enum class A : int", "constexpr int kTable[] ="}) {
    out.files[0].second += block(head, 200, "};\n");
  }
  return out;
}

/// A class with `members` member functions, among them each kind that is hard to recognise, and
/// many lines that only look like one.
Sample members(int members) {
  const std::vector<std::string> hard = {
      "  void f(int a) { if (a) g(); }",
      "  static int f();",
      "  template <class T = int> T f(T);",
      "  auto f() -> std::vector<int>;",
      "  std::map<int, std::function<int(int)>> f() const noexcept(false) override;",
      "  [[nodiscard]] int* f(\n      int a = 1);",
      "  virtual void f() = 0;",
      "public:\n int& f() {\n }"};
  std::string text = "namespace a {\nclass alignas(64) Outer::A final : public B {\n public:\n";
  for (const std::string& line : hard) text += line + "\n";
  for (int i = static_cast<int>(hard.size()); i < members; ++i) text += "  void f();\n";
  text +=
      "  explicit A(int a) : a_{a}, b_(g()) {}\n  virtual ~A();\n  A& operator=(A&&) = default;\n"
      "  bool operator==(const A& b) const { return h(b); }\n  explicit operator bool() const;\n"
      "  friend void h(A&);\n  using F = void (*)(int);\n  void (*p_)(int) = nullptr;\n"
      "  int a_ = g();\n  std::function<void(int)> b_;\n  alignas(64) int c_[2] = {g(), 1};\n"
      "  static constexpr auto kF = [](int a) { return g(a); };\n  enum class E { a, b };\n"
      "  struct C {\n    C(int c);\n    int f();\n    int f(int c);\n  };\n};\nvoid g();\n}\n";
  return {"class-size",
          {{"src/base/a.h", text}},
          members > 25 ? std::vector<int>{2} : std::vector<int>{}};
}

void add_code(std::vector<Sample>& out) {
  out.push_back(lines_of("sql", "src/flows/a.cpp",
                         {"\"SELECT id FROM wallets\";", "\"INSERT OR IGNORE INTO t\";",
                          "\"UPDATE\\n t\\n SET a\";", "\"delete from t\";", "\"CREATE TABLE t\";",
                          "\"PRAGMA user_version\";", "\"SELECT a \" /* and */ \"FROM b\""},
                         true));
  out.push_back(lines_of("sql", "src/flows/a.cpp",
                         {"// SELECT id FROM wallets", "\"Select a wallet from the list\";",
                          "f(\"SELECT\", \"FROM\");"},
                         false));
  out.push_back(lines_of(
      "stored-value", "src/store/a.cpp",
      {"\"SELECT a FROM t WHERE status = 2\";", "\"a WHERE p.type<>1\";", "\"WHERE kind >= 4\";"},
      true));
  out.push_back(lines_of(
      "stored-value", "src/store/a.cpp",
      {"\"a WHERE status = ?2\";", "\"status = 2\"; static_assert(stored(Status::done) == 2);"},
      false));
  out.push_back(lines_of("banned-name", "src/http/a.cpp",
                         {"std::chrono::system_clock::now();", "::time(&t);", "RAND_bytes(b, 1);",
                          "std::random_device d;", "usleep(1);", "std::getenv(\"X\");",
                          "std::thread t;", "std::scoped_lock l(m);", "std::condition_variable c;",
                          "#include <mutex>", "#define M std::mutex"},
                         true));
  out.push_back(lines_of("banned-name", "src/http/a.cpp",
                         {"row.time(0);", "Timestamp time(Row row);", "// std::mutex",
                          "\"std::mutex\";", "operand();"},
                         false));
  out.push_back(lines_of("using-namespace", "src/base/a.h", {"using   namespace std;"}, true));
  out.push_back(lines_of("using-namespace", "src/base/a.h",
                         {"// using namespace std;", "using std::swap;"}, false));
  out.push_back(lines_of("shared-ptr", "src/flows/a.h",
                         {"std::shared_ptr<int> p;", "std::make_shared<int>(1);"}, true));
  out.push_back(lines_of("shared-ptr", "src/app/app.cpp", {"std::shared_ptr<int> p;"}, false));
  out.push_back(lines_of("sqlite-call", "src/store/a.cpp", {"sqlite3_step(statement);"}, true));
  out.push_back(lines_of("sqlite-call", "src/store/a.cpp",
                         {"struct sqlite3_value;", "// sqlite3_step(s)", "\"sqlite3_step(s)\";"},
                         false));
  for (const char* path :
       {"src/store/file/connection.cpp", "src/store/file/writer_vfs.cpp", "tests/unit/a.cpp"}) {
    out.push_back(lines_of("sqlite-call", path, {"sqlite3_step(statement);"}, false));
  }
  out.push_back(lines_of("default-case", "src/base/a.cpp",
                         {"switch (a) { default: return; }", "default :"}, true));
  out.push_back(lines_of("default-case", "src/base/a.h",
                         {"A() = default;", "// default: 1", "f(\"default:\");"}, false));
  out.push_back(lines_of("write-path", "src/workers/a.cpp",
                         {"void f(store::WriteTx& tx);", "[](WriteTx& tx) {}"}, true));
  out.push_back(lines_of("write-path", "src/flows/a.cpp", {"void f(store::WriteTx& tx);"}, false));
  out.push_back(functions(71));
  out.push_back(functions(70));
  out.push_back(members(26));
  out.push_back(members(25));
  // Braces that do not match: in one of two branches, and alone.
  out.push_back(
      {"function-length",
       {{"src/base/a.cpp", "void f() {\n#if A\n  if (a) {\n#else\n  if (b) {\n#endif\n  }\n}\n"}},
       {1}});
}

void add_includes(std::vector<Sample>& out) {
  for (const auto& [path, include] : std::vector<std::pair<std::string, std::string>>{
           {"src/base/a.cpp", "domain/b.h"},
           {"src/domain/a.h", "store/b.h"},
           {"src/auth/a.cpp", "store/b.h"},
           {"src/http/a.cpp", "domain/b.h"},
           {"src/store/a.cpp", "flows/b.h"},
           {"src/outbound/a.cpp", "store/b.h"},
           {"src/flows/a.cpp", "http/b.h"},
           {"src/workers/a.cpp", "outbound/b.h"},
           {"src/api/deep/a.cpp", "outbound/b.h"},
           {"src/domain/a.cpp", "embedded/embedded.h"},
           {"src/base/a.cpp", "../domain/b.h"},
           {"src/novelty/a.cpp", "base/b.h"},
           {"src/app/a.cpp", "cli/b.h"},
           {"src/store/file/a.cpp", "store/b.h"},
           {"src/store/ledger/a.h", "store/webhooks/b.h"},
           {"src/base/novelty/a.h", "base/b.h"},
           {"src/flows/a.h", "flows/payments/b.h"}}) {
    out.push_back({"include-direction", {{path, "\n#include \"" + include + "\"\n"}}, {2}});
  }
  out.push_back(lines_of("include-direction", "src/api/deep/a.cpp",
                         {"#include \"flows/b.h\"", "// #include \"app/b.h\""}, false));
  out.push_back(lines_of(
      "third-party", "src/domain/a.cpp",
      {"#include <httplib.h>", "#include <nlohmann/json.hpp>", "#include <sqlite3.h>",
       "#include <openssl/evp.h>", "#include <CLI/CLI.hpp>", "#include <ares.h>",
       "#include <curl/curl.h>", "#include <SQLiteCpp/Database.h>", "#include \"httplib.h\""},
      true));
  out.push_back(lines_of("third-party", "src/http/a.cpp",
                         {"#include <httplib.h>", "#include <sys/socket.h>", "#include <vector>"},
                         false));
}

void add_systems(std::vector<Sample>& out) {
  // A header, a call, a constant, a member, a place, a macro's value.
  out.push_back(
      lines_of("systems", "src/http/a.cpp",
               {"#include <sys/epoll.h>", "::fsync(fd);", "x(SOCK_CLOEXEC);", "a.st_ctim.tv_sec;",
                "open(\"/proc/self/fd\");", "#define FLAGS SOCK_CLOEXEC"},
               true));
  // No branch for the other system, the wrong branch, and a condition about something else.
  out.push_back(
      {"systems", {{"src/base/a.cpp", "#if defined(__linux__)\nfdatasync(fd);\n#endif\n"}}, {2}});
  out.push_back({"systems",
                 {{"src/base/a.cpp", "#if defined(__linux__)\nx();\n#else\nprctl(1);\n#endif\n"}},
                 {4}});
  out.push_back({"systems", {{"src/base/a.cpp", "#if A\ngettid();\n#else\nx();\n#endif\n"}}, {2}});
  out.push_back({"systems", {{"src/base/a_linux.cpp", "x();\n"}}, {1}});
  out.push_back({"systems",
                 {{"src/base/a.cpp",
                   "#if defined(__linux__)\n#if A\ngettid();\n#endif\n#else\nx();\n#endif\n// "
                   "accept4\nf(\"accept4\");\n"},
                  {"src/base/b_linux.cpp", "#include <sys/epoll.h>\n"},
                  {"src/base/b_macos.cpp", "kevent(a);\n"}},
                 {}});
}

void add_files(std::vector<Sample>& out) {
  for (const auto& [path, most] :
       std::vector<std::pair<std::string, int>>{{"src/base/a.cpp", 800},
                                                {"src/flows/a.cpp", 250},
                                                {"src/app/app.cpp", 400},
                                                {"ARCHITECTURE.md", 200}}) {
    out.push_back({"file-length", {{path, repeated(most + 1)}}, {most + 1}});
    out.push_back({"file-length", {{path, repeated(most)}}, {}});
  }
  constexpr int kWorkers = 407;  // the budget of the smallest folder
  out.push_back({"line-budget",
                 {{"src/workers/a.cpp", repeated(kWorkers)}, {"src/workers/b/c.h", "x\n"}},
                 {1}});
  out.push_back({"line-budget",
                 {{"src/workers/a.cpp", repeated(kWorkers)}, {"src/workers/a.sql", "x\n"}},
                 {}});
  constexpr int kReplication = 3'000;  // a subfolder with a budget of its own
  out.push_back(
      {"line-budget", {{"src/store/replication/a.cpp", repeated(kReplication + 1)}}, {1}});
  out.push_back(
      {"file-name",
       {{"src/base/utils.h", ""}, {"tests/support/test-helpers.h", ""}, {"web/common.js", ""}},
       {1, 1, 1}});
  out.push_back({"file-name", {{"src/base/utilisation.h", ""}}, {}});
  Files files = {{"src/api/deep/a.h", ""}};
  for (int i = 0; i < 15; ++i) files.emplace_back("src/api/h" + std::to_string(i) + ".h", "");
  out.push_back({"folder-size", files, {}});
  files.emplace_back("src/api/h15.h", "");
  out.push_back({"folder-size", files, {1}});
  out.push_back({"pair",
                 {{"src/base/a.cpp", ""}, {"src/base/clocks_a.cpp", ""}, {"src/http/a.h", ""}},
                 {1, 1}});
  out.push_back({"pair",
                 {{"src/base/a_b_c.cpp", ""},
                  {"src/base/a.h", ""},
                  {"src/cli/a.cpp", "#include \"cli/command_groups.h\"\n"},
                  {"src/main.cpp", ""}},
                 {}});
  out.push_back({"dead-file",
                 {{"src/base/a.h", ""},
                  {"src/base/a.cpp", "#include \"base/a.h\"\n"},
                  {"web/old.js", ""},
                  {"web/index.html", "app.js"}},
                 {1, 1}});
  out.push_back({"dead-file",
                 {{"src/base/a.h", ""},
                  {"src/api/b.cpp", "#include \"base/a.h\"\n"},
                  {"web/app.js", ""},
                  {"web/index.html", "app.js"}},
                 {}});
}

void add_texts(std::vector<Sample>& out) {
  // In halves: the rule reads this file too.
  out.push_back(lines_of("unfinished", "web/app.js",
                         {std::string("// TO") + "DO(me): later", std::string("// FIX") + "ME"},
                         true));
  out.push_back(
      lines_of("unfinished", "src/base/a.cpp", {std::string("// to do is not TO") + "DOS"}, false));
  out.push_back(lines_of("white-space", "schema.sql", {"\ta", "b ", "c\r"}, true));
  out.push_back(
      lines_of("white-space", "README.md", {"two spaces at the end break a line  "}, false));
  out.push_back({"white-space", {{"src/base/a.cpp", "a\nb"}}, {2}});
  out.push_back(
      {"shell-word", {{"src/cli/a.cpp", "x(\"\\n serve --db \" +\n  config.db);\n"}}, {1}});
  out.push_back(
      {"shell-word", {{"src/cli/a.cpp", "x(\"serve --db \" +\n  shell_word(config.db));\n"}}, {}});
  out.push_back({"header-opening", {{"src/base/a.h", "#pragma once\n\n// What this is.\n"}}, {1}});
  out.push_back({"header-opening", {{"src/base/a.h", ""}}, {1, 1}});
  out.push_back({"header-opening", {{"src/base/a.h", "// What this is.\n#pragma once\n"}}, {}});
  const Files linked = {{"doc/b.md", ""}, {"src/c.cpp", ""}};
  out.push_back({"dead-link",
                 {{"doc/a.md", "[b](c.md)\n[b](b.md) ![i](i.png \"title\")\n[n]: ../src/d.cpp\n"},
                  linked[0],
                  linked[1]},
                 {1, 2, 3}});
  out.push_back(
      {"dead-link",
       {{"doc/a.md",
         "[b](b.md#part) [c](../src/c.cpp)\n[w](https://example.org/x)\n`[b](none.md)`\n"},
        linked[0],
        linked[1]},
       {}});
  out.push_back({"phrase",
                 {{"docs/contract.md", "# A\n\nNobody sees it, and it is\nunder\nway.\n"}},
                 {3, 4}});
  out.push_back({"phrase",
                 {{"src/base/text/a.h", "// What it is, and that it is\n// none.\n"},
                  {"tests/crash/a.py", "# Nobody reads it.\n"}},
                 {1, 1}});
  out.push_back({"phrase",
                 {{"docs/contract.md", "Under control, way ahead: it is. None of it counts.\n"}},
                 {}});
  const std::pair<std::string, std::string> document = {
      "docs/a.md", "# Title\n\n## On-ramp\n\n```\n## Fenced\n```\n"};
  out.push_back(
      {"reference",
       {{"src/base/a.h",
         "// (docs/b.md)\n// docs/a.md#off-ramp\n// docs/a.md#fenced\n// decisions section 5\n"
         "// RFC 9110 section 5.6.7\n// (contract, Wallet)\n"},
        document},
       {1, 2, 3, 4, 6}});
  out.push_back({"reference", {{"docs/c.md", "[here](#part) [a](a.md#part)\n"}, document}, {1, 1}});
  out.push_back(
      {"reference",
       {{"src/base/a.h",
         "// docs/a.md#on-ramp; as in RFC 7519\n// section 2. The contract of the caller.\n"},
        document},
       {}});
}

}  // namespace

std::vector<Sample> samples() {
  std::vector<Sample> out;
  for (const auto add : {add_code, add_includes, add_systems, add_files, add_texts}) add(out);
  return out;
}

}  // namespace tidy
