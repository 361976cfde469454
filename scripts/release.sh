#!/usr/bin/env bash
# release.sh: the program and the browser half, optimised, as they are installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/toolchain.sh
cargo run --locked --package xtask -- site --release
cargo build --locked --release --package server
