# The most common passwords, from zxcvbn's list: generated/auth/common_passwords.inc, one C++ literal with a
# word per line, which src/auth/password_quality.cpp includes. The build includes this file, and runs it as a
# script to write the list:
#   cmake -DLIST=<frequency_lists.coffee> -DOUT=<file> -P password_list.cmake

if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(list "${zxcvbn_SOURCE_DIR}/src/frequency_lists.coffee")
  set(words "${CMAKE_BINARY_DIR}/generated/auth/common_passwords.inc")
  add_custom_command(
    OUTPUT "${words}"
    COMMAND "${CMAKE_COMMAND}" "-DLIST=${list}" "-DOUT=${words}" -P "${CMAKE_CURRENT_LIST_FILE}"
    DEPENDS "${CMAKE_CURRENT_LIST_FILE}" "${list}"
    COMMENT "Common passwords"
    VERBATIM)
  target_sources(coffer_auth PRIVATE "${words}")
  return()
endif()

cmake_minimum_required(VERSION 3.25)

file(STRINGS "${LIST}" line REGEX "^  passwords: \"" LIMIT_COUNT 1)
if(NOT line)
  message(FATAL_ERROR "${LIST} has no line that starts with 'passwords:'")
endif()
string(REGEX REPLACE "^  passwords: \"" "" line "${line}")
# The list is sorted by frequency. Keep only words of letters and digits: the check strips all other characters
# from both ends of a password before the lookup.
string(SUBSTRING "${line}" 0 110000 line)
string(REGEX MATCHALL "[a-z0-9]+," words "${line}")
list(LENGTH words count)
if(count LESS 10000)
  message(FATAL_ERROR "${LIST} has only ${count} common passwords, expected at least 10000")
endif()
list(SUBLIST words 0 10000 words)
list(FILTER words INCLUDE REGEX "[a-z].*[a-z].*[a-z].*[a-z]")
list(JOIN words "" text)
string(REPLACE "," "\n" text "${text}")
file(WRITE "${OUT}.new" "R\"(\n${text})\"\n")
file(RENAME "${OUT}.new" "${OUT}")
