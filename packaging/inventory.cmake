# Prints what ships of third_party/manifest.cmake as lines of tab-separated fields, for packaging/inventory.py:
#   archive <name> <version> <licence> <homepage> <content sha256> <source address>
#   system  <name> <licence> <homepage> <Debian packages, separated by spaces>
# Run by: cmake -P packaging/inventory.cmake

function(emit)
  string(JOIN "\t" line ${ARGV})
  # message() would add text around the line.
  execute_process(COMMAND "${CMAKE_COMMAND}" -E echo "${line}")
endfunction()

function(coffer_archive name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TESTS" "VERSION;LICENCE;HOMEPAGE;WHY;CONTENT"
    "KEEP;PATCHES;UPSTREAM;DEBIAN;NPM")
  if(arg_TESTS)
    return()
  endif()
  if(arg_UPSTREAM)
    list(GET arg_UPSTREAM 0 address)
  else()
    list(GET arg_NPM 0 address)
    string(PREPEND address "npm:")
  endif()
  emit(archive ${name} ${arg_VERSION} "${arg_LICENCE}" ${arg_HOMEPAGE} ${arg_CONTENT} ${address})
endfunction()

function(coffer_system name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LICENCE;HOMEPAGE;WHY" "DEBIAN_PACKAGES")
  list(JOIN arg_DEBIAN_PACKAGES " " packages)
  emit(system ${name} "${arg_LICENCE}" ${arg_HOMEPAGE} "${packages}")
endfunction()

include("${CMAKE_CURRENT_LIST_DIR}/../third_party/manifest.cmake")
