# Toolchain of preset release-aarch64: Debian's cross compiler, with the static libraries of the arm64 packages
# that packaging/sysroot.sh unpacks (./dev build release-aarch64).

# This compiler's stack protector misses overflows of variable-length arrays (CVE-2023-4039, fixed only in
# Debian's native compiler). -Wpedantic keeps such arrays out of our sources.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

# Same path as in packaging/sysroot.sh. Its real path, set below, changes with the packages, so that newer
# packages rebuild everything.
if(NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
  set(sysroot "$ENV{XDG_CACHE_HOME}/coffer/sysroot/arm64")
else()
  set(sysroot "$ENV{HOME}/.cache/coffer/sysroot/arm64")
endif()
if(NOT EXISTS "${sysroot}/packages")
  message(FATAL_ERROR "${sysroot} has no arm64 packages. Run ./dev build release-aarch64 to install them.")
endif()
file(REAL_PATH "${sysroot}" CMAKE_SYSROOT)

# The cross compiler's own C library gets no security updates, so search that of the arm64 packages first.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-B${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/")

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
