// Sets up the process and runs the command line.
#include "base/platform/process.h"
#include "cli/run/program.h"

int main(int argc, char** argv) {
  coffer::set_up_process();
  return coffer::cli::run_program(argc, argv);
}
