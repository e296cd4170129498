#!/usr/bin/env bash
# Builds and checks everything on a machine with a GPU, and measures it.
#
#   bench/gpu_run.sh [build] [tests] [sanitize] [spmv] [SUITE]...     all of them without arguments
#
# SUITE is one of vouch bench: amg, auto, cg, complex, krylov, tridiagonal, stationary, sweeps, interval-blas, crank-nicolson, options, reduce,
# verify.
#
# BUILD       build folder                                        [build/gpu]
# OUT         folder for logs and results                         [BUILD/out]
# SUITE_OPTIONS   words for every suite, such as --devices gpu
# VOUCH_DATA  folder with the published matrices                  [../shared/data where it is]
# SANITIZE_SKIP, RACECHECK_SKIP   pattern of the tests too long for compute-sanitizer, for its racecheck
# Every step has a limit of its own; a step that fails does not keep the next ones from running.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

BUILD=${BUILD:-build/gpu}
OUT=${OUT:-$BUILD/out}
SANITIZE_SKIP=${SANITIZE_SKIP:-large|matrices_of_2010|history_and|same_bits|converged_is|impossible|iterations_fall|fall_on|is_the_polynomial|while_graph|monitor_sees|members_on_one_gpu|two_gpus|/1[.]}
RACECHECK_SKIP=${RACECHECK_SKIP:-agrees_with_dense|fixed_limited|cg_mixed|neumann|units_of|user|indefinite|judged|any_preconditioner|triangular|first_iterates|block_jacobi_is|every_layout_gives}
if [ -z "${VOUCH_DATA:-}" ] && [ -d ../shared/data ]; then VOUCH_DATA=../shared/data; fi
[ -n "${VOUCH_DATA:-}" ] && VOUCH_DATA=$(realpath "$VOUCH_DATA") && export VOUCH_DATA
CORES=$(nproc)
SUITES="amg auto cg classify complex crank-nicolson direct interval-blas krylov options read reduce stationary sweeps tridiagonal verify"
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
    timeout 60 cmake -S . -B "$BUILD" -G Ninja -DCMAKE_BUILD_TYPE=Release -DVOUCH_CUDA=ON -DVOUCH_TESTS=ON -DVOUCH_BENCH=ON &&
      timeout "${BUILD_LIMIT:-480}" cmake --build "$BUILD" -j "$CORES"
  } >"$OUT/build.log" 2>&1
  local code=$?
  [ $code -ne 0 ] && grep -E -A5 "error:|FAILED" "$OUT/build.log" | head -60
  verdict build $code
}

step_tests() {
  local log=$OUT/tests.log program code all=0
  : >"$log"
  for program in $(find "$BUILD/tests" -name 'test_*' -type f -executable | sort); do
    VOUCH_REQUIRE_GPU=1 timeout "${TEST_LIMIT:-120}" "$program" --gtest_brief=1 >>"$log" 2>&1
    code=$?
    [ $code -ne 0 ] && all=1
    say "$(basename "$program"): $([ $code -eq 0 ] && echo passed || echo "FAILED ($code)")"
  done
  grep -E "^\[  FAILED  \]|Failure|rror:" "$log" | head -40
  verdict tests $all
}

# sanitize_case TOOL PROGRAM TEST FOLDER: one line on stdout, "clean", "no kernels" or what went wrong.
sanitize_case() {
  local log code
  log=$4/$1.$(echo "$3" | tr -c 'a-zA-Z0-9_.\n' '-')
  OMP_NUM_THREADS=2 VOUCH_LOOP_ON_HOST=1 timeout "${SANITIZE_LIMIT:-200}" compute-sanitizer --tool "$1" \
    --error-exitcode 9 --report-api-errors no --print-limit 5 "$2" --gtest_brief=1 --gtest_filter="$3" >"$log" 2>&1
  code=$?
  if grep -q "Target application terminated before first instrumented" "$log"; then
    echo "no kernels  $1 $3"
  elif [ $code -eq 0 ]; then
    echo "clean  $1 $3"
  else
    echo "FAILED ($code)  $1 $3"
  fi
}
export -f sanitize_case

# Every test by itself under every tool, as many at a time as there are cores. Waiting in a spin is slow under
# racecheck: of the loops that stay on the GPU it sees the shortest cases.
step_sanitize() {
  local folder log=$OUT/sanitize.log tool room program skip
  folder=$(mktemp -d)
  for tool in memcheck initcheck racecheck; do
    skip=$SANITIZE_SKIP
    [ $tool = racecheck ] && skip="$skip|$RACECHECK_SKIP"
    for room in core interval dense sparse io reduce band price fingerprint solve solve/precond solve/driver verify; do
      program=$BUILD/tests/$room/test_$(basename "$room")
      [ -x "$program" ] || continue
      "$program" --gtest_list_tests | awk '/^[^ ]/ {suite = $1} /^ / {print suite $1}' | grep -vE "$skip" |
        sed "s|.*|$tool $program & $folder|"
    done
  done | xargs -P "$CORES" -L 1 bash -c 'sanitize_case "$@"' sanitize_case | sort >"$log"
  grep FAILED "$log"
  awk '{print $1}' "$log" | sort | uniq -c | tr '\n' ' '
  echo
  for program in $(awk '/^FAILED/ {print $3 "." $4}' "$log" | tr -c 'a-zA-Z0-9_.\n' '-' | head -5); do
    grep -E "=========|Failure" "$folder/$program" | head -12
  done
  rm -r "$folder"
  ! grep -q FAILED "$log"
  verdict sanitize $?
}

step_spmv() {
  timeout "${SPMV_LIMIT:-120}" "$BUILD/bench/bench_spmv" --json "$OUT/spmv.json" >"$OUT/spmv.txt" 2>&1
  local code=$?
  cat "$OUT/spmv.txt"
  verdict spmv $code
}

# suite NAME: a suite of vouch bench, its bars on stdout.
suite() {
  # SUITE_OPTIONS is a list of words.
  # shellcheck disable=SC2086
  timeout "${SUITE_LIMIT:-400}" "$BUILD/bin/vouch" bench "$1" -o "$OUT/$1.json" ${SUITE_OPTIONS:-} \
    >"$OUT/$1.txt" 2>&1
  local code=$?
  grep -A100 "^The bars" "$OUT/$1.txt" || tail -20 "$OUT/$1.txt"
  verdict "$1" $code
}

for step in "${@:-build}"; do
  case " build tests sanitize spmv $SUITES " in
    *" $step "*) ;;
    *)
      echo "unknown step '$step': build, tests, sanitize, spmv, ${SUITES// /, }" >&2
      exit 2
      ;;
  esac
done
# shellcheck disable=SC2086
[ $# -eq 0 ] && set -- build tests sanitize spmv $SUITES
for step in "$@"; do
  say "$step"
  case " $SUITES " in
    *" $step "*) suite "$step" ;;
    *) "step_$step" ;;
  esac
  [ "$step" = build ] && [ ${#failed[@]} -gt 0 ] && break
done
[ ${#failed[@]} -eq 0 ] || { say "failed: ${failed[*]}"; exit 1; }
say "all passed"
