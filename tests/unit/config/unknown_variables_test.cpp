#include "config/unknown_variables.h"

#include <catch2/catch.hpp>
#include <map>

#include "config/config.h"

using namespace coffer;

TEST_CASE("an empty variable counts as not set, an empty flag does not", "[config]") {
  std::map<std::string, std::string> environment{{"HOME", "/nowhere"}, {"COFFER_FOUR_EYES", ""}};
  ConfigInputs inputs;
  inputs.environment = [&](const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  };
  const auto config = load_config(inputs);
  REQUIRE(config);
  CHECK(config->origins.at("four_eyes") == "default");
  inputs.flags["four_eyes"] = "";
  const auto flagged = load_config(inputs);
  REQUIRE_FALSE(flagged);
  CHECK(config_exit_code(flagged.error()) == 2);
}
