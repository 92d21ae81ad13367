// Commands of the command table, run as by the operator of a server.
#pragma once

#include <map>
#include <sstream>
#include <string>

#include "cli/run/dispatch.h"
#include "support/test_app.h"

namespace coffer::test {

using Values = std::map<std::string, std::string>;

struct Ran {
  int code = -1;
  std::string out;
  std::string err;
  /// Of a list in pages, its rows.
  Json json() const {
    Json all = Json::parse(out);
    return all.is_object() && all.contains("nextCursor") ? all.at("data") : all;
  }
};

inline Ran run_command(TestApp& app, const std::string& command, const Values& arguments,
                       bool json = true) {
  std::ostringstream out;
  std::ostringstream err;
  cli::Interruption interruption;
  const int code =
      cli::run_request(app.core(), {.command = command, .arguments = arguments, .json = json}, out,
                       err, interruption);
  return {code, out.str(), err.str()};
}

}  // namespace coffer::test
