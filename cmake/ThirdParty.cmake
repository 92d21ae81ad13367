# Turns third_party/manifest.cmake into targets: tp::httplib tp::sqlite tp::sqlitecpp tp::zstd tp::libpq
# tp::openssl tp::cares tp::re2 tp::pugixml tp::utf8proc tp::zlib tp::json tp::spdlog tp::cli11 tp::tomlplusplus tp::catch2, and the variable
# COFFER_ISO_CODES_DIR.
#
# A pinned dependency is fetched only if COFFER_THIRD_PARTY_DIR does not hold an unpacked copy. A second
# build, another build folder, or a machine with a copy of that folder needs no network.

# SHA-256 of the list "<sha256 of file>  <path>\n" over all files below `dir`, in byte order: equal to
# `find . -type f | sort | xargs sha256sum | sha256sum` without the leading ./ of each path.
function(coffer_content_digest dir out)
  file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE "${dir}" "${dir}/*")
  list(SORT files COMPARE STRING)
  set(listing "")
  foreach(file IN LISTS files)
    file(SHA256 "${dir}/${file}" hash)
    string(APPEND listing "${hash}  ${file}\n")
  endforeach()
  string(SHA256 digest "${listing}")
  set(${out} "${digest}" PARENT_SCOPE)
endfunction()

# --- Fetching -----------------------------------------------------------------------------------------
# Each function stores the file at `archive` and sets `out` to "", or to the error.

function(coffer_fetch_upstream url archive out)
  # If one project site is unreachable, usually all are: do not wait for each.
  get_property(unreachable GLOBAL PROPERTY COFFER_UPSTREAM_UNREACHABLE)
  if(unreachable)
    set(${out} "not tried, because an earlier upstream was unreachable" PARENT_SCOPE)
    return()
  endif()
  # Not file(DOWNLOAD): it has no connection timeout, so each address would take minutes where a firewall
  # drops packets.
  find_program(COFFER_CURL curl)
  mark_as_advanced(COFFER_CURL)
  if(NOT COFFER_CURL)
    set(${out} "curl is not installed" PARENT_SCOPE)
    return()
  endif()
  execute_process(
    COMMAND "${COFFER_CURL}" --fail --silent --show-error --location --proto =https
            --connect-timeout 5 --speed-limit 1000 --speed-time 10 --max-time 300
            --output "${archive}" "${url}"
    RESULT_VARIABLE code OUTPUT_QUIET ERROR_VARIABLE reason)
  if(code EQUAL 0)
    set(${out} "" PARENT_SCOPE)
    return()
  endif()
  file(REMOVE "${archive}")
  set(${out} "${reason}" PARENT_SCOPE)
  # 5 and 6: proxy or host name not found; 7: no connection; 28: timed out.
  if(code MATCHES "^(5|6|7|28)$")
    set_property(GLOBAL PROPERTY COFFER_UPSTREAM_UNREACHABLE TRUE)
  endif()
endfunction()

# Uses apt's own downloader, with its mirrors, proxies and credentials. It takes a path, because the pool
# also keeps source archives that the indexes of this release do not list.
function(coffer_fetch_debian pool_path archive out)
  find_program(COFFER_APT_GET apt-get)
  find_program(COFFER_APT_HELPER apt-helper PATHS /usr/lib/apt)
  mark_as_advanced(COFFER_APT_GET COFFER_APT_HELPER)
  if(NOT COFFER_APT_GET OR NOT COFFER_APT_HELPER)
    set(${out} "apt is not installed" PARENT_SCOPE)
    return()
  endif()
  # List what an update would fetch. This finds the mirrors even where the package lists were removed.
  execute_process(COMMAND "${COFFER_APT_GET}" --print-uris update OUTPUT_VARIABLE uris ERROR_QUIET)
  string(REGEX MATCHALL "'[^'\n]+/dists/[^'\n]*/InRelease'" sites "${uris}")
  list(TRANSFORM sites REPLACE "^'(.*)/dists/.*$" "\\1")
  list(REMOVE_DUPLICATES sites)
  set(reason "apt has no mirror configured")
  foreach(site IN LISTS sites)
    execute_process(
      COMMAND "${COFFER_APT_HELPER}" -o Acquire::Retries=1 -o Acquire::http::Timeout=20
              download-file "${site}/${pool_path}" "${archive}"
      RESULT_VARIABLE code OUTPUT_QUIET ERROR_VARIABLE reason TIMEOUT 180)
    if(code EQUAL 0 AND EXISTS "${archive}")
      set(${out} "" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${out} "${reason}" PARENT_SCOPE)
