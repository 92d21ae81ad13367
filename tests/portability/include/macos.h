// The part of macOS's system headers that coffer's macOS code uses and Linux lacks. Included before
// each macOS source, so that it compiles and runs on Linux (macos_parts_test). stand_ins.cpp has
// the implementations.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>

#define st_ctimespec st_ctim

// With macOS's numbers, which Linux rejects as unknown, like some macOS file systems.
#define F_FULLFSYNC 51
#define SO_NOSIGPIPE 0x1022

#define RENAME_EXCL 0x00000004U

extern "C" {
int renamex_np(const char* from, const char* to, unsigned flags);
int getpeereid(int fd, uid_t* user, gid_t* group);
}
