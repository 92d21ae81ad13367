#include "cli/progress.h"

#include <catch2/catch.hpp>
#include <sstream>

using namespace coffer;
using namespace coffer::cli;

namespace {

using Unit = Progress::Unit;

struct Drawing {
  std::ostringstream out;
  std::ostringstream err;
  Interruption interruption;
  ManualClock clock;
  Console console{out, err, false, true, false, 60};

  /// The output since the last call, with `~` for the code that clears the line.
  std::string drawn() {
    std::string text = err.str();
    err.str("");
    for (auto at = text.find("\r\x1b[K"); at != std::string::npos; at = text.find("\r\x1b[K")) {
      text.replace(at, 4, "~");
    }
    return text;
  }
};

}  // namespace

TEST_CASE("progress: a rate and the remaining time, once known", "[cli]") {
  CHECK(progress_text({"copying", 0, 4 << 20, Unit::bytes}, 0) ==
        "[........................]   0 %  copying  0 B of 4.0 MiB");
  CHECK(progress_text({"copying", 1 << 20, 4 << 20, Unit::bytes}, 2'000) ==
        "[######..................]  25 %  copying  1.0 MiB of 4.0 MiB  512 KiB/s  7 s left");
  CHECK(progress_text({"payment", 30'000, 1'200'000, Unit::rows}, 10'000) ==
        "[........................]   2 %  payment  30,000 of 1,200,000  3,000/s  6 min 31 s left");
  CHECK(progress_text({"checking conservation", 3, 12, Unit::steps}, 6'000) ==
        "[######..................]  25 %  checking conservation  3 of 12  19 s left");
  CHECK(progress_text({"copying", 9, 9, Unit::rows}, 9'000) ==
        "[########################] 100 %  copying  9 of 9  1/s");
}

TEST_CASE("progress: without a total, the elapsed time", "[cli]") {
  CHECK(progress_text({"checking sqlite integrity", 0, 0, Unit::steps}, 0) ==
        "checking sqlite integrity");
  CHECK(progress_text({"checking sqlite integrity", 0, 0, Unit::steps}, 65'000) ==
        "checking sqlite integrity  1 min 5 s");
}

TEST_CASE("progress: one line, drawn ten times a second at most, cleared at the end", "[cli]") {
  Drawing drawing;
  {
    ProgressLine line(drawing.console, drawing.interruption, drawing.clock);
    line.show({"copying", 0, 100, Unit::rows});
    CHECK(drawing.drawn() == "~[........................]   0 %  copying  0 of 100");
    line.show({"copying", 1, 100, Unit::rows});
    CHECK(drawing.drawn().empty());
    drawing.clock.advance_ms(1'000);
    line.show({"copying", 50, 100, Unit::rows});
    CHECK(drawing.drawn() == "~[############............]  50 %  copying  50 of 100  50/s\u2026");
    line.show({"checksum", 0, 7, Unit::rows});  // a phase of its own, with its own rate
    CHECK(drawing.drawn() == "~[........................]   0 %  checksum  0 of 7");
  }
  CHECK(drawing.drawn() == "~");
}

TEST_CASE("progress: all steps count for the remaining time", "[cli]") {
  Drawing drawing;
  drawing.console.columns = 100;
  ProgressLine line(drawing.console, drawing.interruption, drawing.clock);
  line.show({"checking a", 0, 4, Unit::steps});
  drawing.clock.advance_ms(4'000);
  line.show({"checking b", 2, 4, Unit::steps});
  CHECK(drawing.drawn().ends_with("checking b  2 of 4  5 s left"));
}

TEST_CASE("progress: none if standard error is not a terminal", "[cli]") {
  Drawing drawing;
  drawing.console.progress = false;
  { ProgressLine(drawing.console, drawing.interruption, drawing.clock).show({"copying", 1, 2}); }
  CHECK(drawing.drawn().empty());
}

TEST_CASE("progress: ends the work when the server stops or the client disconnects", "[cli]") {
  Drawing drawing;
  ProgressLine line(drawing.console, drawing.interruption, drawing.clock);
  drawing.err.setstate(std::ios::badbit);
  CHECK_THROWS_AS(line.show({"copying", 1, 2}), ProgressLine::Stopped);
  drawing.err.clear();
  drawing.interruption.interrupt();
  const auto stopped = unless_stopped([&]() -> Result<int> {
    line.show({"copying", 2, 2});
    return 1;
  });
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().slug == Slug::overloaded);
  CHECK(stopped.error().detail == ProgressLine::kServerStops);
}