endfunction()

# Fetches the package without running its scripts.
function(coffer_fetch_npm package archive out)
  find_program(COFFER_NPM npm)
  mark_as_advanced(COFFER_NPM)
  if(NOT COFFER_NPM)
    set(${out} "npm is not installed" PARENT_SCOPE)
    return()
  endif()
  cmake_path(GET archive PARENT_PATH folder)
  execute_process(
    COMMAND "${COFFER_NPM}" pack --loglevel=error --ignore-scripts
            --pack-destination "${folder}" "${package}"
    WORKING_DIRECTORY "${folder}"
    RESULT_VARIABLE code OUTPUT_QUIET ERROR_VARIABLE reason TIMEOUT 180)
  file(GLOB packed "${folder}/*.tgz")
  list(LENGTH packed count)
  if(code EQUAL 0 AND count EQUAL 1)
    file(RENAME "${packed}" "${archive}")
    set(${out} "" PARENT_SCOPE)
  else()
    set(${out} "npm pack: ${code} ${reason}" PARENT_SCOPE)
  endif()
endfunction()

# Unpacks a fetched archive, copies the paths of `keep` to `kept` and applies our patches there. Sets `out`
# to FALSE if a path is missing or a patch does not apply.
function(coffer_unpack archive keep patches kept out)
  set(${out} FALSE PARENT_SCOPE)
  set(tree "${kept}.tree")
  file(REMOVE_RECURSE "${tree}" "${kept}")
  file(MAKE_DIRECTORY "${tree}" "${kept}")
  execute_process(COMMAND "${CMAKE_COMMAND}" -E tar xf "${archive}"
    WORKING_DIRECTORY "${tree}" RESULT_VARIABLE code OUTPUT_QUIET ERROR_QUIET)
  # A source archive has one top folder, with any name.
  file(GLOB top "${tree}/*")
  list(LENGTH top count)
  if(NOT code EQUAL 0 OR NOT count EQUAL 1)
    return()
  endif()
  foreach(path IN LISTS keep)
    if(NOT EXISTS "${top}/${path}")
      return()
    endif()
    cmake_path(GET path PARENT_PATH parent)
    file(COPY "${top}/${path}" DESTINATION "${kept}/${parent}")
  endforeach()
  foreach(patch IN LISTS patches)
    # Only options that GNU's and macOS's patch share.
    execute_process(
      COMMAND patch -p1 -t -N -F0 -i "${CMAKE_SOURCE_DIR}/third_party/patches/${patch}"
      WORKING_DIRECTORY "${kept}" RESULT_VARIABLE code OUTPUT_QUIET ERROR_QUIET)
    if(NOT code EQUAL 0)
      return()
    endif()
  endforeach()
  # Both may leave a backup of a patched file.
  file(GLOB_RECURSE copies "${kept}/*.orig")
  if(copies)
    file(REMOVE ${copies})
  endif()
  set(${out} TRUE PARENT_SCOPE)
endfunction()

