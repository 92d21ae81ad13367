#include "cli/run/program.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/platform/exit_code.h"
#include "base/platform/terminal.h"
#include "cli/command_line.h"
#include "cli/output/standard_output.h"
#include "cli/run/dispatch.h"
#include "cli/shell/completion.h"

namespace coffer::cli {
namespace {

Console standard_console(std::ostream& out) {
  const int columns = terminal_columns(STDOUT_FILENO);
  return {out,
          std::cerr,
          is_terminal(STDOUT_FILENO),
          is_terminal(STDERR_FILENO),
          colours_allowed(),
          columns > 0 ? columns : terminal_columns(STDERR_FILENO)};
}

int run(const std::vector<std::string>& arguments, const Console& console) {
  try {
    prepare_crypto();
    if (!arguments.empty() && arguments.front() == kCompleteArgument) {
      print_offers(console.out, {arguments.begin() + 1, arguments.end()});
      return exit_code::kDone;
    }
    const CommandLine line = read_command_line(arguments, console);
    return line.command == nullptr ? line.exit_code : run_command(line, console);
  } catch (const std::exception& fault) {
    return print_fault(console, fault);
  }
}

/// The exit code after checking that all output was written, because a partial list is an error.
int checked(const Console& console, DescriptorBuffer& output, int code) {
  output.finish();
  if (output.error() == 0) return code;
  if (output.lost_reader()) end_by_broken_pipe();
  print_error(console,
              "cannot write to standard output: " + std::string(std::strerror(output.error())) +
                  ". The output is incomplete");
  return code == exit_code::kDone ? exit_code::kFailed : code;
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (std::ranges::find(arguments, kNoColor) != arguments.end()) forbid_colours();
  DescriptorBuffer output(STDOUT_FILENO);
  std::ostream out(&output);
  const Console console = standard_console(out);
  return checked(console, output, run(arguments, console));
}

}  // namespace coffer::cli
