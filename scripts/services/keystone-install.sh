#!/usr/bin/env bash
# keystone-install.sh: Keystone and its server from PyPI into a virtual environment in the cache, versions pinned.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"

requirements=$root/scripts/services/keystone-requirements.txt
venv=$cache/keystone/venv
stamp=$cache/keystone/installed

mkdir -p "$cache/keystone"
exec 9> "$cache/keystone/lock"
flock 9
! cmp -s "$requirements" "$stamp" || exit 0

rm -rf "$venv" "$stamp"
python3 -m venv "$venv"
# most of what pip would compile are tests and clients that never run: only what the service imports is compiled
"$venv/bin/pip" install --quiet --disable-pip-version-check --no-compile --requirement "$requirements"
PYTHONWARNINGS=ignore "$venv/bin/python" -c 'import gunicorn.app.wsgiapp, keystone.cmd.manage, keystone.server.wsgi'
cp "$requirements" "$stamp"
