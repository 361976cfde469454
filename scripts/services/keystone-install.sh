#!/usr/bin/env bash
# keystone-install.sh: Keystone and its server from PyPI into a virtual environment in the cache, versions pinned.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"
. "$root/scripts/lib/python.sh"

requirements=$root/scripts/services/keystone-requirements.txt
venv=$cache/keystone/venv
stamp=$cache/keystone/installed

mkdir -p "$cache/keystone"
exec 9> "$cache/keystone/lock"
flock 9
if has_python_environment "$venv" && cmp -s "$requirements" "$stamp"; then exit 0; fi

rm -f "$stamp"
python_environment "$venv" --requirement "$requirements"
# most of the packages' files are tests and clients that never run: only what the service imports is compiled
PYTHONWARNINGS=ignore "$venv/bin/python" -c 'import gunicorn.app.wsgiapp, keystone.cmd.manage, keystone.server.wsgi'
cp "$requirements" "$stamp"
