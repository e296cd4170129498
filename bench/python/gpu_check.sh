#!/usr/bin/env bash
# The Python package on a machine with a GPU: builds the extension against a library that is built, runs the tests of arrays
# on a GPU, and measures against CuPy's conjugate gradients in one process.
#
#   bench/python/gpu_check.sh BUILD [MODULES]
#
# BUILD    build folder of the library with CUDA, such as build/gpu
# MODULES  folder with the Python package nanobind, where it is not installed
#
# Needs CMake, a C++ compiler, and Python with NumPy, SciPy, CuPy; PyTorch and pytest where they are. No network.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1 modules=${2:+$(realpath "$2")}
work=$build/python
python=${PYTHON:-python3}
export PYTHONPATH=$modules${PYTHONPATH:+:$PYTHONPATH}
mkdir -p "$work/site/vouchnum"
cmake --install "$build" --prefix "$work/library" >/dev/null
cmake -S python -B "$work/extension" -DCMAKE_BUILD_TYPE=Release -DPython_EXECUTABLE="$(command -v "$python")" \
  -Dvouch_DIR="$PWD/$work/library/lib/cmake/vouch" >"$work/configure.log" || { tail -20 "$work/configure.log"; exit 1; }
cmake --build "$work/extension" -j "$(nproc)" >"$work/build.log" 2>&1 || { grep -A5 error "$work/build.log" | head -40; exit 1; }
cp python/vouchnum/* "$work/extension"/_core*.so "$work/site/vouchnum"
ls -l "$work"/site/vouchnum/_core*.so
export PYTHONPATH=$PWD/$work/site:$PYTHONPATH
begin=$SECONDS
"$python" bench/python/gpu_check.py
echo "checks and measurements: $((SECONDS - begin)) s"
if "$python" -c 'import pytest' 2>/dev/null; then
  "$python" -m pytest -q -p no:cacheprovider -rs python/tests/test_linalg.py -k 'gpu or devices'
fi
