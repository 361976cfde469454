#!/usr/bin/env bash
# magnum-install.sh: Magnum from PyPI into a virtual environment in the cache, versions pinned.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"
. "$root/scripts/lib/python.sh"

requirements=$root/scripts/services/magnum-requirements.txt
venv=$cache/magnum/venv
stamp=$cache/magnum/installed

mkdir -p "$cache/magnum"
exec 9> "$cache/magnum/lock"
flock 9
if has_python_environment "$venv" && cmp -s "$requirements" "$stamp"; then exit 0; fi

rm -f "$stamp"
python_environment "$venv" --requirement "$requirements"
# most of the packages' files are tests and clients that never run: only what the service imports is compiled
PYTHONWARNINGS=ignore "$venv/bin/python" -c 'import magnum.api.app, magnum.conductor.handlers.cluster_conductor, magnum.service.periodic'
cp "$requirements" "$stamp"
