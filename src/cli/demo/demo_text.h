// The text that the demo prints when it starts: its addresses, and three calls to paste.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "cli/demo/demo_secrets.h"
#include "cli/demo/demo_seed.h"

namespace coffer::cli {

struct Demo {
  DemoWorld world;
  DemoSecrets secrets;
};

struct DemoPlace {
  std::string origin;       // http://127.0.0.1:8080
  std::string database;     // path
  std::string certificate;  // path; empty: plain HTTP
  std::string admin;        // http://127.0.0.1:8080/admin/; empty: no admin page
  std::string env = {};     // path of the file with variables; empty: none
};

/// `transaction` is the transactionId in the printed payment. It must differ at each start;
/// otherwise the payment would be a replay of an earlier one.
std::string demo_start_text(const Demo& demo, const DemoPlace& place,
                            const std::string& transaction);

/// `text` with every `@name@` replaced. A name that is not in `values` is a bug.
std::string filled(std::string_view text, const std::map<std::string_view, std::string>& values);

}  // namespace coffer::cli
