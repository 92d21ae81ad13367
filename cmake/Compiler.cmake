# Language, flags, sanitizers and link mode. Our own targets take them from `coffer_options`; what is
# other people's gets only what has to be the same for the whole binary.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# CMake's defaults (-g, -O3) are neither quick to build nor what we ship. Levels are set per target, so
# that third-party sources are compiled alike for every preset and ccache compiles them once.
set(CMAKE_C_FLAGS_DEBUG "")
set(CMAKE_CXX_FLAGS_DEBUG "")
set(CMAKE_C_FLAGS_RELEASE "")
set(CMAKE_CXX_FLAGS_RELEASE "")

# With two cores and four build folders that share most of their inputs, this is what keeps a second
# build short. Where it is missing nothing changes.
find_program(COFFER_CCACHE ccache)
mark_as_advanced(COFFER_CCACHE)
if(COFFER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # By the compiler's own list of headers: without it each file that is new is preprocessed twice, which is
  # a tenth of a build from nothing.
  set(CMAKE_C_COMPILER_LAUNCHER env CCACHE_DEPEND=1 "${COFFER_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_DEPEND=1 "${COFFER_CCACHE}")
endif()

# For the whole binary, third-party sources included. -static-pie wants position independent code
# everywhere. The hardening is in every build: tests should meet the code that ships.
# __FILE__ is shortened so that no path of the machine that built it ends up in the binary.
coffer_third_party_root(third_party_root)
add_compile_options(-fPIE -fstack-protector-strong -ffunction-sections -fdata-sections
  "-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=" "-fmacro-prefix-map=${third_party_root}/=third_party/")
if(CMAKE_SYSROOT)
  add_compile_options("-fmacro-prefix-map=${CMAKE_SYSROOT}/=/")
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64|i[3-6]86" AND NOT APPLE)
  add_compile_options(-fcf-protection)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  # Signed return addresses, landing pads for indirect jumps; nothing on processors without them.
  add_compile_options(-mbranch-protection=standard)
endif()
if(APPLE)
  # Its programs are position independent and their tables read-only in any case.
  add_link_options(-Wl,-dead_strip)
else()
  add_link_options(-Wl,-z,relro,-z,now)
endif()

add_library(coffer_options INTERFACE)
target_include_directories(coffer_options INTERFACE "${CMAKE_SOURCE_DIR}/src")
target_compile_definitions(coffer_options INTERFACE "COFFER_VERSION=\"${PROJECT_VERSION}\"")
target_compile_options(coffer_options INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual
  $<$<BOOL:${COFFER_WERROR}>:-Werror>
  # Designated initialisers leave fields out on purpose; the rest has its default.
  -Wno-missing-field-initializers
  # GCC 12 reports overlapping copies inside std::string that are not there (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)

# -g1 gives function names and lines in sanitizer reports at a third of the size and time of -g. A target's
# own options come before these, so what is compiled as it stands says so by a property.
target_compile_options(coffer_options INTERFACE
  "$<IF:$<CONFIG:Debug>,$<IF:$<BOOL:$<TARGET_PROPERTY:COFFER_ONLY_CHECKS>>,-O0;-g0,-O1;-g1>,$<IF:$<BOOL:$<TARGET_PROPERTY:COFFER_SMALL>>,-Os,-O2>>")

if(COFFER_FAULTS)
  target_compile_definitions(coffer_options INTERFACE COFFER_FAULTS=1)
endif()

if(COFFER_SANITIZE STREQUAL "none" OR NOT COFFER_SANITIZE)
  target_compile_options(coffer_options INTERFACE
    "$<$<CONFIG:Release>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
else()
  target_compile_options(coffer_options INTERFACE
    -fsanitize=${COFFER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    # Half the compile time of a file that uses templates, for findings that the address sanitizer
    # makes anyway (null) or that x86 and our code do not have (alignment).
    -fno-sanitize=null,alignment
    # A quarter of what test sources take; what they test is watched all the same.
    $<$<BOOL:$<TARGET_PROPERTY:COFFER_ONLY_CHECKS>>:-fno-sanitize=undefined>
    # Instrumented code makes GCC 12 see uninitialised variables that are not.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  if(COFFER_FUZZ)
    target_compile_options(coffer_options INTERFACE -fsanitize=fuzzer-no-link)
  endif()
  # For every link, so that a test binary cannot forget it.
  add_link_options(-fsanitize=${COFFER_SANITIZE})
endif()

if(COFFER_STATIC AND APPLE)
  message(FATAL_ERROR "macOS has no static programs: leave COFFER_STATIC off")
elseif(COFFER_STATIC)
  # With CCACHE_BASEDIR the compiler is given relative paths: what ships is to be the same bytes then. The
  # last that fits counts. Not for third-party sources, which are compiled alike for every preset.
  cmake_path(RELATIVE_PATH CMAKE_SOURCE_DIR BASE_DIRECTORY "${CMAKE_BINARY_DIR}" OUTPUT_VARIABLE up)
  cmake_path(RELATIVE_PATH third_party_root BASE_DIRECTORY "${CMAKE_BINARY_DIR}" OUTPUT_VARIABLE aside)
  target_compile_options(coffer_options INTERFACE "-fmacro-prefix-map=${CMAKE_BINARY_DIR}/="
    "-fmacro-prefix-map=${up}/=" "-fmacro-prefix-map=${aside}/=third_party/")
  add_link_options(-static-pie -Wl,--gc-sections)
  include(CheckLinkerFlag)
  # A position independent binary carries a table of its own pointers; packed it is 600 KB smaller. Where the
  # linker cannot, it only warns.
  check_linker_flag(CXX "-Wl,--fatal-warnings,-z,pack-relative-relocs" COFFER_LD_PACK_RELOCS)
  if(COFFER_LD_PACK_RELOCS)
    add_link_options(-Wl,-z,pack-relative-relocs)
  endif()
  # The C library warns that getaddrinfo and friends would load NSS modules of the host at run time.
  # main() limits NSS to "files dns", which are built in, and names go through c-ares:
  # tests/static proves both. The warnings would only hide others; binutils 2.40 can leave them out.
  check_linker_flag(CXX "-Wl,--no-warnings" COFFER_LD_NO_WARNINGS)
  if(COFFER_LD_NO_WARNINGS)
    add_link_options(-Wl,--no-warnings)
  endif()
endif()
