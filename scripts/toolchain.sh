#!/usr/bin/env bash
# toolchain.sh: the browser's compile target and the npm packages of package-lock.json, where they are missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=wasm32-unknown-unknown
if command -v rustup > /dev/null && ! rustup target list --installed | grep -qx $target; then
  rustup target add $target
fi
if ! cmp -s package-lock.json node_modules/.installed-lock; then
  npm ci --no-audit --no-fund
  cp package-lock.json node_modules/.installed-lock
fi
