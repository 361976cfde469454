#!/usr/bin/env bash
# oidc-install.sh: the OpenID Provider's modules from npm, into the cache, versions pinned by deploy/demo/oidc-provider.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"
umask 022

pinned=$root/deploy/demo/oidc-provider
target=$cache/oidc-provider

mkdir -p "$target"
exec 9> "$target/.lock"
flock 9
! cmp -s "$pinned/package-lock.json" "$target/installed" || exit 0

cp "$pinned"/package.json "$pinned"/package-lock.json "$target/"
(cd "$target" && npm ci --ignore-scripts --no-audit --no-fund --silent)
cp "$pinned/package-lock.json" "$target/installed"