# coffer_archive(<name> [TESTS] VERSION .. LICENCE .. HOMEPAGE .. WHY .. KEEP <paths> [PATCHES <files>]
#                CONTENT <sha256> [UPSTREAM <url> <sha256>] [DEBIAN <pool path> <sha256>] [NPM <package> <sha256>])
# Sets <name>_SOURCE_DIR and <name>_VERSION for the caller.
function(coffer_archive name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TESTS" "VERSION;LICENCE;HOMEPAGE;WHY;CONTENT"
    "KEEP;PATCHES;UPSTREAM;DEBIAN;NPM")
  if(arg_TESTS AND NOT COFFER_TESTS)
    return()
  endif()
  coffer_third_party_root(root)
  string(SUBSTRING "${arg_CONTENT}" 0 8 short)
  set(home "${root}/${name}-${arg_VERSION}-${short}")
  set(${name}_SOURCE_DIR "${home}" PARENT_SCOPE)
  set(${name}_VERSION "${arg_VERSION}" PARENT_SCOPE)

  if(EXISTS "${home}")
    coffer_content_digest("${home}" digest)
    if(digest STREQUAL arg_CONTENT)
      return()
    endif()
    # Do not replace it silently: the developer should know that a source file was changed.
    message(FATAL_ERROR
      "${name} ${arg_VERSION}: the unpacked copy in ${home} was changed.\n"
      "  expected content digest ${arg_CONTENT}\n  found                   ${digest}\n"
      "To fetch it again, delete that folder and configure again.")
  endif()

  # Builds may run in parallel, so work in a temporary folder and then rename it, which is atomic.
  string(RANDOM LENGTH 8 salt)
  set(work "${root}/.fetch-${name}-${salt}")
  file(MAKE_DIRECTORY "${work}")
  set(tried "")
  foreach(kind IN ITEMS UPSTREAM DEBIAN NPM)
    if(NOT DEFINED arg_${kind})
      continue()
    endif()
    list(GET arg_${kind} 0 address)
    list(GET arg_${kind} 1 expected)
    set(archive "${work}/archive")
    string(TOLOWER "${kind}" kind_name)
    cmake_language(CALL "coffer_fetch_${kind_name}" "${address}" "${archive}" trouble)
    if(NOT trouble STREQUAL "")
      string(APPEND tried "\n  ${address}: ${trouble}")
      continue()
    endif()
    file(SHA256 "${archive}" found)
    if(NOT expected STREQUAL "-" AND NOT expected STREQUAL found)
      string(APPEND tried "\n  ${address}: SHA-256 is ${found}, expected ${expected}")
      file(REMOVE "${archive}")
      continue()
    endif()
    coffer_unpack("${archive}" "${arg_KEEP}" "${arg_PATCHES}" "${work}/kept" ok)
    file(REMOVE "${archive}")
    if(NOT ok)
      string(APPEND tried "\n  ${address}: cannot be unpacked, lacks one of ${arg_KEEP}, or a patch does not apply")
      continue()
    endif()
    coffer_content_digest("${work}/kept" digest)
    if(NOT digest STREQUAL arg_CONTENT)
      string(APPEND tried "\n  ${address}: content digest is ${digest}, expected ${arg_CONTENT}")
      continue()
    endif()
    # If a parallel build created the folder first, use its copy.
    file(RENAME "${work}/kept" "${home}" RESULT renamed)
    file(REMOVE_RECURSE "${work}")
    if(EXISTS "${home}")
      message(NOTICE "Fetched ${name} ${arg_VERSION} (${kind_name})")
      return()
    endif()
    message(FATAL_ERROR "${name}: cannot write ${home}: ${renamed}")
  endforeach()
  file(REMOVE_RECURSE "${work}")
  message(FATAL_ERROR
    "${name} ${arg_VERSION} could not be fetched and verified:${tried}\n"
    "Without a network, copy ${root} from a machine that has built coffer, or set COFFER_THIRD_PARTY_DIR.")
endfunction()

# Does nothing here. The manifest's entry informs readers and ./dev setup, and the targets below find the
# installed packages.
function(coffer_system name)
endfunction()

include(third_party/manifest.cmake)

# --- Targets ------------------------------------------------------------------------------------------
# All include folders are SYSTEM, so that our -Werror does not apply to third-party headers.

find_package(PkgConfig QUIET)

# coffer_static_library(<target> <library> <header> [<pkg-config module>]): with a module, also links what the
# distribution's build of the static library needs, for example Abseil for a newer RE2.
function(coffer_static_library target library header)
  # On macOS, link the shared library, which Homebrew keeps up to date. SQLiteCpp's would bring its own SQLite.
  set(names lib${library}.a)
  if(APPLE AND NOT library STREQUAL SQLiteCpp)
    set(names ${library})
  endif()
  find_library(COFFER_LIB_${library} NAMES ${names} NO_CACHE REQUIRED)
  find_path(COFFER_INC_${library} NAMES ${header} NO_CACHE REQUIRED)
  add_library(${target} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION "${COFFER_LIB_${library}}"
    INTERFACE_INCLUDE_DIRECTORIES "${COFFER_INC_${library}}")
  if(APPLE OR NOT PKG_CONFIG_FOUND OR NOT ARGN)
    return()
  endif()
  pkg_check_modules(COFFER_PC_${library} QUIET ${ARGN})
  foreach(needed IN LISTS COFFER_PC_${library}_STATIC_LIBRARIES)
    find_library(COFFER_LIB_${needed} NAMES lib${needed}.a NO_CACHE)
    if(COFFER_LIB_${needed} AND NOT needed STREQUAL library)
      target_link_libraries(${target} INTERFACE "${COFFER_LIB_${needed}}")
    endif()
  endforeach()
endfunction()

