# coffer_library(<folder> [APART] [USES <folders>] [DEPS <third party>])
#
# Builds one object library, coffer_<folder>, from all sources below src/<folder>. Skips a folder without
# sources. Files ending in _linux.cpp or _macos.cpp are compiled for that system only.
#   USES  the other folders it may include; tests/tidy enforces this. Object libraries do not link, so the
#         build uses it only to find what the tests of one folder need (tests/CMakeLists.txt).
#   APART leave it out of coffer_all: it belongs to another program, and to the tests.
#   DEPS  the tp:: targets it may include. They are PRIVATE: a header that another folder includes must not
#         need them, which keeps SQL in store/ and httplib in http/.
#
# coffer_all collects all objects, and the libraries they need, for the executables. coffer_all_headers is
# the same without the objects, for the object libraries of the tests.

add_library(coffer_all_headers INTERFACE)
# Generated headers: the embedded files, and the tables of cmake/country_tables.cmake.
target_include_directories(coffer_all_headers INTERFACE "${CMAKE_BINARY_DIR}/generated")

add_library(coffer_all INTERFACE)
target_link_libraries(coffer_all INTERFACE coffer_all_headers $<TARGET_OBJECTS:coffer_embedded>)

# coffer_all with the next schema, for coffer_next.
add_library(coffer_all_next INTERFACE)
target_link_libraries(coffer_all_next INTERFACE coffer_all_headers $<TARGET_OBJECTS:coffer_embedded_next>)

function(coffer_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "APART" "" "USES;DEPS")
  set(target "coffer_${folder}")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${folder}/*.cpp")
  if(APPLE)
    list(FILTER sources EXCLUDE REGEX "_linux\\.cpp$")
  else()
    list(FILTER sources EXCLUDE REGEX "_macos\\.cpp$")
  endif()
  list(TRANSFORM arg_DEPS PREPEND "tp::" OUTPUT_VARIABLE libraries)
  set_property(GLOBAL PROPERTY COFFER_USES_${folder} "${arg_USES}")
  set_property(GLOBAL PROPERTY COFFER_LIBRARIES_${folder} "${libraries}")
  # Before the check for sources: a folder of headers only may also need the library.
  target_link_libraries(coffer_all_headers INTERFACE ${libraries})
  if(NOT sources)
    return()
  endif()
  add_library(${target} OBJECT ${sources})
  coffer_unity(${target})
  target_link_libraries(${target} PRIVATE coffer_options ${libraries})
  target_include_directories(${target} PRIVATE "${CMAKE_BINARY_DIR}/generated")
  if(NOT arg_APART)
    target_link_libraries(coffer_all INTERFACE $<TARGET_OBJECTS:${target}>)
    target_link_libraries(coffer_all_next INTERFACE $<TARGET_OBJECTS:${target}>)
  endif()
endfunction()

# Sets `out` to the objects and libraries of a folder and of everything it uses, directly or indirectly.
function(coffer_closure folder out)
  set(closure "")
  set(todo ${folder})
  while(todo)
    list(POP_FRONT todo next)
    if(NOT next IN_LIST closure)
      list(APPEND closure ${next})
      get_property(used GLOBAL PROPERTY COFFER_USES_${next})
      list(APPEND todo ${used})
    endif()
  endwhile()
  set(product $<TARGET_OBJECTS:coffer_embedded>)
  foreach(other IN LISTS closure)
    get_property(libraries GLOBAL PROPERTY COFFER_LIBRARIES_${other})
    list(APPEND product ${libraries})
    if(TARGET coffer_${other})
      list(APPEND product $<TARGET_OBJECTS:coffer_${other}>)
    endif()
  endforeach()
  set(${out} "${product}" PARENT_SCOPE)
endfunction()
