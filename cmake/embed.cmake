# Embeds schema.sql, src/store/upgrades/*.sql, the declarations of the demo, everything below web/, the guides of
# docs/ and the admin page's QR library in the binary: target coffer_embedded, header "embedded/embedded.h".
#
# One generated source uses .incbin directives: the assembler copies the bytes, so a megabyte of web files
# adds no compile time and needs no helper program.

set(embedded_dir "${CMAKE_BINARY_DIR}/generated/embedded")

file(GLOB embedded_upgrades CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/store/upgrades/*.sql")
file(GLOB_RECURSE embedded_web CONFIGURE_DEPENDS LIST_DIRECTORIES false "${CMAKE_SOURCE_DIR}/web/*")
file(GLOB embedded_schema CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/schema.sql")
list(SORT embedded_upgrades COMPARE STRING)
list(SORT embedded_web COMPARE STRING)

set(embedded_blobs "")
set(embedded_declarations "")
set(embedded_count 0)

# Adds one file, and sets `out` to the C++ expression for its bytes.
function(coffer_embed_blob file out)
  set(symbol "coffer_blob_${embedded_count}")
  math(EXPR next "${embedded_count} + 1")
  set(embedded_count ${next} PARENT_SCOPE)
  string(REPLACE "\\" "\\\\" escaped "${file}")
  string(REPLACE "\"" "\\\"" escaped "${escaped}")
  # The end is a local label, because Apple's linker may separate what has a symbol. The asm labels of the
  # declarations keep Apple's compiler from adding an underscore to the symbols.
  string(APPEND embedded_blobs
    "    \"${symbol}: .incbin \\\"${escaped}\\\"\\n\"\n"
    "    \"1: .byte 0\\n\"\n"
    "    \".balign 8\\n\"\n"
    "    \"${symbol}_size: .quad 1b - ${symbol}\\n\"\n")
  string(APPEND embedded_declarations
    "extern const char ${symbol}[] asm(\"${symbol}\");\n"
    "extern const std::uint64_t ${symbol}_size asm(\"${symbol}_size\");\n")
  set(embedded_blobs "${embedded_blobs}" PARENT_SCOPE)
  set(embedded_declarations "${embedded_declarations}" PARENT_SCOPE)
  set(${out} "bytes(${symbol}, ${symbol}_size)" PARENT_SCOPE)
endfunction()

set(embedded_schema_expression "{}")
foreach(file IN LISTS embedded_schema)
  coffer_embed_blob("${file}" embedded_schema_expression)
endforeach()

set(embedded_demo "")
foreach(part world history)
  set(file "${CMAKE_SOURCE_DIR}/src/cli/demo/${part}.json")
  coffer_embed_blob("${file}" embedded_${part}_expression)
  list(APPEND embedded_demo "${file}")
endforeach()

set(embedded_upgrade_rows "")
foreach(file IN LISTS embedded_upgrades)
  coffer_embed_blob("${file}" expression)
  cmake_path(GET file FILENAME name)
  string(APPEND embedded_upgrade_rows "      {\"${name}\", ${expression}},\n")
endforeach()

set(embedded_web_rows "")
foreach(file IN LISTS embedded_web)
  coffer_embed_blob("${file}" expression)
  cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${CMAKE_SOURCE_DIR}/web" OUTPUT_VARIABLE name)
  string(APPEND embedded_web_rows "      {\"${name}\", ${expression}},\n")
endforeach()

# The guides, served below /docs/guides.
file(GLOB embedded_guides CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/docs/*.md")
list(SORT embedded_guides COMPARE STRING)
foreach(file IN LISTS embedded_guides)
  coffer_embed_blob("${file}" expression)
  cmake_path(GET file FILENAME name)
  string(APPEND embedded_web_rows "      {\"guides/${name}\", ${expression}},\n")
endforeach()
list(APPEND embedded_web ${embedded_guides})

# The changelog, which the command `changes` lists.
set(embedded_changes "${CMAKE_SOURCE_DIR}/CHANGELOG.md")
coffer_embed_blob("${embedded_changes}" expression)
string(APPEND embedded_web_rows "      {\"changes.md\", ${expression}},\n")
list(APPEND embedded_web "${embedded_changes}")

# The QR library, with the name that web/admin/qr.js imports.
set(embedded_qrcode "${qrcode_SOURCE_DIR}/dist/qrcode.mjs")
coffer_embed_blob("${embedded_qrcode}" expression)
string(APPEND embedded_web_rows "      {\"admin/qrcode.js\", ${expression}},\n")
list(APPEND embedded_web "${embedded_qrcode}")

list(LENGTH embedded_upgrades embedded_upgrade_count)
list(LENGTH embedded_web embedded_web_count)

# configure_file writes only changed content, so configuring again recompiles nothing.
configure_file("${CMAKE_CURRENT_LIST_DIR}/embedded.h.in" "${embedded_dir}/embedded.h" @ONLY)
configure_file("${CMAKE_CURRENT_LIST_DIR}/embedded.cpp.in" "${embedded_dir}/embedded.cpp" @ONLY)

# The compiler's dependency list omits files that assembler text includes.
set_source_files_properties("${embedded_dir}/embedded.cpp" PROPERTIES
  OBJECT_DEPENDS "${embedded_schema};${embedded_demo};${embedded_upgrades};${embedded_web}"
  COMPILE_DEFINITIONS "COFFER_COMMIT=\"${COFFER_COMMIT}\"")

# coffer_embedded_variant(<target> <folder> <step>): the same with another schema, <folder>/schema.sql, and with
# the upgrade <step> that leads to it. Not part of a normal build.
function(coffer_embedded_variant target folder step)
  string(REPLACE "${embedded_schema}" "${folder}/schema.sql" embedded_blobs "${embedded_blobs}")
  coffer_embed_blob("${step}" expression)
  cmake_path(GET step FILENAME name)
  string(APPEND embedded_upgrade_rows "      {\"${name}\", ${expression}},\n")
  math(EXPR embedded_upgrade_count "${embedded_upgrade_count} + 1")
  configure_file("${CMAKE_SOURCE_DIR}/cmake/embedded.cpp.in" "${folder}/embedded.cpp" @ONLY)
  set_source_files_properties("${folder}/embedded.cpp" PROPERTIES
    OBJECT_DEPENDS "${folder}/schema.sql;${step};${embedded_demo};${embedded_upgrades};${embedded_web}"
    COMPILE_DEFINITIONS "COFFER_COMMIT=\"${COFFER_COMMIT}\"")
  add_library(${target} OBJECT EXCLUDE_FROM_ALL "${folder}/embedded.cpp")
  target_include_directories(${target} PRIVATE "${CMAKE_BINARY_DIR}/generated")
  target_link_libraries(${target} PRIVATE coffer_options)
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "")
endfunction()

# For coffer_next, the version that package tests upgrade to.
set(embedded_next_step "${CMAKE_SOURCE_DIR}/tests/package/next_schema.sql")
set(embedded_next_dir "${CMAKE_BINARY_DIR}/generated/embedded_next")
if(EXISTS "${embedded_next_step}")
  file(READ "${embedded_schema}" schema_text)
  file(READ "${embedded_next_step}" step_text)
  file(CONFIGURE OUTPUT "${embedded_next_dir}/schema.sql" CONTENT "${schema_text}${step_text}" @ONLY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${embedded_schema}" "${embedded_next_step}")
  coffer_embedded_variant(coffer_embedded_next "${embedded_next_dir}" "${embedded_next_step}")
endif()

add_library(coffer_embedded OBJECT "${embedded_dir}/embedded.cpp")
target_include_directories(coffer_embedded INTERFACE "${CMAKE_BINARY_DIR}/generated")
target_include_directories(coffer_embedded PRIVATE "${CMAKE_BINARY_DIR}/generated")
target_link_libraries(coffer_embedded PRIVATE coffer_options)
# Without ccache, which does not see the files that the assembler reads and would return an outdated object.
set_target_properties(coffer_embedded PROPERTIES CXX_COMPILER_LAUNCHER "")
