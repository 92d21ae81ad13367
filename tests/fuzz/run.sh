#!/usr/bin/env bash
# Coverage-guided fuzzing: builds every target with clang (preset fuzz) and runs each until it has used
# COFFER_FUZZ_SECONDS (600) of processor time, one per core at a time, so that a busy machine takes longer but does
# the same work. Without names, runs all targets.
#   tests/fuzz/run.sh [name ...]
# Control: a parser with a planted bug, built and run the same way, is detected within seconds.
# New inputs are kept in build/fuzz/corpus/<name> (another folder: COFFER_FUZZ_BUILD), logs in build/fuzz/log, and
# findings in build/fuzz/findings. To repeat a finding, run build/fuzz/tests/fuzz/fuzz_<name> <file>.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${COFFER_FUZZ_SECONDS:-600}
build=${COFFER_FUZZ_BUILD:-build/fuzz}

if [ $# -eq 0 ]; then
  mapfile -t names < <(find tests/fuzz/corpus -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort)
  set -- "${names[@]}"
fi
cmake --preset fuzz -B "$build" --log-level=NOTICE >/dev/null
cmake --build "$build" --target "${@/#/fuzz_}" >&2
mkdir -p "$build/log" "$build/findings"

# Prints the processor time of a process in seconds; nothing if it has ended.
used() {
  awk -v hertz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print int(($12 + $13) / hertz) }' "/proc/$1/stat" \
    2>/dev/null || true
}
fuzz() {
  local name=$1 seconds=$2 build=$3 result=0 fuzzer spent=0 now
  mkdir -p "$build/corpus/$name"
  "$build/tests/fuzz/fuzz_$name" "$build/corpus/$name" "tests/fuzz/corpus/$name" \
    -timeout=30 -rss_limit_mb=2048 -max_len=4096 -print_final_stats=1 \
    -artifact_prefix="$build/findings/$name-" >"$build/log/$name" 2>&1 </dev/null &
  fuzzer=$!
  while now=$(used "$fuzzer") && [ -n "$now" ]; do
    spent=$now
    # A stopped fuzzer prints its figures; one with a finding has already ended.
    [ "$spent" -lt "$seconds" ] || kill -USR1 "$fuzzer" 2>/dev/null || true
    sleep 1
  done
  wait "$fuzzer" || result=$?
  [ "$spent" -ge "$seconds" ] || result=1
  awk -v name="$name" -v result="$result" -v spent="$spent" '
    /^stat::number_of_executed_units/ { runs = $2 }
    / cov: / { for (i = 1; i < NF; ++i) if ($i == "cov:") coverage = $(i + 1) }
    END { printf "%-20s %12d runs in %d s  coverage %5d  %s\n", name, runs, spent, coverage,
                 result == 0 ? "nothing found" : "FOUND SOMETHING" }' "$build/log/$name"
  return "$result"
}
export -f fuzz used
# Reads one byte too far, for inputs that the fuzzer must find.
planted() {
  "${CXX:-clang++-14}" -g1 -O1 -fsanitize=fuzzer,address -x c++ -o "$build/planted" - <<'PLANTED'
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4 || std::memcmp(data, "POST", 4) != 0) return 0;
  auto* copy = static_cast<volatile std::uint8_t*>(std::malloc(size));
  for (std::size_t i = 0; i < size; ++i) copy[i] = data[i];
  const int last = copy[size];
  std::free(const_cast<std::uint8_t*>(copy));
  return last == 256;
}
PLANTED
  ! "$build/planted" -max_total_time=60 -max_len=64 -artifact_prefix="$build/planted-" >"$build/log/planted" 2>&1 &&
    grep -q heap-buffer-overflow "$build/log/planted"
}
planted || {
  printf 'The control was not detected; see %s/log/planted.\n' "$build" >&2
  exit 1
}

printf '%s\0' "$@" | xargs -0 -r -n 1 -P "$(nproc)" \
  bash -c 'fuzz "$0" "'"$seconds"'" "'"$build"'" || exit 1' || {
  printf 'See %s/log and %s/findings.\n' "$build" "$build" >&2
  exit 1
}
awk '/^stat::number_of_executed_units/ { runs += $2 }
  END { printf "count: %d parsers, %.0f inputs\n", ARGC - 1, runs }' "${@/#/$build/log/}"
printf 'control: a planted bug is detected\n'