function(coffer_header_library target header)
  find_path(COFFER_INC_${target} NAMES ${header} NO_CACHE REQUIRED)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  # /usr/include is always searched; adding it again would break #include_next in libstdc++.
  if(NOT COFFER_INC_${target} STREQUAL "${CMAKE_SYSROOT}/usr/include")
    set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${COFFER_INC_${target}}")
  endif()
endfunction()

find_package(Threads REQUIRED)

# Every build links the same libraries, so that the tests exercise what ships.
coffer_static_library(tp::crypto crypto openssl/crypto.h libcrypto)
coffer_static_library(tp::openssl ssl openssl/ssl.h libssl)
target_link_libraries(tp::openssl INTERFACE tp::crypto Threads::Threads)

coffer_static_library(tp::cares cares ares.h libcares)
target_compile_definitions(tp::cares INTERFACE CARES_STATICLIB)

coffer_static_library(tp::re2 re2 re2/re2.h re2)
target_link_libraries(tp::re2 INTERFACE Threads::Threads)

coffer_static_library(tp::pugixml pugixml pugixml.hpp)

coffer_static_library(tp::zlib z zlib.h zlib)

coffer_static_library(tp::utf8proc utf8proc utf8proc.h libutf8proc)
if(NOT APPLE)
  target_compile_definitions(tp::utf8proc INTERFACE UTF8PROC_STATIC)
endif()

coffer_header_library(tp::json nlohmann/json.hpp)
coffer_header_library(tp::cli11 CLI/CLI.hpp)
coffer_header_library(tp::tomlplusplus toml++/toml.h)

# Debian's packages also contain compiled, shared parts of spdlog and fmt; header-only mode keeps them out
# of the link.
coffer_header_library(tp::spdlog spdlog/spdlog.h)
target_compile_definitions(tp::spdlog INTERFACE SPDLOG_FMT_EXTERNAL FMT_HEADER_ONLY)

# Catch2 v2 is one header; tests/CMakeLists.txt builds its main once.
if(COFFER_TESTS)
  add_library(tp_catch2 INTERFACE)
  add_library(tp::catch2 ALIAS tp_catch2)
  target_include_directories(tp_catch2 SYSTEM INTERFACE "${catch2_SOURCE_DIR}/single_include")
endif()

# Without zlib, brotli or zstd: a compressed request body would bypass every size limit. Without the
# non-blocking getaddrinfo, which has a use-after-free in its timeout path: c-ares resolves names. Without
# "Expect: 100-continue", which the client would send with every body over 1 KiB and then wait a second.
add_library(tp_httplib INTERFACE)
add_library(tp::httplib ALIAS tp_httplib)
target_include_directories(tp_httplib SYSTEM INTERFACE "${httplib_SOURCE_DIR}")
# The limits of a response's header (http/client.h); the gate limits that of a request to less.
target_compile_definitions(tp_httplib INTERFACE CPPHTTPLIB_OPENSSL_SUPPORT
  CPPHTTPLIB_HEADER_MAX_LENGTH=262144 CPPHTTPLIB_MAX_LINE_LENGTH=262144 CPPHTTPLIB_HEADER_MAX_COUNT=1000
  CPPHTTPLIB_INTERIM_RESPONSES_MAX_COUNT=64 CPPHTTPLIB_EXPECT_100_THRESHOLD=0)
if(APPLE)
  # Root certificates come from the CA bundle, so the keychain frameworks are not needed.
  target_compile_definitions(tp_httplib INTERFACE CPPHTTPLIB_DISABLE_MACOSX_AUTOMATIC_ROOT_CERTIFICATES)
endif()
target_link_libraries(tp_httplib INTERFACE tp::openssl)

