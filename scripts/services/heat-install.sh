#!/usr/bin/env bash
# heat-install.sh: Heat from PyPI into a virtual environment in the cache, versions pinned.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"

requirements=$root/scripts/services/heat-requirements.txt
venv=$cache/heat/venv
stamp=$cache/heat/installed

mkdir -p "$cache/heat"
exec 9> "$cache/heat/lock"
flock 9
! cmp -s "$requirements" "$stamp" || exit 0

rm -rf "$venv" "$stamp"
python3 -m venv "$venv"
# most of what pip would compile are tests and clients that never run: only what the service imports is compiled
"$venv/bin/pip" install --quiet --disable-pip-version-check --no-compile --requirement "$requirements"
PYTHONWARNINGS=ignore "$venv/bin/python" -c 'import heat.api.openstack.v1, heat.db.api, heat.engine.service'
cp "$requirements" "$stamp"
