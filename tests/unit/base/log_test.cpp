#include "base/telemetry/log.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

using namespace coffer;

namespace {

constexpr Timestamp kTime{1'769'850'000'123};  // 2026-01-31T09:00:00.123Z

std::string json(std::string_view message, LogFields fields = {}) {
  return render_log_line(LogFormat::json, kTime, LogLevel::info, "http", message, fields);
}

std::string text(std::string_view message, LogFields fields = {}) {
  return render_log_line(LogFormat::text, kTime, LogLevel::warning, "http", message, fields);
}

/// Restores the log settings that other tests expect.
struct Captured {
  Captured() {
    redirect_log([this](std::string_view line) { lines.emplace_back(line); });
  }
  ~Captured() {
    redirect_log(nullptr);
    configure_logging(LogLevel::info, default_log_format());
  }
  std::vector<std::string> lines;
};

}  // namespace

TEST_CASE("a JSON event has time, level, component, message, then the fields in order", "[log]") {
  const std::string id = "r1";
  CHECK(json("answered", {{"request_id", id}, {"status", 200}, {"ok", true}, {"share", 0.25}}) ==
        R"({"time":"2026-01-31T09:00:00.123Z","level":"info","component":"http",)"
        R"("message":"answered","request_id":"r1","status":200,"ok":true,"share":0.25})");
}

TEST_CASE("JSON escapes what could end the string or the line", "[log]") {
  CHECK(json("m", {{"v", "a\"b\\c\n\r\t\x01\x1b[31m\x7f"}})
            .find(R"("v":"a\"b\\c\n\r\t\u0001\u001b[31m\u007f"})") != std::string::npos);
  CHECK(json("m", {{"v", std::string_view("nul\0end", 7)}}).find(R"("v":"nul\u0000end")") !=
        std::string::npos);
  CHECK(json("line\nbreak").find(R"("message":"line\nbreak")") != std::string::npos);
  CHECK(json("m", {{"ke\"y", 1}}).find(R"("ke\"y":1)") != std::string::npos);
}

TEST_CASE("valid UTF-8 is unchanged; separators and text-direction marks are escaped", "[log]") {
  CHECK(json("m", {{"v", "żółć 日本 🙂"}}).find("żółć 日本 🙂") !=
        std::string::npos);
  CHECK(json("m", {{"v", "\u2028\u2029\u202e\u0085"}}).find(R"(\u2028\u2029\u202e\u0085)") !=
        std::string::npos);
}

TEST_CASE("every byte that is not UTF-8 becomes U+FFFD", "[log]") {
  const std::string bad = "\xef\xbf\xbd";
  struct Case {
    std::string bytes;
    std::string expected;
  };
  const std::vector<Case> cases = {
      {"\x80", bad},                                // a tail alone
      {"\xc3", bad},                                // cut off
      {"\xc3z", bad + "z"},                         // the next character survives
      {"\xc0\xaf", bad + bad},                      // overlong
      {"\xe0\x80\xaf", bad + bad + bad},            // overlong
      {"\xed\xa0\x80", bad + bad + bad},            // surrogate
      {"\xf4\x90\x80\x80", bad + bad + bad + bad},  // beyond U+10FFFF
      {"\xff\xfe", bad + bad},
      {"\xf0\x9f\x99", bad + bad + bad},
  };
  for (const Case& c : cases) {
    CHECK(json("m", {{"v", c.bytes}}).ends_with("\"v\":\"" + c.expected + "\"}"));
  }
}

TEST_CASE("numbers keep every digit; values without JSON form are null", "[log]") {
  CHECK(json("m", {{"v", std::numeric_limits<std::int64_t>::min()}})
            .ends_with("\"v\":-9223372036854775808}"));
  CHECK(json("m", {{"v", std::numeric_limits<std::uint64_t>::max()}})
            .ends_with("\"v\":18446744073709551615}"));
  CHECK(json("m", {{"v", std::nan("")}}).ends_with("\"v\":null}"));
  CHECK(json("m", {{"v", std::numeric_limits<double>::infinity()}}).ends_with("\"v\":null}"));
}

TEST_CASE("text quotes only ambiguous values", "[log]") {
  CHECK(text("answered", {{"path", "/v1/wallets"}, {"status", 200}, {"note", "two words"}}) ==
        "2026-01-31T09:00:00.123Z warning http: answered path=/v1/wallets status=200 "
        "note=\"two words\"");
  CHECK(text("m", {{"v", ""}}).ends_with(" v=\"\""));
  CHECK(text("m", {{"v", "a=b"}}).ends_with(" v=\"a=b\""));
  CHECK(text("m", {{"v", "say \"hi\""}}).ends_with(R"( v="say \"hi\"")"));
}

TEST_CASE("text cannot forge a line, a field or a colour", "[log]") {
  CHECK(text("m", {{"v", "x\n2026-01-31T09:00:00.123Z INFO  http: all is well"}})
            .ends_with(R"( v="x\n2026-01-31T09:00:00.123Z INFO  http: all is well")"));
  CHECK(text("a\x1b[2J\nb").ends_with("http: a\\u001b[2J\\nb"));
  CHECK(text("m", {{"k\ney", "v"}}).ends_with(R"( "k\ney"=v)"));
}

TEST_CASE("the level decides what is written and can change at run time", "[log]") {
  Captured captured;
  configure_logging(LogLevel::warning, LogFormat::json);
  log_debug("t", "debug");
  log_info("t", "info");
  log_warning("t", "warning");
  log_error("t", "error");
  CHECK(captured.lines.size() == 2);
  CHECK_FALSE(log_enabled(LogLevel::info));

  set_log_level(LogLevel::debug);
  log_debug("t", "debug");
  CHECK(captured.lines.size() == 3);

  set_log_level(LogLevel::off);
  log_error("t", "error");
  CHECK(captured.lines.size() == 3);
}

TEST_CASE("braces in a message are not format fields", "[log]") {
  Captured captured;
  configure_logging(LogLevel::info, LogFormat::text);
  log_info("t", "{} {0} %v %s", {{"v", "{}%n"}});
  REQUIRE(captured.lines.size() == 1);
  CHECK(captured.lines[0].ends_with("t: {} {0} %v %s v={}%n"));
}

TEST_CASE("log events of several threads are not interleaved", "[log]") {
  Captured captured;
  configure_logging(LogLevel::info, LogFormat::json);
  constexpr int kThreads = 4;
  constexpr int kEvents = 200;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < kEvents; ++i) log_info("t", "m", {{"thread", t}, {"i", i}});
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(captured.lines.size() == kThreads * kEvents);
  for (const auto& line : captured.lines) {
    if (!line.starts_with('{') || !line.ends_with('}')) FAIL(line);
  }
}

TEST_CASE("a secret does not compile as a field", "[log]") {
  STATIC_REQUIRE_FALSE(std::is_convertible_v<Secret, LogValue>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<LogValue, Secret>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<LogValue, const Secret&>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<LogValue, int*>);
}
