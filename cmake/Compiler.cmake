# Language, flags, sanitizers and link mode. Our own targets link `coffer_options`; third-party targets get
# only the flags that the whole binary must share.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Clear CMake's defaults: -g is slow to build, and we do not ship -O3. Each target sets its own levels.
set(CMAKE_C_FLAGS_DEBUG "")
set(CMAKE_CXX_FLAGS_DEBUG "")
set(CMAKE_C_FLAGS_RELEASE "")
set(CMAKE_CXX_FLAGS_RELEASE "")

# ccache keeps the first build of another clone short. It is optional, and does not cache what is compiled with a
# profile.
find_program(COFFER_CCACHE ccache)
mark_as_advanced(COFFER_CCACHE)
if(COFFER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Use the compiler's list of headers. Otherwise ccache preprocesses each new file twice, which takes a
  # tenth of a clean build.
  set(CMAKE_C_COMPILER_LAUNCHER env CCACHE_DEPEND=1 "${COFFER_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_DEPEND=1 "${COFFER_CCACHE}")
endif()

# For the whole binary, including third-party sources. -static-pie requires position-independent code
# everywhere. Every build is hardened, so that the tests run the code that ships.
# __FILE__ is shortened to keep paths of the build machine out of the binary.
coffer_third_party_root(third_party_root)
add_compile_options(-fPIE -fstack-protector-strong -ffunction-sections -fdata-sections
  "-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=" "-fmacro-prefix-map=${third_party_root}/=third_party/")
if(CMAKE_SYSROOT)
  add_compile_options("-fmacro-prefix-map=${CMAKE_SYSROOT}/=/")
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64|i[3-6]86" AND NOT APPLE)
  add_compile_options(-fcf-protection)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  # Signed return addresses and landing pads for indirect jumps; processors without them ignore both.
  add_compile_options(-mbranch-protection=standard)
endif()
if(APPLE)
  # macOS programs are always position independent, with read-only tables.
  add_link_options(-Wl,-dead_strip)
else()
  add_link_options(-Wl,-z,relro,-z,now)
endif()

# Warnings are errors for developers and CI, with the compilers that they use. Every other release warns about other
# things, which must not keep a user from building.
set(werror OFF)
if((COFFER_TESTS OR COFFER_FUZZ OR NOT "$ENV{CI}" STREQUAL "")
    AND "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" MATCHES "^(GNU 12|Clang 14)\\.")
  set(werror ON)
endif()
option(COFFER_WERROR "Treat warnings as errors" ${werror})

add_library(coffer_options INTERFACE)
target_include_directories(coffer_options INTERFACE "${CMAKE_SOURCE_DIR}/src")
target_compile_definitions(coffer_options INTERFACE "COFFER_VERSION=\"${PROJECT_VERSION}\"")
target_compile_options(coffer_options INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual
  $<$<BOOL:${COFFER_WERROR}>:-Werror>
  # These follow inlined code, so an unrelated edit can make GCC report them falsely. They do not stop a build.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-error=maybe-uninitialized;-Wno-error=array-bounds;-Wno-error=stringop-overflow>
  # Designated initialisers omit fields on purpose; omitted fields have their defaults.
  -Wno-missing-field-initializers
  # Collecting garbage takes a tenth of the time of a group of sources, so GCC starts it only above 512 MB.
  $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>
  # GCC 12 falsely reports overlapping copies inside std::string (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)

# -Og compiles in three quarters of the time of -O1, and the tests take a few per cent longer. -g1 gives
# function names and lines in sanitizer reports at a third of the size and time of -g. A target's
# own options come before these and cannot override them, so exceptions are set with a property. Without
# optimisation, GCC would generate a function for each std::move.
set(unoptimised "-O0")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
  list(APPEND unoptimised -ffold-simple-inlines)
endif()
# Padding before functions, jumps and loops is a thirtieth of the code, and brings nothing that can be measured.
set(shipped "-O2")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND shipped -fno-align-functions -fno-align-jumps -fno-align-loops)
endif()
target_compile_options(coffer_options INTERFACE
  "$<IF:$<CONFIG:Debug>,$<IF:$<BOOL:$<TARGET_PROPERTY:COFFER_ONLY_CHECKS>>,${unoptimised};-g0,$<IF:$<BOOL:$<TARGET_PROPERTY:COFFER_SMALL>>,${unoptimised},-Og>;-g1>,$<IF:$<BOOL:$<TARGET_PROPERTY:COFFER_SMALL>>,-Os,${shipped}>>")

if(COFFER_FAULTS)
  target_compile_definitions(coffer_options INTERFACE COFFER_FAULTS=1)
endif()

if(COFFER_SANITIZE STREQUAL "none" OR NOT COFFER_SANITIZE)
  target_compile_options(coffer_options INTERFACE
    "$<$<CONFIG:Release>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
else()
  target_compile_options(coffer_options INTERFACE
    -fsanitize=${COFFER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    # These checks take half the compile time of a file with templates. The address sanitizer also reports
    # null accesses, and neither x86 nor our code has alignment problems.
    -fno-sanitize=null,alignment
    # These take half of the compile time of test sources. The tested code keeps them. The thread sanitizer has
    # to see all code.
    $<$<BOOL:$<TARGET_PROPERTY:COFFER_ONLY_CHECKS>>:-fno-sanitize=address,undefined>
    # In instrumented code, GCC 12 falsely reports uninitialised variables.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  if(COFFER_FUZZ)
    target_compile_options(coffer_options INTERFACE -fsanitize=fuzzer-no-link)
  endif()
  # For every link, so that no test binary can omit it.
  add_link_options(-fsanitize=${COFFER_SANITIZE})
  # Within the executable, the sanitizer finds the data of a thread without a call, which saves a tenth of the
  # time of the tests. Clang links it this way by default.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND COFFER_SANITIZE MATCHES "address")
    add_link_options(-static-libasan)
  endif()
  # mold links a test binary several times faster. Released binaries are linked by the system's linker.
  find_program(COFFER_MOLD mold)
  mark_as_advanced(COFFER_MOLD)
  if(COFFER_MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_link_options(-fuse-ld=mold)
  endif()
endif()

if(COFFER_STATIC AND APPLE)
  message(FATAL_ERROR "COFFER_STATIC is not supported on macOS, which has no static programs. Turn it off.")
elseif(COFFER_STATIC)
  # With CCACHE_BASEDIR, the compiler sees relative paths. Map these as well, to keep the build reproducible;
  # the last match applies. Third-party sources have the same flags in every preset, so they are left out.
  cmake_path(RELATIVE_PATH CMAKE_SOURCE_DIR BASE_DIRECTORY "${CMAKE_BINARY_DIR}" OUTPUT_VARIABLE up)
  cmake_path(RELATIVE_PATH third_party_root BASE_DIRECTORY "${CMAKE_BINARY_DIR}" OUTPUT_VARIABLE aside)
  target_compile_options(coffer_options INTERFACE "-fmacro-prefix-map=${CMAKE_BINARY_DIR}/="
    "-fmacro-prefix-map=${up}/=" "-fmacro-prefix-map=${aside}/=third_party/")
  add_link_options(-static-pie -Wl,--gc-sections)
  include(CheckLinkerFlag)
  # Packing the table of relocations makes the binary 600 KB smaller. A linker that does not know the option
  # only warns, hence --fatal-warnings in the check.
  check_linker_flag(CXX "-Wl,--fatal-warnings,-z,pack-relative-relocs" COFFER_LD_PACK_RELOCS)
  if(COFFER_LD_PACK_RELOCS)
    add_link_options(-Wl,-z,pack-relative-relocs)
  endif()
  # The C library warns that getaddrinfo and similar functions would load NSS modules at run time. They do not:
  # main() limits NSS to "files dns", which are built in, and c-ares resolves names (verified by tests/static).
  # The warnings would hide others; binutils 2.40 can suppress them.
  check_linker_flag(CXX "-Wl,--no-warnings" COFFER_LD_NO_WARNINGS)
  if(COFFER_LD_NO_WARNINGS)
    add_link_options(-Wl,--no-warnings)
  endif()
endif()
