# Turns third_party/manifest.cmake into targets: tp::httplib tp::sqlite tp::openssl
# tp::cares tp::re2 tp::zlib tp::json tp::spdlog tp::cli11 tp::tomlplusplus tp::catch2, and the variable
# COFFER_ISO_CODES_DIR.
#
# A pinned dependency is looked for unpacked, in COFFER_THIRD_PARTY_DIR, and only then fetched. So a
# second build, another build directory or a machine without a network that was given the folder asks
# nobody for anything.

# SHA-256 of the list "<sha256 of file>  <path>\n" over all files below dir in byte order:
# the same as `find . -type f | sort | xargs sha256sum | sha256sum` with the leading ./ removed.
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
# Each function puts the file at `archive` and sets `out` to "", or sets `out` to what went wrong.

function(coffer_fetch_upstream url archive out)
  # One unreachable project site usually means that none is reachable: do not wait for each.
  get_property(unreachable GLOBAL PROPERTY COFFER_UPSTREAM_UNREACHABLE)
  if(unreachable)
    set(${out} "not tried, upstream is out of reach" PARENT_SCOPE)
    return()
  endif()
  # Not file(DOWNLOAD): it has no time limit of its own for the connection, and where packets to the
  # outside are dropped every address would cost minutes.
  find_program(COFFER_CURL curl)
  mark_as_advanced(COFFER_CURL)
  if(NOT COFFER_CURL)
    set(${out} "curl is not here" PARENT_SCOPE)
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
  # 5, 6, 7, 28: proxy or name not found, no connection, timed out.
  if(code MATCHES "^(5|6|7|28)$")
    set_property(GLOBAL PROPERTY COFFER_UPSTREAM_UNREACHABLE TRUE)
  endif()
endfunction()

# Through apt's own downloader, so that its mirrors, proxies and credentials apply and none is repeated
# here. The pool keeps source archives that no index of this release lists, hence the path.
function(coffer_fetch_debian pool_path archive out)
  find_program(COFFER_APT_GET apt-get)
  find_program(COFFER_APT_HELPER apt-helper PATHS /usr/lib/apt)
  mark_as_advanced(COFFER_APT_GET COFFER_APT_HELPER)
  if(NOT COFFER_APT_GET OR NOT COFFER_APT_HELPER)
    set(${out} "apt is not here" PARENT_SCOPE)
    return()
  endif()
  # What an update would fetch, without fetching it: known even where the package lists were removed.
  execute_process(COMMAND "${COFFER_APT_GET}" --print-uris update OUTPUT_VARIABLE uris ERROR_QUIET)
  string(REGEX MATCHALL "'[^'\n]+/dists/[^'\n]*/InRelease'" sites "${uris}")
  list(TRANSFORM sites REPLACE "^'(.*)/dists/.*$" "\\1")
  list(REMOVE_DUPLICATES sites)
  set(reason "apt is set to no mirror")
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

# Only fetched: none of the package's scripts run.
function(coffer_fetch_npm package archive out)
  find_program(COFFER_NPM npm)
  mark_as_advanced(COFFER_NPM)
  if(NOT COFFER_NPM)
    set(${out} "npm is not here" PARENT_SCOPE)
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

# Unpacks one fetched archive, moves the kept paths to `kept` and applies our patches to them. FALSE if a
# path is missing or a patch does not fit.
function(coffer_unpack archive keep patches kept out)
  set(${out} FALSE PARENT_SCOPE)
  set(tree "${kept}.tree")
  file(REMOVE_RECURSE "${tree}" "${kept}")
  file(MAKE_DIRECTORY "${tree}" "${kept}")
  execute_process(COMMAND "${CMAKE_COMMAND}" -E tar xf "${archive}"
    WORKING_DIRECTORY "${tree}" RESULT_VARIABLE code OUTPUT_QUIET ERROR_QUIET)
  # Source archives hold one top folder whose name is not ours to choose.
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
    # In words that GNU's and macOS's patch share.
    execute_process(
      COMMAND patch -p1 -t -N -F0 -i "${CMAKE_SOURCE_DIR}/third_party/patches/${patch}"
      WORKING_DIRECTORY "${kept}" RESULT_VARIABLE code OUTPUT_QUIET ERROR_QUIET)
    if(NOT code EQUAL 0)
      return()
    endif()
  endforeach()
  # Either may keep what it has patched.
  file(GLOB_RECURSE copies "${kept}/*.orig")
  if(copies)
    file(REMOVE ${copies})
  endif()
  set(${out} TRUE PARENT_SCOPE)
