#!/usr/bin/env bash
# heat-install.sh: Heat from PyPI into a virtual environment in the cache, versions pinned.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"
. "$root/scripts/lib/python.sh"

install_python_service heat 'heat.api.openstack.v1, heat.db.api, heat.engine.service'
