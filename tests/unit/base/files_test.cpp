#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>

#include "base/files/descriptor.h"
#include "base/files/folders.h"
#include "base/files/ownership.h"
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

TEST_CASE("network and user-space file systems are recognised by their magic number", "[base]") {
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

TEST_CASE("a file may hold a secret if only its owner, or a group on purpose, has access",
          "[base]") {
  std::string folder = (std::filesystem::temp_directory_path() / "coffer-files-XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  const std::string path = folder + "/file";
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  REQUIRE(file.is_open());
  const auto judged = [&] {
    struct stat status {};
    REQUIRE(::fstat(file.get(), &status) == 0);
    return judge_secret_file(status, path);
  };
  const auto with = [&](mode_t mode) {
    REQUIRE(::fchmod(file.get(), mode) == 0);
    const SecretFile found = judged();
    CHECK((found.fault.empty() || found.warning.empty()));
    return found.fault.empty() ? (found.warning.empty() ? "good" : "warning") : found.fault;
  };
  const std::string others = "it is open to every user";
  const std::string group = "it is open to the users of its group";
  CHECK(with(0600) == "good");
  CHECK(with(0400) == "good");
  for (const mode_t mode : {0604, 0602, 0601, 0644, 0666}) CHECK(with(mode) == others);
  for (const mode_t mode : {0640, 0620, 0610, 0660}) CHECK(with(mode) == group);
  // A volume with fsGroup: the platform opens files of the first start to its group.
  REQUIRE(::chmod(folder.c_str(), 02770) == 0);
  CHECK(with(0660) == "warning");
  CHECK(with(0640) == "warning");
  CHECK(with(0664) == others);
  REQUIRE(::chmod(folder.c_str(), 0700) == 0);
  if (::geteuid() == 0) {
    constexpr uid_t kOther = 12'345;
    REQUIRE(::fchown(file.get(), 0, kOther) == 0);
    CHECK(with(0640) == "good");  // root gave it to this group to read
    CHECK(with(0660) == group);
    REQUIRE(::chmod(folder.c_str(), 02770) == 0);
    CHECK(with(0660) == group);  // not a group of this process
    REQUIRE(::chmod(folder.c_str(), 0700) == 0);
    REQUIRE(::fchown(file.get(), kOther, kOther) == 0);
    CHECK(with(0600) == "its owner is another user");
    // Root works in the folder of the service, whose files belong to the user of the service.
    REQUIRE(::chown(folder.c_str(), kOther, kOther) == 0);
    CHECK(with(0600) == "good");
    REQUIRE(::chmod(folder.c_str(), 0777) == 0);
    CHECK(with(0600) == "its owner is another user");
  }
  struct stat device {};
  REQUIRE(::stat("/dev/null", &device) == 0);
  CHECK(judge_secret_file(device, "/dev/null").fault == "it is not a regular file");
  std::filesystem::remove_all(folder);
}

TEST_CASE("white space around text", "[base]") {
  CHECK(trimmed(" \t a b\r\n") == "a b");
  CHECK(trimmed(" \r\n").empty());
  CHECK(trimmed("").empty());
  CHECK(trimmed(" a\n", " ") == "a\n");
}
