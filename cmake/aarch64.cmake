# Toolchain of preset release-aarch64: Debian's cross compiler, with the static libraries of Debian's arm64
# packages where packaging/sysroot.sh unpacked them (./dev build release-aarch64).

# The stack protector of this compiler does not see overflows of arrays of variable length (CVE-2023-4039, mended
# only in Debian's native one). -Wpedantic keeps them out of our sources.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

# The same place as in packaging/sysroot.sh. By its real name: with newer packages it is another folder, and
# all that was made with the older ones is made again.
if(NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
  set(sysroot "$ENV{XDG_CACHE_HOME}/coffer/sysroot/arm64")
else()
  set(sysroot "$ENV{HOME}/.cache/coffer/sysroot/arm64")
endif()
if(NOT EXISTS "${sysroot}/packages")
  message(FATAL_ERROR "There are no arm64 packages in ${sysroot}: run ./dev build release-aarch64")
endif()
file(REAL_PATH "${sysroot}" CMAKE_SYSROOT)

# The cross compiler brings a C library of its own, which sees no security update; the package's comes first.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-B${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/")

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