endfunction()

# coffer_archive(<name> VERSION .. LICENCE .. HOMEPAGE .. WHY .. KEEP <paths> [PATCHES <files>]
#                CONTENT <sha256> [UPSTREAM <url> <sha256>] [DEBIAN <pool path> <sha256>] [NPM <package> <sha256>])
# Sets <name>_SOURCE_DIR and <name>_VERSION for the caller.
function(coffer_archive name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "VERSION;LICENCE;HOMEPAGE;WHY;CONTENT"
    "KEEP;PATCHES;UPSTREAM;DEBIAN;NPM")
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
    # Not silently fetched anew: someone should learn that a source file was changed.
    message(FATAL_ERROR
      "${name} ${arg_VERSION}: the unpacked copy was changed.\n"
      "  expected ${arg_CONTENT}\n  found    ${digest}\n"
      "Delete ${home} and configure again to fetch it anew.")
  endif()

  # Builds may run side by side: work beside the final place, then rename, which is atomic.
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
      string(APPEND tried "\n  ${address}: does not unpack to ${arg_KEEP}, or a patch does not fit")
      continue()
    endif()
    coffer_content_digest("${work}/kept" digest)
    if(NOT digest STREQUAL arg_CONTENT)
      string(APPEND tried "\n  ${address}: content digest is ${digest}, expected ${arg_CONTENT}")
      continue()
    endif()
    # A build beside this one may have been quicker; its copy is as good.
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
    "Without a network, put an unpacked copy into COFFER_THIRD_PARTY_DIR (${root}).")
endfunction()

# Only words for people and for ./dev setup; the targets below find what the packages installed.
function(coffer_system name)
endfunction()

include(third_party/manifest.cmake)

# --- Targets ------------------------------------------------------------------------------------------
# All include folders are SYSTEM: our warnings are errors, and other people's headers are not ours.

function(coffer_static_library target library header package)
  # On macOS the shared one, which Homebrew keeps up to date.
  set(names lib${library}.a)
  if(APPLE)
    set(names ${library})
  endif()
  find_library(COFFER_LIB_${library} NAMES ${names} NO_CACHE REQUIRED)
  find_path(COFFER_INC_${library} NAMES ${header} NO_CACHE REQUIRED)
  add_library(${target} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION "${COFFER_LIB_${library}}"
    INTERFACE_INCLUDE_DIRECTORIES "${COFFER_INC_${library}}")
endfunction()

function(coffer_header_library target header)
  find_path(COFFER_INC_${target} NAMES ${header} NO_CACHE REQUIRED)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  # /usr/include is searched anyway; naming it again would break #include_next in libstdc++.
  if(NOT COFFER_INC_${target} STREQUAL "${CMAKE_SYSROOT}/usr/include")
    set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${COFFER_INC_${target}}")
  endif()
endfunction()

find_package(Threads REQUIRED)

# The same libraries in every build, so that what the tests exercise is what ships.
coffer_static_library(tp::crypto crypto openssl/crypto.h libssl-dev)
coffer_static_library(tp::openssl ssl openssl/ssl.h libssl-dev)
target_link_libraries(tp::openssl INTERFACE tp::crypto Threads::Threads)

coffer_static_library(tp::cares cares ares.h libc-ares-dev)
target_compile_definitions(tp::cares INTERFACE CARES_STATICLIB)

coffer_static_library(tp::re2 re2 re2/re2.h libre2-dev)
target_link_libraries(tp::re2 INTERFACE Threads::Threads)

coffer_static_library(tp::zlib z zlib.h zlib1g-dev)

