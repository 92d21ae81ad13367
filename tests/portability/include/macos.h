// What macOS's system headers have and Linux's do not, as far as our macOS parts use it: included
// before each of them, so that they compile and run here (macos_parts_test). stand_ins.cpp has the
// bodies.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>

#define st_ctimespec st_ctim

// As its headers number them; Linux knows neither and refuses, as some of its file systems do.
#define F_FULLFSYNC 51
#define SO_NOSIGPIPE 0x1022

#define RENAME_EXCL 0x00000004U

extern "C" {
int renamex_np(const char* from, const char* to, unsigned flags);
int getpeereid(int fd, uid_t* user, gid_t* group);
}