# One SQLite per process, with our flags. Always -O2 and without sanitizers: it is the slowest source to
# compile, and we do not debug it.
# Through a source in the build folder, so that the name of the object file, and with it of its profile, is the same
# on every machine.
# SQLiteCpp's library also calls two functions that we omit; coffer does not use the methods that call them.
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/generated/sqlite.c" CONTENT [[#include "sqlite3.c"
int sqlite3_load_extension(sqlite3 *db, const char *file, const char *entry, char **error) {
  return SQLITE_ERROR;
}
const char *sqlite3_column_origin_name(sqlite3_stmt *statement, int column) { return 0; }
]])
add_library(tp_sqlite STATIC "${CMAKE_BINARY_DIR}/generated/sqlite.c")
coffer_profiled(tp_sqlite)
add_library(tp::sqlite ALIAS tp_sqlite)
target_include_directories(tp_sqlite SYSTEM PUBLIC "${sqlite_SOURCE_DIR}/deps/sqlite3")
target_compile_options(tp_sqlite PRIVATE -O2 -g0 -w)
target_link_libraries(tp_sqlite PUBLIC Threads::Threads)
target_compile_definitions(tp_sqlite PRIVATE
  SQLITE_THREADSAFE=2                # one thread at a time per connection, ensured by the pool and the queue
  SQLITE_DEFAULT_WAL_SYNCHRONOUS=2   # FULL, which a WAL commit needs to survive a power cut
  SQLITE_DEFAULT_FOREIGN_KEYS=1
  SQLITE_DEFAULT_MEMSTATUS=0         # the statistics cost a global mutex per allocation
  SQLITE_DQS=0                       # "x" is always an identifier, never a string
  SQLITE_TRUSTED_SCHEMA=0
  SQLITE_LIKE_DOESNT_MATCH_BLOBS
  SQLITE_USE_URI=0
  SQLITE_OMIT_LOAD_EXTENSION         # also keeps dlopen out of a static binary
  SQLITE_OMIT_SHARED_CACHE
  SQLITE_ENABLE_DBPAGE_VTAB          # a follower writes the pages of the leader
  # The amalgamation was generated with these three, so it must be compiled with them.
  SQLITE_OMIT_DEPRECATED
  SQLITE_OMIT_PROGRESS_CALLBACK      # sqlite3_interrupt stops a reader that takes too long
  SQLITE_OMIT_TCL_VARIABLE
  HAVE_FDATASYNC=1
  HAVE_USLEEP=1)

# Without a pkg-config module, which would add the distribution's SQLite.
coffer_static_library(tp::sqlitecpp SQLiteCpp SQLiteCpp/SQLiteCpp.h)
target_link_libraries(tp::sqlitecpp INTERFACE tp_sqlite)

# libcurl with third_party/curl_config.h, as one source. Like SQLite, without sanitizers.
file(GLOB curl_sources "${curl_SOURCE_DIR}/lib/*.c" "${curl_SOURCE_DIR}/lib/curlx/*.c"
  "${curl_SOURCE_DIR}/lib/vauth/*.c" "${curl_SOURCE_DIR}/lib/vtls/*.c")
list(TRANSFORM curl_sources REPLACE "^${curl_SOURCE_DIR}/lib/(.*)$" "#include \"\\1\"\n")
# With the texts of errors, which operators read, but without those of its trace (40 KiB).
list(TRANSFORM curl_sources REPLACE "^(#include \"strerror.c\"\n)$"
  "#undef CURL_DISABLE_VERBOSE_STRINGS\n\\1#define CURL_DISABLE_VERBOSE_STRINGS 1\n")
list(JOIN curl_sources "" curl_sources)
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/generated/curl.c" CONTENT "${curl_sources}")
add_library(tp_curl STATIC "${CMAKE_BINARY_DIR}/generated/curl.c")
add_library(tp::curl ALIAS tp_curl)
target_include_directories(tp_curl SYSTEM PUBLIC "${curl_SOURCE_DIR}/include"
  PRIVATE "${curl_SOURCE_DIR}/lib" "${CMAKE_SOURCE_DIR}/third_party")
target_compile_definitions(tp_curl PUBLIC CURL_STATICLIB PRIVATE BUILDING_LIBCURL HAVE_CONFIG_H)
target_compile_options(tp_curl PRIVATE -Os -g0 -w)
target_link_libraries(tp_curl PUBLIC tp::openssl)

# zstd as one source, with its fastest compressor only, which is the one that coffer uses. Without sanitizers.
file(GLOB zstd_sources "${zstd_SOURCE_DIR}/lib/common/*.c" "${zstd_SOURCE_DIR}/lib/compress/*.c"
  "${zstd_SOURCE_DIR}/lib/decompress/*.c")
list(FILTER zstd_sources EXCLUDE REGEX "/zstdmt_compress\\.c$")
list(TRANSFORM zstd_sources REPLACE "^${zstd_SOURCE_DIR}/lib/(.*)$" "#include \"\\1\"\n")
list(JOIN zstd_sources "" zstd_sources)
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/generated/zstd.c" CONTENT "${zstd_sources}")
add_library(tp_zstd STATIC "${CMAKE_BINARY_DIR}/generated/zstd.c")
add_library(tp::zstd ALIAS tp_zstd)
target_include_directories(tp_zstd SYSTEM PUBLIC "${zstd_SOURCE_DIR}/lib")
set(zstd_left_out "")
foreach(compressor IN ITEMS DFAST GREEDY LAZY LAZY2 BTLAZY2 BTOPT BTULTRA)
  list(APPEND zstd_left_out "ZSTD_EXCLUDE_${compressor}_BLOCK_COMPRESSOR")