coffer_header_library(tp::json nlohmann/json.hpp)
coffer_header_library(tp::cli11 CLI/CLI.hpp)
coffer_header_library(tp::tomlplusplus toml++/toml.h)

# Debian's packages also hold compiled, shared halves of spdlog and fmt; header only keeps them out of
# the link.
coffer_header_library(tp::spdlog spdlog/spdlog.h)
target_compile_definitions(tp::spdlog INTERFACE SPDLOG_FMT_EXTERNAL FMT_HEADER_ONLY)

# Catch2 v2 is one header; the file with its main is built once, in tests/CMakeLists.txt.
if(COFFER_TESTS)
  coffer_header_library(tp::catch2 catch2/catch.hpp)
endif()

# Without zlib, brotli or zstd: a compressed request body is a way round every size limit. The non-blocking
# getaddrinfo has a use after free in its timeout path; names go through c-ares here anyway. Without
# "Expect: 100-continue": the client would send it with every body over 1 KiB and wait for a second.
add_library(tp_httplib INTERFACE)
add_library(tp::httplib ALIAS tp_httplib)
target_include_directories(tp_httplib SYSTEM INTERFACE "${httplib_SOURCE_DIR}")
# A field may take all of the 16 KiB that the gate allows a header.
target_compile_definitions(tp_httplib INTERFACE CPPHTTPLIB_OPENSSL_SUPPORT
  CPPHTTPLIB_HEADER_MAX_LENGTH=16384 CPPHTTPLIB_EXPECT_100_THRESHOLD=0)
if(APPLE)
  # Roots come from the CA bundle, and so no frameworks for the keychain are needed.
  target_compile_definitions(tp_httplib INTERFACE CPPHTTPLIB_DISABLE_MACOSX_AUTOMATIC_ROOT_CERTIFICATES)
endif()
target_link_libraries(tp_httplib INTERFACE tp::openssl)

# One SQLite in the process, with our flags. Always -O2 and never sanitised: it is the slowest thing to
# compile, it is not ours to debug, and with equal flags everywhere ccache compiles it once for all
# presets.
add_library(tp_sqlite STATIC "${sqlite_SOURCE_DIR}/deps/sqlite3/sqlite3.c")
add_library(tp::sqlite ALIAS tp_sqlite)
target_include_directories(tp_sqlite SYSTEM INTERFACE "${sqlite_SOURCE_DIR}/deps/sqlite3")
target_compile_options(tp_sqlite PRIVATE -O2 -g0 -w)
target_link_libraries(tp_sqlite PUBLIC Threads::Threads)
target_compile_definitions(tp_sqlite PRIVATE
  SQLITE_THREADSAFE=2                # one connection, one thread at a time: the pool and the queue see to it
  SQLITE_DEFAULT_WAL_SYNCHRONOUS=2   # FULL: only then does a WAL commit survive a power cut
  SQLITE_DEFAULT_FOREIGN_KEYS=1
  SQLITE_DEFAULT_MEMSTATUS=0         # the statistics cost a global mutex per allocation
  SQLITE_DQS=0                       # "x" is never quietly a string
  SQLITE_TRUSTED_SCHEMA=0
  SQLITE_LIKE_DOESNT_MATCH_BLOBS
  SQLITE_USE_URI=0
  SQLITE_ENABLE_DBPAGE_VTAB          # a backup reads pages of one snapshot by their numbers
  SQLITE_OMIT_LOAD_EXTENSION         # also keeps dlopen out of a static binary
  SQLITE_OMIT_SHARED_CACHE
  # The amalgamation was generated with these three, so it must be compiled with them.
  SQLITE_OMIT_DEPRECATED
  SQLITE_OMIT_PROGRESS_CALLBACK      # a reader that takes too long is stopped by sqlite3_interrupt
  SQLITE_OMIT_TCL_VARIABLE
  HAVE_FDATASYNC=1
  HAVE_USLEEP=1)

find_path(COFFER_ISO_CODES_DIR NAMES iso_3166-1.json iso_4217.json
  PATHS /usr/share/iso-codes/json REQUIRED
  DOC "Folder of iso-codes' JSON files, read by cmake/country_tables.cmake")
