#!/usr/bin/env bash
# heat-install.sh: Heat from PyPI into a virtual environment in the cache, versions pinned.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"
. "$root/scripts/lib/python.sh"

requirements=$root/scripts/services/heat-requirements.txt
venv=$cache/heat/venv
stamp=$cache/heat/installed

mkdir -p "$cache/heat"
exec 9> "$cache/heat/lock"
flock 9
if has_python_environment "$venv" && cmp -s "$requirements" "$stamp"; then exit 0; fi

rm -f "$stamp"
python_environment "$venv" --requirement "$requirements"
# most of the packages' files are tests and clients that never run: only what the service imports is compiled
PYTHONWARNINGS=ignore "$venv/bin/python" -c 'import heat.api.openstack.v1, heat.db.api, heat.engine.service'
cp "$requirements" "$stamp"
