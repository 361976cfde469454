#!/usr/bin/env bash
# spelling.sh: checks the spelling of everything in the repository (typos), and that it uses the terms of docs/glossary.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=1.52.0
cache=${PORTICO_CACHE:-$HOME/.cache/portico}
venv=$cache/typos/$version

mkdir -p "$cache/typos"
exec 9> "$cache/typos/lock"
flock 9
if [ ! -x "$venv/bin/typos" ]; then
  source scripts/lib/python.sh
  python_environment "$venv" "typos==$version"
fi
"$venv/bin/typos" --format brief .
python3 scripts/vocabulary.py