endforeach()
target_compile_definitions(tp_zstd PRIVATE ${zstd_left_out} ZSTD_NO_INLINE ZSTD_STRIP_ERROR_STRINGS ZSTD_DISABLE_ASM
  DYNAMIC_BMI2=0 HUF_FORCE_DECOMPRESS_X1 ZSTD_FORCE_DECOMPRESS_SEQUENCES_SHORT ZSTD_LEGACY_SUPPORT=0 ZSTD_TRACE=0)
target_compile_options(tp_zstd PRIVATE -Os -g0 -w -ffunction-sections -fdata-sections)

# libpq with third_party/pg_config.h: the client library alone, with TLS, without GSSAPI and LDAP. Without sanitizers.
set(libpq_sources "")
foreach(name IN ITEMS fe-auth fe-auth-scram fe-connect fe-exec fe-lobj fe-misc fe-print fe-protocol3 fe-secure
    fe-secure-common fe-secure-openssl fe-trace legacy-pqsignal libpq-events pqexpbuffer)
  list(APPEND libpq_sources "${libpq_SOURCE_DIR}/src/interfaces/libpq/${name}.c")
endforeach()
foreach(name IN ITEMS base64 cryptohash_openssl encnames hmac_openssl ip link-canary md5_common protocol_openssl
    saslprep scram-common string unicode_norm wchar)
  list(APPEND libpq_sources "${libpq_SOURCE_DIR}/src/common/${name}.c")
endforeach()
foreach(name IN ITEMS chklocale getpeereid inet_net_ntop noblock pg_strong_random pgstrcasecmp snprintf strerror thread
    timingsafe_bcmp)
  list(APPEND libpq_sources "${libpq_SOURCE_DIR}/src/port/${name}.c")
endforeach()
# A newer C library has it.
include(CheckSymbolExists)
check_symbol_exists(strlcpy "string.h" COFFER_HAS_STRLCPY)
if(NOT COFFER_HAS_STRLCPY)
  list(APPEND libpq_sources "${libpq_SOURCE_DIR}/src/port/strlcpy.c")
endif()
set(libpq_config "${CMAKE_BINARY_DIR}/generated/libpq")
file(CONFIGURE OUTPUT "${libpq_config}/pg_config_ext.h" CONTENT "#define PG_INT64_TYPE long int\n")
if(APPLE)
  file(CONFIGURE OUTPUT "${libpq_config}/pg_config_os.h" CONTENT "#include \"port/darwin.h\"\n")
else()
  file(CONFIGURE OUTPUT "${libpq_config}/pg_config_os.h" CONTENT "#include \"port/linux.h\"\n")
endif()
# Without a service file of the system.
file(CONFIGURE OUTPUT "${libpq_config}/pg_config_paths.h" CONTENT "#define SYSCONFDIR \"/nonexistent\"\n")
add_library(tp_libpq STATIC ${libpq_sources})
add_library(tp::libpq ALIAS tp_libpq)
target_include_directories(tp_libpq SYSTEM PUBLIC "${libpq_SOURCE_DIR}/src/interfaces/libpq"
  "${libpq_SOURCE_DIR}/src/include" "${libpq_config}"
  PRIVATE "${libpq_SOURCE_DIR}/src/port" "${CMAKE_SOURCE_DIR}/third_party")
target_compile_definitions(tp_libpq PRIVATE _GNU_SOURCE FRONTEND UNSAFE_STAT_OK "PG_VERSION=\"${libpq_VERSION}\""
  PG_VERSION_NUM=150000 HAVE_DECL_STRLCAT=0 "HAVE_DECL_STRLCPY=$<BOOL:${COFFER_HAS_STRLCPY}>")
target_compile_options(tp_libpq PRIVATE -Os -g0 -w -ffunction-sections -fdata-sections)
target_link_libraries(tp_libpq PUBLIC tp::openssl Threads::Threads)

find_path(COFFER_ISO_CODES_DIR NAMES iso_3166-1.json iso_4217.json
  PATHS /usr/share/iso-codes/json REQUIRED
  DOC "Folder of iso-codes' JSON files, read by cmake/country_tables.cmake")
