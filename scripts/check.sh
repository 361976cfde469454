#!/usr/bin/env bash
# check.sh [--without-browser]: everything that needs no services: formatting, lints for server and browser, types, tests.
# Without the browser half when the site is built anyway (test.sh), which lints it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/lib/lints.sh

stage() { scripts/timed.sh "$@"; }

scripts_parse() {
  local file
  while read -r file; do bash -n "$file"; done < <(find scripts .ci -name '*.sh' -o -path .ci/run)
  python3 - <<'PY'
import ast, pathlib
for path in pathlib.Path("scripts").rglob("*.py"):
    ast.parse(path.read_text(), str(path))
PY
}
export -f scripts_parse

cargo nextest --version > /dev/null 2>&1 || {
  echo "cargo-nextest is missing: cargo install cargo-nextest --locked" >&2
  exit 1
}
stage "toolchain" scripts/toolchain.sh
stage "formatting" cargo fmt --all --check
stage "scripts" bash -euc scripts_parse
stage "spelling and terms" scripts/spelling.sh
stage "types of the browser tests" npm run --silent --workspace end2end types
stage "tests of the editor" node --test app/browser/editor/*.test.js
stage "build and lints" cargo build --locked --workspace --all-targets
[ "${1:-}" = --without-browser ] || stage "lints, browser" cargo clippy --locked --package app --features hydrate --lib --target wasm32-unknown-unknown -- -D warnings
# the binaries called services, attacks and replicas want running ones; scripts/test.sh gives it them
stage "tests without services" env -u PORTICO_TEST_ENV cargo nextest run --locked --workspace -E 'not (binary(services) or binary(attacks) or binary(replicas))'
