// The settings of the archive's store: invalid values, and secrets from each of their sources.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>

#include "config/config.h"
#include "config/config_options.h"
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

TEST_CASE("archive settings: a folder that is no place for an archive is refused", "[config]") {
  const store::test::TemporaryFolder folder;
  std::ofstream(folder.file("file")) << "x";
  struct Place {
    std::string path;
    const char* said;
  };
  for (const Place& place :
       {Place{folder.path(), "is the folder of the database"},
        Place{folder.path() + "/./", "is the folder of the database"},
        Place{folder.file("file"), "is not a folder"}, Place{folder.file("archive"), ""},
        Place{"/nonexistent/archive", ""}}) {
    INFO(place.path);
    World world;
    world.flags = {{"db", folder.file("coffer.db")}, {"archive", "file://" + place.path}};
    const std::string said = world.errors();
    CHECK(said.empty() == (*place.said == '\0'));
    CHECK(has(said, place.said));
    if (!said.empty()) CHECK(said.starts_with("coffer: --archive: "));
  }
}

TEST_CASE("settings: a file with a secret that does not exist is named, and so is its setting",
          "[config]") {
  int secrets = 0;
  for (const ConfigOption& option : config_options()) {
    const ConfigOption* file = find_config_option(std::string(option.name) + "_file");
    if (!option.secret() || option.name == "master_key") continue;
    REQUIRE(file != nullptr);
    INFO(file->name);
    World world;
    world.flags[std::string(file->name)] = "/nonexistent/secret";
    // The setting that belongs to it does not say that the secret is not set.
    if (option.name == "archive_secret_key") world.flags["archive_access_key"] = "AKEY";
    CHECK(world.errors() == "coffer: " + file->flag() +
                                ": /nonexistent/secret: No such file or directory. Set a file that "
                                "exists.\n");
    ++secrets;
  }
  CHECK(secrets >= 6);
}

TEST_CASE("settings: every command on a file may name the archive", "[config]") {
  CHECK(find_config_option("archive")->scope == ConfigScope::file);
}

}  // namespace archive_settings_test
