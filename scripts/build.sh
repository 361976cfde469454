#!/usr/bin/env bash
# build.sh [OPTION...]: the program (development profile) and the browser half (release), as the demo and the tests run them.
# Options are for cargo. test.sh builds the tests too, and the browser half beside other stages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/toolchain.sh
# always the whole workspace: a single package would be built with other features, and again
cargo build --locked --workspace "$@"
target/debug/xtask site --release
