# Profile-guided optimisation: recorded counts tell the compiler which code a request runs. It optimises that code
# for speed and keeps it together, which saves processor time of payments and reads.
#
# COFFER_COUNTS:
#   off      (default) without counts.
#   record   count executions. `./dev release` and `./dev bench` build this and run the load of tests/bench/profile.py.
#   FILE     compile with the counts in this archive. The same sources, compiler and archive give the same bytes, so a
#            release carries its archive. GCC ignores counts that do not fit the control flow of a function.
set(COFFER_COUNTS "off" CACHE STRING "off | record | archive of counts")

if(COFFER_COUNTS STREQUAL "record")
  add_link_options(-fprofile-generate)
elseif(NOT COFFER_COUNTS STREQUAL "off")
  # GCC looks for the counts of an object file beside it.
  file(ARCHIVE_EXTRACT INPUT "${COFFER_COUNTS}" DESTINATION "${CMAKE_BINARY_DIR}")
  file(SHA256 "${COFFER_COUNTS}" coffer_profile_hash)
  string(SUBSTRING "${coffer_profile_hash}" 0 16 coffer_profile_hash)
endif()

# GCC identifies a function by its number in the source, instead of by the path of its file, which differs between
# machines.
set(coffer_profile_identity --param=profile-func-internal-id=1)

# coffer_profiled(<target>): requests run the code of this target.
function(coffer_profiled target)
  if(COFFER_COUNTS STREQUAL "record")
    target_compile_options(${target} PRIVATE ${coffer_profile_identity} -fprofile-generate
      -fprofile-update=prefer-atomic)
  elseif(NOT COFFER_COUNTS STREQUAL "off")
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
