# The folder of unpacked dependencies.

set(COFFER_THIRD_PARTY_DIR "" CACHE PATH
  "Folder of unpacked dependencies; empty: $XDG_CACHE_HOME/coffer/third_party")

# Without a home directory, this is a folder inside the build folder.
function(coffer_third_party_root out)
  if(COFFER_THIRD_PARTY_DIR)
    set(root "${COFFER_THIRD_PARTY_DIR}")
  elseif(NOT "$ENV{COFFER_THIRD_PARTY_DIR}" STREQUAL "")
    set(root "$ENV{COFFER_THIRD_PARTY_DIR}")
  elseif(NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
    set(root "$ENV{XDG_CACHE_HOME}/coffer/third_party")
  elseif(NOT "$ENV{HOME}" STREQUAL "")
    set(root "$ENV{HOME}/.cache/coffer/third_party")
  else()
    set(root "${CMAKE_BINARY_DIR}/third_party")
  endif()
  set(${out} "${root}" PARENT_SCOPE)
endfunction()
