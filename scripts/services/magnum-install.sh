#!/usr/bin/env bash
# magnum-install.sh: Magnum from PyPI into a virtual environment in the cache, versions pinned.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"
. "$root/scripts/lib/python.sh"

install_python_service magnum 'magnum.api.app, magnum.conductor.handlers.cluster_conductor, magnum.service.periodic'
