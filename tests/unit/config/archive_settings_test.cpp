// The settings of the archive's store: invalid values, and secrets from each of their sources.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>

#include "config/config.h"
#include "outbound/archive/archive_place.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;

namespace archive_settings_test {
namespace {

struct World {
  Result<Config> load() const {
    return load_config({.flags = flags, .environment = [this](const std::string& name) {
                          const auto found = environment.find(name);
                          return found == environment.end() ? std::nullopt
                                                            : std::optional(found->second);
                        }});
  }
  /// As `WHERE: WHAT` lines; empty without errors.
  std::string errors() const {
    const auto config = load();
    return config ? "" : config_error_text(config.error());
  }
  std::map<std::string, std::string> environment{{"HOME", "/nonexistent"}};
  ConfigFlags flags;
};

bool has(const std::string& text, const std::string& part) {
  UNSCOPED_INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("archive settings: both keys or neither", "[config]") {
  World world;
  world.flags["archive_access_key"] = "AKEY";
  CHECK(has(world.errors(), "archive_access_key is set and archive_secret_key is not"));
  world.environment["COFFER_ARCHIVE_SECRET_KEY"] = "secret";
  CHECK(world.errors().empty());
  world.flags.clear();
  CHECK(has(world.errors(), "archive_secret_key is set and archive_access_key is not"));
}

TEST_CASE("archive settings: invalid values are refused, and errors contain no secret",
          "[config]") {
  struct Wrong {
    const char* name;
    const char* value;
    const char* said;
  };
  for (const Wrong& wrong :
       {Wrong{"archive_endpoint", "http://store.example", "--archive-endpoint: "},
        Wrong{"archive_endpoint", "store.example", "--archive-endpoint: "},
        Wrong{"archive_region", "", "--archive-region: "},
        Wrong{"archive_region", "eu/west", "--archive-region: "},
        Wrong{"archive_access_key", "A KEY", "--archive-access-key: it contains a character"}}) {
    INFO(wrong.name << ' ' << wrong.value);
    World world;
    world.flags[wrong.name] = wrong.value;
    CHECK(has(world.errors(), wrong.said));
  }
  for (const char* name : {"COFFER_ARCHIVE_SECRET_KEY", "COFFER_ARCHIVE_SESSION_TOKEN"}) {
    INFO(name);
    World world;
    world.environment[name] = "of two words";
    CHECK(has(world.errors(), std::string(name) + ": it contains a character"));
    CHECK_FALSE(has(world.errors(), "of two words"));
  }
}

TEST_CASE("archive settings: the keys may be in files and in credentials", "[config]") {
  const store::test::TemporaryFolder folder;
  std::ofstream(folder.file("key")) << "of-a-file\n";
  std::ofstream(folder.file("archive_session_token")) << "of-systemd\n";
  World world;
  world.flags = {{"archive_access_key", "AKEY"},
                 {"archive_region", "eu-west-3"},
                 {"archive_endpoint", "https://store.example:9000"},
                 {"archive_secret_key_file", folder.file("key")}};
  world.environment["CREDENTIALS_DIRECTORY"] = folder.path();
  const auto config = world.load();
  INFO(world.errors());
  REQUIRE(config);
  const outbound::ArchiveSettings settings = archive_settings(*config, "s3://archive/ledger");
  CHECK(settings.url == "s3://archive/ledger");
  CHECK(settings.endpoint == "https://store.example:9000");
  CHECK(settings.keys.access_key == "AKEY");
  CHECK(settings.keys.secret_key.reveal() == "of-a-file");
  CHECK(settings.keys.session_token.reveal() == "of-systemd");
  CHECK(settings.keys.region == "eu-west-3");
  CHECK(settings.keys.service == "s3");
  for (const EffectiveSetting& one : effective_settings(*config)) {
    CHECK_FALSE(has(one.value, "of-systemd"));
    CHECK_FALSE(has(one.value, "of-a-file"));
  }
}

}  // namespace archive_settings_test
