# coffer_unity(<target>): compiles at most 16 sources of a folder together, because a source spends most of its compile
# time on the headers of the standard library, JSON and Catch2. A folder is one of the first level, such as src/base or
# tests/api; in src/cli, src/store and tests/unit, one of the second. So a name outside of functions appears once in a
# folder, also in unnamed namespaces. Tests have a namespace of their own if they need common names.
# -DCOFFER_UNITY=OFF compiles each source alone: faster when you edit one file repeatedly, and required by clang-tidy.

option(COFFER_UNITY "Compile the sources of a folder together" ON)

function(coffer_unity target)
  get_target_property(sources ${target} SOURCES)
  list(SORT sources)
  foreach(source IN LISTS sources)
    # A macro that configures Catch2 must come before the header, which an earlier source may have included.
    file(STRINGS "${source}" configured REGEX "^#define CATCH_CONFIG_" LIMIT_COUNT 1)
    if(configured)
      set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
    file(RELATIVE_PATH path "${CMAKE_SOURCE_DIR}" "${source}")
    if(NOT path MATCHES "^(src/(cli|store)|tests/unit)/[a-z_]+/")
      string(REGEX MATCH "^[a-z]+/[a-z_]+/" folder "${path}")
    else()
      set(folder "${CMAKE_MATCH_0}")
    endif()
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(source MATCHES "_linux\\.cpp$")
      string(APPEND folder "linux_") # macos_parts_test leaves them out (tests/CMakeLists.txt)
    endif()
    math(EXPR batch "0${number_${folder}} / 16")
    math(EXPR number_${folder} "0${number_${folder}} + 1")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}${batch}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${COFFER_UNITY} UNITY_BUILD_MODE GROUP)
  # GCC treats the sources of a group as headers, and so warns about types that are local to a source.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()
