#!/usr/bin/env bash
# lint-wrapper.sh RUSTC ARGUMENT...: what cargo calls as RUSTC_WORKSPACE_WRAPPER. A library is compiled twice, the second time
# with its unit tests; Clippy reads all of its code then, and the first time only the compiler's own warnings are errors.
# Clippy reads what is compiled once: programs, integration tests, the browser half, and libraries with `test = false`. Code for
# `cfg(not(test))` would not be read; a test refuses it. Cargo does not notice changes of this file: run `cargo clean` after one.
set -euo pipefail

has_unit_tests() {
  [ -n "${CARGO_MANIFEST_DIR:-}" ] || return 1
  ! awk '/^\[/ { in_lib = /^\[lib\]/ } in_lib && /^ *test *= *false/ { found = 1 } END { exit !found }' \
    "$CARGO_MANIFEST_DIR/Cargo.toml"
}

case " $* " in
  *" --test "* | *wasm32*) ;;
  *" --crate-type lib "* | *" --crate-type rlib "*) ! has_unit_tests || exec "$@" -D warnings ;;
esac
exec clippy-driver "$@"
