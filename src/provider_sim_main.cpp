// Sets up the process and runs the simulated provider.
#include "base/platform/process.h"
#include "provider_sim/program.h"

int main(int argc, char** argv) {
  coffer::set_up_process();
  return coffer::provider_sim::run_program(argc, argv);
}
