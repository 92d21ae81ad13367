#include "cli/program.h"

#include <unistd.h>

#include <cerrno>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/environment.h"
#include "cli/command_line.h"
#include "cli/dispatch.h"
#include "cli/exit_code.h"

namespace coffer::cli {
namespace {

bool colours_wanted() {
  const auto no_color = environment_variable("NO_COLOR");  // no-color.org: set and not empty
  return (!no_color || no_color->empty()) && environment_variable("TERM") != "dumb";
}

Console standard_console() {
  return {std::cout, std::cerr, ::isatty(STDOUT_FILENO) == 1, ::isatty(STDERR_FILENO) == 1,
          colours_wanted()};
}

int run(int argc, const char* const* argv, const Console& console) {
  const CommandLine line =
      read_command_line(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc), console);
  return line.command == nullptr ? line.exit_code : run_command(line, console);
}

/// What was printed must have arrived: half a list is not a list. A reader that has seen enough
/// (`| head`) is no fault worth a message.
int checked_output(const Console& console, int code) {
  errno = 0;
  console.out.flush();
  if (console.out || code != exit_code::kDone) return code;
  if (errno != EPIPE) print_error(console, "cannot write to standard output; is the disk full?");
  return exit_code::kFailed;
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  const Console console = standard_console();
  try {
    prepare_crypto();
    return checked_output(console, run(argc, argv, console));
  } catch (const std::exception& fault) {
    return print_fault(console, fault);
  }
}

}  // namespace coffer::cli
