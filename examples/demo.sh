#!/usr/bin/env bash
# demo.sh VOUCH FOLDER -- generates a 3D elasticity problem of about 100,000 unknowns, looks at it, solves it, and
# says what was done; the files stay in FOLDER.
set -euo pipefail
tool=$(realpath "$1")
mkdir -p "$2"
cd "$2"
exec 2>&1  # one log in the order in which things happen
PATH=$(dirname "$tool"):$PATH

step() {
  echo
  echo "\$ $*"
  "$@"
}

step vouch gen elasticity-3d -n 64 --ny 22 --nz 22 -o beam.mtx --rhs load.mtx --solution smooth
step vouch info beam.mtx
step vouch solve beam.mtx --rhs load.mtx --precond ic0 -o displacement.npy --history history.csv --plot convergence.svg

echo
echo "What was done: an elastic beam of 64 x 22 x 22 finite elements, held at one end, was written as a Matrix"
echo "Market file; its linear system was solved by preconditioned conjugate gradients; and the residual of the"
echo "solution that was written was recomputed in twice the precision: that is the verdict above."
echo
echo "The files are in $PWD:"
for line in "beam.mtx         the matrix" "load.mtx         the right-hand side" "displacement.npy the solution" \
  "history.csv      the residual of every iteration" "convergence.svg  the same as a plot: open it in a browser"; do
  printf '  %s\n' "$line"
done
