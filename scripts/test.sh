#!/usr/bin/env bash
# test.sh services|e2e|all|bench-kube-auth|bench-gateway|bench-panel|bench-cluster|soak|stop: tests and benchmarks against real services. The test stack is started when it does not run, and left running
# for the next time (`all` stops it if it started it; it ends with the time of each stage and the ten slowest tests). With PORTICO_TEST_ENV set, the stack of that env file is used.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
unset PORTICO_STATE
export PORTICO_PROFILE=test
source scripts/lib/lints.sh

stage() { scripts/timed.sh "$@"; }

service_programs() {
  local magnum= heat=
  scripts/packages.sh test
  scripts/preflight.sh
  # they only download and unpack, while the others compile
  if [ "${PORTICO_WITHOUT_MAGNUM:-}" != 1 ]; then
    scripts/services/magnum-install.sh &
    magnum=$!
    scripts/services/heat-install.sh &
    heat=$!
  fi
  scripts/kubernetes/build.sh
  scripts/kubernetes/kubectl-current.sh
  scripts/services/keystone-install.sh
  scripts/services/debian-install.sh
  scripts/services/logs-install.sh
  scripts/services/oidc-install.sh
  [ -z "$magnum" ] || wait "$magnum"
  [ -z "$heat" ] || wait "$heat"
}
export -f service_programs

# side by side: the browser half is linked by one thread, and the programs are in part downloaded
build_and_programs() {
  local log programs result=0
  log=$(mktemp)
  stage "programs of the services" bash -euc service_programs > "$log" 2>&1 < /dev/null &
  programs=$!
  stage "build" scripts/build.sh --all-targets || result=$?
  wait "$programs" || result=$?
  cat "$log"
  rm "$log"
  return $result
}

prepare() {
  [ -z "${prepared:-}" ] || return 0
  prepared=yes
  if [ -n "${PORTICO_TEST_ENV:-}" ]; then
    PORTICO_TEST_ENV=$(realpath "$PORTICO_TEST_ENV")
  else
    build_and_programs
    restart_portico
    stage "test stack" scripts/stack.sh up
    PORTICO_TEST_ENV=$PWD/.test/env
  fi
  export PORTICO_TEST_ENV
}

# a stack from an earlier run has an older program
restart_portico() {
  local cluster
  scripts/services/portico.sh stop
  scripts/services/portico.sh stop plain
  for cluster in acme-prod globex-dev; do scripts/services/bootstrap.sh stop "$cluster"; done
}

services() {
  prepare
  stage "alert rules" scripts/alert-rules.sh
  stage "reference pages" python3 scripts/reference.py "${CARGO_TARGET_DIR:-target}/debug/portico" --check
  local tests='binary(services) or binary(attacks) or binary(replicas)'
  if [ "${PORTICO_WITHOUT_MAGNUM:-}" = 1 ]; then tests="($tests) and not (package(portico-cli) and binary(services))"; fi
  stage "tests with services" cargo nextest run --profile services --locked --workspace -E "$tests" --no-tests pass
}

e2e() {
  prepare
  stage "browser tests" npm test --workspace end2end
}

# both in one command: one at a time would be built with other features, and again
release_build() {
  stage "release build" cargo build --locked --release -p server -p portico-bench
}

# what the programs are measured beside
compared_programs() {
  scripts/packages.sh bench
  scripts/services/oidc-install.sh
}
export -f compared_programs

bench=${CARGO_TARGET_DIR:-target}/release/portico-bench

bench_kube_auth() {
  prepare
  release_build
  stage "benchmark" "$bench" kube-auth "$@"
}

bench_gateway() {
  prepare
  stage "programs to compare with" bash -euc compared_programs
  release_build
  stage "benchmark" "$bench" gateway "$@"
}

# browser_builds [--binary PROGRAM --site DIR]: with both, builds that exist are measured and no release build is made
browser_builds() {
  case " $* " in
    *" --binary "*)
      stage "build of the benchmark" cargo build --locked --workspace --bin portico-bench
      bench=${CARGO_TARGET_DIR:-target}/debug/portico-bench
      ;;
    *)
      release_build
      stage "release build, browser" cargo run --locked --package xtask -- site --release
      ;;
  esac
}

bench_panel() {
  prepare
  browser_builds "$@"
  stage "benchmark" "$bench" panel "$@"
}

bench_cluster() {
  prepare
  browser_builds "$@"
  stage "benchmark" "$bench" cluster "$@"
}

soak() {
  prepare
  stage "programs to compare with" bash -euc compared_programs
  release_build
  stage "soak, kube-auth" "$bench" soak-kube-auth
  stage "soak, gateway" "$bench" soak-gateway "$@"
}

all() {
  local ours=yes
  ! scripts/stack.sh status > /dev/null 2>&1 || ours=no
  [ -z "${PORTICO_TEST_ENV:-}" ] || ours=no
  if [ $ours = yes ]; then trap 'scripts/stack.sh down' EXIT; fi
  PORTICO_STAGE_TIMES=$(mktemp)
  export PORTICO_STAGE_TIMES
  stage "check" scripts/check.sh --without-browser
  services
  local nextest=${CARGO_TARGET_DIR:-target}/nextest page
  local results=("$nextest/default/junit.xml" "$nextest/services/junit.xml")
  for page in docs/kube-auth/compared.md docs/gateway/compared.md; do
    stage "comparison with others" python3 scripts/compared.py "$page" "${results[@]}"
  done
  e2e
  for page in docs/panel/compared.md docs/panel/flaws.md docs/panel/needs.md docs/lifecycle/compared.md; do
    stage "comparison with others" python3 scripts/compared.py "$page" "${results[@]}" end2end/test-results/junit.xml
  done
  printf '\nTime of each stage:\n'
  cat "$PORTICO_STAGE_TIMES"
  rm "$PORTICO_STAGE_TIMES"
  python3 scripts/slowest.py "${results[@]}" end2end/test-results/junit.xml
  printf '\nAll passed in %d min %02d s.\n' $((SECONDS / 60)) $((SECONDS % 60))
}

# a conductor that works each second beside what is measured would be measured too
case ${1:-} in bench-kube-auth | bench-gateway | bench-panel | soak) export PORTICO_WITHOUT_MAGNUM=1 ;; esac

case ${1:-} in
  services | e2e | all) "$1" ;;
  bench-kube-auth) bench_kube_auth "${@:2}" ;;
  bench-gateway) bench_gateway "${@:2}" ;;
  bench-panel) bench_panel "${@:2}" ;;
  bench-cluster) bench_cluster "${@:2}" ;;
  soak) soak "${@:2}" ;;
  stop) scripts/stack.sh down ;;
  *)
    echo "usage: test.sh services|e2e|all|bench-kube-auth|bench-gateway|bench-panel|bench-cluster|soak|stop" >&2
    exit 2
    ;;
esac
