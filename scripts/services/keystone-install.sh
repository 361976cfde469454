#!/usr/bin/env bash
# keystone-install.sh: Keystone and its server from PyPI into a virtual environment in the cache, versions pinned.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"
. "$root/scripts/lib/python.sh"

install_python_service keystone 'gunicorn.app.wsgiapp, keystone.cmd.manage, keystone.server.wsgi'
