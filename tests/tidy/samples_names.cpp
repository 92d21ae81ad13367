#include <string_view>

#include "self_test.h"

namespace tidy {
namespace {

Sample code(std::string rule, std::string path, std::string text, bool bad) {
  return {std::move(rule),
          {{std::move(path), "\n" + text + "\n"}},
          bad ? std::vector<int>{2} : std::vector<int>{}};
}

void add_sql(std::vector<Sample>& out) {
  for (const char* literal :
       {"\"SELECT id FROM wallets\"", "\"select id from wallets\"",
        "\"WITH x AS (SELECT 1 FROM y)\"", "\"INSERT INTO t VALUES (1)\"",
        "\"INSERT OR IGNORE INTO t\"", "\"REPLACE INTO t\"", "\"UPDATE t SET a = 1\"",
        "\"DELETE FROM t\"", "\"delete from t\"", "\"CREATE TABLE t\"", "\"DROP INDEX i\"",
        "\"PRAGMA user_version\"", "R\"(SELECT a\nFROM b)\"", "\"SELECT a \" /* and */ \"FROM b\"",
        "\"UPDATE\\n t\\n SET a\""}) {
    out.push_back(code("sql", "src/flows/a.cpp", literal, true));
    out.push_back(code("sql", "src/store/a.cpp", literal, false));
    out.push_back(code("sql", "tests/unit/a.cpp", literal, false));
  }
  for (const char* fine :
       {"// SELECT id FROM wallets", "\"Select a wallet from the list\"", "\"insert\"",
        "\"the update was set aside\"", "f(\"SELECT\", \"FROM\")"}) {
    out.push_back(code("sql", "src/flows/a.cpp", fine, false));
  }
}

void add_stored_values(std::vector<Sample>& out) {
  const std::string rule = "stored-value";
  for (const char* literal :
       {"\"SELECT a FROM t WHERE status = 2\"", "\"a WHERE p.type<>1\"", "\"WHERE kind >= 4\"",
        "\"WHERE e.type <= 6 AND a = 0\"", "\"WHERE h.state = 0\""}) {
    out.push_back(code(rule, "src/store/a.cpp", literal, true));
    out.push_back(code(rule, "src/flows/a.cpp", literal, false));
  }
  out.push_back({rule, {{"src/store/a.cpp", "\n\"status IN (3, 4)\"\n"}}, {2, 2}});
  out.push_back({rule,
                 {{"src/store/a.cpp",
                   "\n\"status NOT IN (3, 4)\";\n"
                   "static_assert(stored(Status::three) == 3);\n"}},
                 {2}});
  for (const char* fine :
       {"\"a WHERE status = ?\"", "\"WHERE state = ?2\"", "\"WHERE amount = 2\"",
        "// WHERE status = 2", "\"status = 2\"; static_assert(stored(Status::done) == 2);"}) {
    out.push_back(code(rule, "src/store/a.cpp", fine, false));
  }
}

void add_banned(std::vector<Sample>& out) {
  for (const char* use : {"std::chrono::system_clock::now()",
                          "steady_clock::now()",
                          "high_resolution_clock::now()",
                          "clock_gettime(c, &t)",
                          "gettimeofday(&t, nullptr)",
                          "time(nullptr)",
                          "::time(&t)",
                          "std::time(0)",
                          "RAND_bytes(b, 1)",
                          "RAND_priv_bytes(b, 1)",
                          "std::random_device d;",
                          "std::mt19937 g;",
                          "std::mt19937_64 g;",
                          "getrandom(b, 1, 0)",
                          "srand(1)",
                          "rand()",
                          "std::this_thread::sleep_for(d)",
                          "sleep_until(d)",
                          "usleep(1)",
                          "nanosleep(&t, nullptr)",
                          "std::getenv(\"X\")",
                          "secure_getenv(\"X\")",
                          "std::thread t;",
                          "std::jthread t;",
                          "std::async(f)",
                          "pthread_create(a, b, c, d)",
                          "std::mutex m;",
                          "std::recursive_mutex m;",
                          "std::timed_mutex m;",
                          "std::shared_mutex m;",
                          "std::lock_guard l(m);",
                          "std::unique_lock l(m);",
                          "std::scoped_lock l(m);",
                          "std::shared_lock l(m);",
                          "std::condition_variable c;",
                          "std::condition_variable_any c;",
                          "#include <thread>",
                          "#include <mutex>",
                          "#include <random>",
                          "#define M std::mutex"}) {
    out.push_back(code("banned-name", "src/http/a.cpp", use, true));
    out.push_back(code("banned-name", "src/base/a.cpp", use, false));
    out.push_back(code("banned-name", "tests/unit/a.cpp", use, false));
  }
  for (const char* fine :
       {"row.time(0)", "row->time(0)", "Timestamp time(Row row);", "int thread = 1;",
        "// std::mutex", "\"std::mutex\"", "Mutex mutex;", "operand()", "mtime(nullptr)"}) {
    out.push_back(code("banned-name", "src/http/a.cpp", fine, false));
  }
}

}  // namespace

std::vector<Sample> samples_of_names() {
  std::vector<Sample> out = {
      code("using-namespace", "src/base/a.h", "using namespace std;", true),
      code("using-namespace", "tests/support/a.h", "  using   namespace coffer;", true),
      code("using-namespace", "src/base/a.cpp", "using namespace std;", false),
      code("using-namespace", "src/base/a.h", "// using namespace std;\nusing std::swap;", false),

      code("shared-ptr", "src/flows/a.h", "std::shared_ptr<int> p;", true),
      code("shared-ptr", "src/base/a.cpp", "auto p = std::make_shared<int>(1);", true),
      code("shared-ptr", "src/app/app.cpp", "std::shared_ptr<int> p;", false),
      code("shared-ptr", "src/base/a.cpp", "std::unique_ptr<int> p;", false),

      code("default-case", "src/base/a.cpp", "switch (a) { default: return; }", true),
      code("default-case", "src/base/a.cpp", "default :", true),
      code("default-case", "src/base/a.h", "A() = default;", false),
      code("default-case", "src/base/a.h", "// default: 1\nf(\"default:\");", false),

      code("write-path", "src/api/a.cpp", "void f(store::WriteTx& tx);", true),
      code("write-path", "src/workers/a.cpp", "[](WriteTx& tx) {}", true),
      code("write-path", "src/flows/a.cpp", "void f(store::WriteTx& tx);", false),
  };
  add_sql(out);
  add_stored_values(out);
  add_banned(out);
  return out;
}

}  // namespace tidy
