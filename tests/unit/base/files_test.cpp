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

TEST_CASE("a folder is synchronised, and any other path is an error", "[base]") {
  std::string folder = (std::filesystem::temp_directory_path() / "coffer-files-XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  CHECK(sync_directory(folder));
  CHECK(network_filesystem(folder).empty());
  std::filesystem::remove(folder);
  CHECK_FALSE(sync_directory(folder));
  CHECK(errno == ENOENT);
  CHECK(network_filesystem(folder).empty());
}

TEST_CASE("network and user-space file systems are known by their magic", "[base]") {
  for (const std::uint64_t magic : {0x6969ULL, 0xFF534D42ULL, 0xFE534D42ULL, 0x517BULL,
                                    0x65735546ULL, 0x01021997ULL, 0x00C36400ULL, 0x5346414FULL}) {
    REQUIRE(network_filesystem_name(magic) != nullptr);
  }
  CHECK(std::string(network_filesystem_name(0x6969)) == "NFS");
  // ext4, xfs, btrfs, zfs, tmpfs, overlayfs, f2fs
  for (const std::uint64_t magic : {0xEF53ULL, 0x58465342ULL, 0x9123683EULL, 0x2FC12FC1ULL,
                                    0x01021994ULL, 0x794C7630ULL, 0xF2F52010ULL}) {
    CHECK(network_filesystem_name(magic) == nullptr);
  }
}

TEST_CASE("white space around text", "[base]") {
  CHECK(trimmed(" \t a b\r\n") == "a b");
  CHECK(trimmed(" \r\n").empty());
  CHECK(trimmed("").empty());
  CHECK(trimmed(" a\n", " ") == "a\n");
}
