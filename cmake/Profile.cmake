# Profile-guided optimisation: recorded counts tell the compiler which code a request runs. It optimises that code
# for speed and keeps it together, which saves a tenth of the processor time of a payment and a fifth of a read's.
#
# COFFER_PROFILE:
#   use      compile with the counts in cmake/profile.tar.xz. They are part of the commit, so builds stay
#            reproducible. GCC ignores counts that do not fit the control flow of a function. A new function in a source moves the numbers of those after it, so old counts can also
#            be lost or belong to a similar function. That costs speed only.
#   record   count executions. `./dev profile` builds this, runs the load of tests/bench/profile.py, and writes the
#            archive.
#   off      neither; always for another processor or another version of the compiler than those of the recording.
set(COFFER_PROFILE "use" CACHE STRING "use | record | off")

if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(COFFER_PROFILE "off")
endif()
set(coffer_profile_archive "${CMAKE_SOURCE_DIR}/cmake/profile.tar.xz")
if(COFFER_PROFILE STREQUAL "use")
  # GCC looks for the counts of an object file beside it.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${coffer_profile_archive}")
  file(ARCHIVE_EXTRACT INPUT "${coffer_profile_archive}" DESTINATION "${CMAKE_BINARY_DIR}")
  # Bytes 4 to 7 of a file of counts are the version of GCC, backwards: "*22B" for 12.2, "*04B" for 14.0.
  file(GLOB_RECURSE counts "${CMAKE_BINARY_DIR}/CMakeFiles/*.gcda")
  list(GET counts 0 counts)
  file(READ "${counts}" stamp OFFSET 4 LIMIT 4 HEX)
  string(REGEX REPLACE "^..3(.)3(.)4(.)$" "\\3;\\2;\\1" stamp "${stamp}")
  list(POP_FRONT stamp tens units minor)
  math(EXPR major "(${tens} - 1) * 10 + ${units}")
  if(NOT CMAKE_CXX_COMPILER_VERSION MATCHES "^${major}\\.${minor}\\.")
    message(NOTICE "Building without cmake/profile.tar.xz: GCC ${major}.${minor} recorded it, this is "
      "${CMAKE_CXX_COMPILER_VERSION}")
    set(COFFER_PROFILE "off")
  endif()
  file(SHA256 "${coffer_profile_archive}" coffer_profile_hash)
  string(SUBSTRING "${coffer_profile_hash}" 0 16 coffer_profile_hash)
elseif(COFFER_PROFILE STREQUAL "record")
  add_link_options(-fprofile-generate)
endif()

# GCC identifies a function by its number in the source, instead of by the path of its file, which differs between
# machines.
set(coffer_profile_identity --param=profile-func-internal-id=1)

# coffer_profiled(<target>): requests run the code of this target.
function(coffer_profiled target)
  if(COFFER_PROFILE STREQUAL "record")
    target_compile_options(${target} PRIVATE ${coffer_profile_identity} -fprofile-generate
      -fprofile-update=prefer-atomic)
  elseif(COFFER_PROFILE STREQUAL "use")
    # The last warnings follow inlined code: with more of it, GCC 12 reports them falsely. The builds without
    # counts have them.
    target_compile_options(${target} PRIVATE ${coffer_profile_identity} -fprofile-use -fprofile-partial-training
      -fprofile-correction
      # These come with a profile and make the binary larger than it may be.
      -fno-unroll-loops -fno-peel-loops -fno-tracer -fno-split-loops -fno-tree-loop-vectorize
      -fno-tree-slp-vectorize -fno-ipa-cp-clone
      -Wno-missing-profile -Wno-coverage-mismatch
      -Wno-array-bounds -Wno-maybe-uninitialized -Wno-stringop-overflow)
    # Compiles the objects again when the counts change.
    target_compile_definitions(${target} PRIVATE "COFFER_PROFILE_HASH=${coffer_profile_hash}")
  endif()
endfunction()
