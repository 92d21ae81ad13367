#include <stdlib.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>

#include "base/files/folders.h"
#include "base/text/trimmed.h"

using namespace coffer;

TEST_CASE("the folder of a path", "[base]") {
  CHECK(directory_of("/a/b.db") == "/a");
  CHECK(directory_of("a/b.db") == "a");
  CHECK(directory_of("b.db") == ".");
  CHECK(directory_of("/b.db") == "/");
}

TEST_CASE("a folder is synchronised, and what is none says why", "[base]") {
  std::string folder = (std::filesystem::temp_directory_path() / "coffer-files-XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  CHECK(sync_directory(folder));
  CHECK(filesystem_magic(folder).value_or(1) != 0);
  std::filesystem::remove(folder);
  CHECK_FALSE(sync_directory(folder));
  CHECK(errno == ENOENT);
  CHECK_FALSE(filesystem_magic(folder).has_value());
}

TEST_CASE("white space around text", "[base]") {
  CHECK(trimmed(" \t a b\r\n") == "a b");
  CHECK(trimmed(" \r\n").empty());
  CHECK(trimmed("").empty());
  CHECK(trimmed(" a\n", " ") == "a\n");
}
