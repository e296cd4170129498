#!/usr/bin/env bash
# Builds and checks everything on a machine with a GPU, and measures it.
#
#   bench/gpu_run.sh [build] [tests] [sanitize] [spmv] [cg]     all of them without arguments
#
# BUILD       build folder                                        [build/gpu]
# OUT         folder for logs and results: at most 8 files        [BUILD/out]
# VOUCH_DATA  folder with the published matrices                  [../shared/data where it is]
# SANITIZE    gtest filter of the cases run under compute-sanitizer
# Every step has a limit of its own; a step that fails does not keep the next ones from running.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

BUILD=${BUILD:-build/gpu}
OUT=${OUT:-$BUILD/out}
SANITIZE=${SANITIZE:--*large*:*matrices_of_2010*:*random*:*history_and*:cg_mixed*:cg.same_bits*:cg.converged_is*:cg.an_impossible*:iterations*}
if [ -z "${VOUCH_DATA:-}" ] && [ -d ../shared/data ]; then VOUCH_DATA=../shared/data; fi
[ -n "${VOUCH_DATA:-}" ] && VOUCH_DATA=$(realpath "$VOUCH_DATA") && export VOUCH_DATA
CORES=$(nproc)
mkdir -p "$BUILD" "$OUT"
failed=()

# say TEXT...: a line with the seconds since the start.
say() { printf '%5d s  %s\n' "$SECONDS" "$*"; }

# verdict NAME CODE
verdict() {
  if [ "$2" -eq 0 ]; then say "$1: passed"; else say "$1: FAILED ($2)"; failed+=("$1"); fi
}

step_build() {
  {
    timeout 60 cmake -S . -B "$BUILD" -G Ninja -DCMAKE_BUILD_TYPE=Release -DVOUCH_CUDA=ON -DVOUCH_TESTS=ON &&
      timeout "${BUILD_LIMIT:-480}" cmake --build "$BUILD" -j "$CORES"
  } >"$OUT/build.log" 2>&1
  local code=$?
  [ $code -ne 0 ] && grep -E -A5 "error|FAILED" "$OUT/build.log" | head -60
  verdict build $code
}

step_tests() {
  local log=$OUT/tests.log program code all=0
  : >"$log"
  for program in "$BUILD"/tests/*/test_*; do
    if [ ! -f "$program" ] || [ ! -x "$program" ]; then continue; fi
    VOUCH_REQUIRE_GPU=1 timeout "${TEST_LIMIT:-120}" "$program" --gtest_brief=1 >>"$log" 2>&1
    code=$?
    [ $code -ne 0 ] && all=1
    say "$(basename "$program"): $([ $code -eq 0 ] && echo passed || echo "FAILED ($code)")"
  done
  grep -E "^\[  FAILED  \]|Failure|rror:" "$log" | head -40
  verdict tests $all
}

# One tool on the programs that have kernels of their own; each pair runs by itself, all at the same time.
step_sanitize() {
  local log=$OUT/sanitize.log tool room program part code all=0 pids=() parts=()
  local folder
  folder=$(mktemp -d)
  for tool in memcheck racecheck initcheck; do
    for room in core sparse solve solve/precond; do
      program=$BUILD/tests/$room/test_$(basename "$room")
      [ -x "$program" ] || continue
      part=$folder/$tool.$(basename "$room")
      OMP_NUM_THREADS=2 VOUCH_LOOP_ON_HOST=1 timeout "${SANITIZE_LIMIT:-240}" compute-sanitizer --tool "$tool" --error-exitcode 9 --report-api-errors no \
        --print-limit 20 "$program" --gtest_brief=1 --gtest_filter="$SANITIZE" \
        >"$part" 2>&1 &
      pids+=($!)
      parts+=("$part")
    done
  done
  : >"$log"
  for k in "${!pids[@]}"; do
    wait "${pids[$k]}"
    code=$?
    [ $code -ne 0 ] && all=1
    say "$(basename "${parts[$k]}"): $([ $code -eq 0 ] && echo clean || echo "FAILED ($code)")"
    { echo "== $(basename "${parts[$k]}"), exit code $code"; head -c 1000000 "${parts[$k]}"; } >>"$log"
    [ $code -ne 0 ] && grep -E "=========|FAILED|Failure" "${parts[$k]}" | head -20
  done
  rm -r "$folder"
  verdict sanitize $all
}

step_spmv() {
  timeout "${SPMV_LIMIT:-120}" "$BUILD/bench/bench_spmv" --json "$OUT/spmv.json" >"$OUT/spmv.txt" 2>&1
  local code=$?
  cat "$OUT/spmv.txt"
  verdict spmv $code
}

step_cg() {
  # CG_OPTIONS is a list of words.
  # shellcheck disable=SC2086
  timeout "${CG_LIMIT:-400}" "$BUILD/bin/vouch" bench cg -o "$OUT/cg.json" --html "$OUT/cg.html" ${CG_OPTIONS:-} \
    >"$OUT/cg.txt" 2>&1
  local code=$?
  grep -A100 "^The bars" "$OUT/cg.txt" || tail -20 "$OUT/cg.txt"
  verdict cg $code
}

for step in "${@:-build}"; do
  case $step in
    build | tests | sanitize | spmv | cg) ;;
    *)
      echo "unknown step '$step': build, tests, sanitize, spmv, cg" >&2
      exit 2
      ;;
  esac
done
[ $# -eq 0 ] && set -- build tests sanitize spmv cg
for step in "$@"; do
  say "$step"
  "step_$step"
  [ "$step" = build ] && [ ${#failed[@]} -gt 0 ] && break
done
[ ${#failed[@]} -eq 0 ] || { say "failed: ${failed[*]}"; exit 1; }
say "all passed"
