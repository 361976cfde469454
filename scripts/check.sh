#!/usr/bin/env bash
# check.sh [build|tests|sources]: everything that needs no services: formatting, lints for server and browser, types, tests.
# `build`, `tests` and `sources` (tests that read the sources only) are its parts, without the lints of the browser half: test.sh
# builds that in between, which lints it.
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

build() {
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
  stage "tests of the build's scripts" node --test xtask/src/*.test.mjs
  stage "build and lints" cargo build --locked "${test_targets[@]}"
}

browser_lints() {
  stage "lints, browser" cargo clippy --locked --package app --features hydrate --lib --target wasm32-unknown-unknown -- -D warnings
}

# the binaries called services, attacks and replicas want running ones; scripts/test.sh gives it them
tests() {
  stage "tests without services" env -u PORTICO_TEST_ENV cargo nextest run --locked --workspace \
    -E 'not (binary(services) or binary(attacks) or binary(replicas) or package(portico-testkit))'
}

# no time limit, and no test beside them, concerns these
sources() {
  stage "tests of the sources" cargo nextest run --profile sources --locked --workspace -E 'package(portico-testkit)'
}

case ${1:-all} in
  all)
    build
    browser_lints
    tests
    sources
    ;;
  build | tests | sources) "$1" ;;
  *)
    echo "usage: check.sh [build|tests|sources]" >&2
    exit 2
    ;;
esac
