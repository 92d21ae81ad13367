# coffer_unity(<target>): compiles the sources of a target in groups, each as one source.
#
# A source spends most of its compile time on the headers of the standard library, JSON and Catch2, so eight
# sources together take little longer than two. Sources that declare the same name outside of functions
# (`kInsert`, `World`) go into different groups, so that sources need not avoid each other's names.
# -DCOFFER_UNITY=OFF compiles each source alone: faster when you edit one file repeatedly, and required by
# clang-tidy.

option(COFFER_UNITY "Compile sources in groups" ON)

set(COFFER_UNITY_GROUP_MAX 24)

# Patterns of the declarations that begin in the first column: constants, types and functions.
set(coffer_declared_constant "\n(inline |static )?(constexpr|const) [^\n=({]*[ *&]([A-Za-z0-9_]+) *[={]")
set(coffer_declared_type "\n(struct|class|enum class|enum|using) ([A-Za-z0-9_]+) (final |: |:|=|{)")
set(coffer_declared_function "\n[A-Za-z][A-Za-z0-9_:<>&*, ]*[ *&]([A-Za-z0-9_]+)\\(")

function(coffer_declared_names file out)
  file(READ "${file}" text)
  # Remove the characters that have a meaning in CMake lists.
  string(REGEX REPLACE "[][;\\]" " " text "\n${text}")
  string(REGEX MATCHALL "${coffer_declared_constant}" constants "${text}")
  list(TRANSFORM constants REPLACE "${coffer_declared_constant}" "\\3")
  string(REGEX MATCHALL "${coffer_declared_type}" types "${text}")
  list(TRANSFORM types REPLACE "${coffer_declared_type}" "\\2")
  string(REGEX MATCHALL "${coffer_declared_function}" functions "${text}")
  list(TRANSFORM functions REPLACE "${coffer_declared_function}" "\\1")
  set(names ${constants} ${types} ${functions})
  # A test that has a namespace of its own shares its names with no other source.
  if(text MATCHES "\nnamespace ([a-z0-9_]+_test) {")
    list(TRANSFORM names PREPEND "${CMAKE_MATCH_1}::")
  endif()
  list(REMOVE_DUPLICATES names)
  set(${out} "${names}" PARENT_SCOPE)
endfunction()

# Sets `out` to the first group of `prefix` that has room and declares none of `names`.
function(coffer_place_in_group names prefix out)
  set(group 0)
  while(TRUE)
    set(known ${unity_names_${group}})
    set(all ${known} ${names})
    list(LENGTH all before)
    list(REMOVE_DUPLICATES all)
    list(LENGTH all after)
    if(before EQUAL after AND NOT unity_count_${group} GREATER_EQUAL room)
      break()
    endif()
    math(EXPR group "${group} + 1")
  endwhile()
  set(count "${unity_count_${group}}")
  math(EXPR count "0${count} + 1")
  set(unity_count_${group} ${count} PARENT_SCOPE)
  set(unity_names_${group} "${all}" PARENT_SCOPE)
  set(${out} "${prefix}_${group}" PARENT_SCOPE)
endfunction()

# Sets `out` to the sources in the order in which they are placed: those that share most names with others first,
# because they fit into the fewest groups. Reads names_of_<source> of the caller.
function(coffer_placing_order sources out)
  foreach(source IN LISTS sources)
    foreach(name IN LISTS names_of_${source})
      math(EXPR uses_${name} "0${uses_${name}} + 1")
    endforeach()
  endforeach()
  set(ranked "")
  foreach(source IN LISTS sources)
    set(rank 99999)
    foreach(name IN LISTS names_of_${source})
      math(EXPR rank "${rank} + 1 - ${uses_${name}}")
    endforeach()
    list(APPEND ranked "${rank}:${source}")
  endforeach()
  list(SORT ranked COMPARE STRING)
  list(TRANSFORM ranked REPLACE "^[0-9]+:" "")
  set(${out} "${ranked}" PARENT_SCOPE)
endfunction()

function(coffer_unity target)
  if(NOT COFFER_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(grouped "")
  foreach(source IN LISTS sources)
    get_source_file_property(alone "${source}" SKIP_UNITY_BUILD_INCLUSION)
    # A macro that configures Catch2 must come before the header, which an earlier source may have included.
    file(STRINGS "${source}" configured REGEX "^#define CATCH_CONFIG_" LIMIT_COUNT 1)
    if(alone OR configured)
      continue()
    elseif(source MATCHES "_linux\\.cpp$")
      # Together, because macos_parts_test leaves them out (tests/CMakeLists.txt).
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${target}_linux")
    else()
      list(APPEND grouped "${source}")
      coffer_declared_names("${source}" names_of_${source})
    endif()
  endforeach()
  # Groups of equal size, so that the last one is not a single source.
  list(LENGTH grouped count)
  math(EXPR groups "(${count} + ${COFFER_UNITY_GROUP_MAX} - 1) / ${COFFER_UNITY_GROUP_MAX}")
  if(groups)
    math(EXPR room "(${count} + ${groups} - 1) / ${groups}")
  endif()
  coffer_placing_order("${grouped}" grouped)
  foreach(source IN LISTS grouped)
    coffer_place_in_group("${names_of_${source}}" "${target}" group)
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC treats the sources of a group as headers, and so warns about types that are local to a source.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()
