#!/usr/bin/env bash
# The documentation as static HTML: documents, gallery, Python and C++.
#
#   docs/site/make.sh PYTHON OUTPUT
#
# PYTHON  an interpreter with vouchnum, scipy, matplotlib, sphinx, sphinx-gallery, myst-parser and furo
# OUTPUT  a folder; html/index.html in it is the front page. Warnings are errors.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=$1 output=$2
source=$output/source
rm -rf "$source"
mkdir -p "$source/docs" "$source/python"
cp README.md CONTRIBUTING.md CHANGELOG.md "$source"
cp -r docs/*.md docs/decisions "$source/docs"
cp docs/site/conf.py docs/site/index.md "$source"
"$python" docs/site/headers.py include/vouch "$source/cpp"
{
  printf '# Decisions\n\n```{toctree}\n'
  for page in docs/decisions/*.md; do echo "${page%.md}"; done
  printf '```\n'
} >"$source/decisions.md"
{
  printf '# vouchnum\n\n```{toctree}\n'
  printf '%s\n' linalg intervals prices data calls gallery scipy errors
  printf '```\n'
} >"$source/python/index.md"
for module in linalg intervals prices data gallery scipy errors; do
  title="vouchnum.$module"
  [[ $module == gallery || $module == scipy || $module == errors ]] || title="vouchnum: $module"
  printf '%s\n%s\n\n.. automodule:: vouchnum.%s\n' "$title" "$(printf '=%.0s' $(seq ${#title}))" "$module" \
    >"$source/python/$module.rst"
done
# Of modules that are not named in programs.
cat >"$source/python/calls.rst" <<'EOF'
vouchnum: calls
===============

.. automodule:: vouchnum._threads
   :members: set_threads, threads

.. automodule:: vouchnum._progress
   :members: progress
EOF
VOUCH_ROOT=$PWD MPLBACKEND=Agg OMP_NUM_THREADS=${OMP_NUM_THREADS:-2} "$python" -m sphinx -q -W --keep-going -b html "$source" "$output/html"
echo "$output/html/index.html"
