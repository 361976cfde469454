#!/usr/bin/env bash
# test.sh services|e2e|all|bench-kube-auth|bench-gateway|bench-panel|bench-cluster|soak|stop: tests and benchmarks against real services. The test stack is started when it does not run, and left running
# for the next time (`all` stops it if it started it; it ends with the time of each stage and the ten slowest tests). With PORTICO_TEST_ENV set, the stack of that env file is used.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
unset PORTICO_STATE
export PORTICO_PROFILE=test
source scripts/lib/lints.sh
source scripts/lib/background.sh
# kubectl, which tests start hundreds of times, ends before the memory that it would collect is missed
export GOGC=400

stage() { scripts/timed.sh "$@"; }

# what is only downloaded and unpacked
downloads() {
  scripts/services/keystone-install.sh
  if [ "${PORTICO_WITHOUT_MAGNUM:-}" != 1 ]; then
    scripts/services/magnum-install.sh
    scripts/services/heat-install.sh
  fi
  scripts/kubernetes/kubectl-current.sh
  scripts/services/debian-install.sh
  scripts/services/logs-install.sh
  scripts/services/oidc-install.sh
}

service_programs() {
  local others
  downloads &
  others=$!
  scripts/kubernetes/build.sh
  wait "$others"
}
export -f downloads service_programs

build() {
  [ -z "${built:-}" ] || return 0
  built=yes
  stage "toolchain" scripts/toolchain.sh
  stage "build" cargo build --locked "${test_targets[@]}"
}

begin_programs() {
  ! begun "programs of the services" || return 0
  stage "packages" scripts/packages.sh test
  stage "preflight" scripts/preflight.sh
  begin 10 "programs of the services" bash -euc service_programs
}

# One thread links it for minutes; only browsers need it. With a higher niceness it would be the last, and browser tests would
# wait for one thread while the other processor is idle.
begin_browser_half() { begin 10 "browser half" "${CARGO_TARGET_DIR:-target}/debug/xtask" site --release; }

prepare() {
  [ -z "${prepared:-}" ] || return 0
  prepared=yes
  if [ -n "${PORTICO_TEST_ENV:-}" ]; then
    PORTICO_TEST_ENV=$(realpath "$PORTICO_TEST_ENV")
  else
    begin_programs
    build
    finish "programs of the services"
    stop_portico
    stage "test stack" scripts/stack.sh up
    PORTICO_TEST_ENV=$PWD/.test/env
  fi
  export PORTICO_TEST_ENV
}

# prepare_browsers: the same, with the browser half
prepare_browsers() {
  if [ -z "${PORTICO_TEST_ENV:-}" ]; then
    begin_programs
    build
    begin_browser_half
  fi
  prepare
  begun "browser half" || return 0
  finish "browser half"
  stage "Portico with the browser half" bash -euc restart_portico
}

restart_instance() {
  scripts/services/portico.sh stop "$1"
  scripts/services/portico.sh start "$1"
}

# it reads the names of the browser half's files when it starts; each instance waits for its own connections
restart_portico() {
  local instance pid pids=() failed=0
  for instance in main plain; do
    restart_instance "$instance" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
  return $failed
}
export -f restart_instance restart_portico

# a stack from an earlier run has an older program
stop_portico() {
  local cluster
  scripts/services/portico.sh stop
  scripts/services/portico.sh stop plain
  for cluster in acme-prod globex-dev; do scripts/services/bootstrap.sh stop "$cluster"; done
}

services() {
  prepare
  begin 10 "alert rules" scripts/alert-rules.sh
  begin 10 "reference pages" python3 scripts/reference.py "${CARGO_TARGET_DIR:-target}/debug/portico" --check
  local tests='binary(services) or binary(attacks) or binary(replicas)'
  if [ "${PORTICO_WITHOUT_MAGNUM:-}" = 1 ]; then tests="($tests) and not (package(portico-cli) and binary(services))"; fi
  stage "tests with services" cargo nextest run --profile services --locked --workspace -E "$tests" --no-tests pass
  finish "alert rules"
  finish "reference pages"
}

e2e() {
  prepare_browsers
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
  prepare_browsers
  release_build
  stage "benchmark" "$bench" kube-auth "$@"
}

bench_gateway() {
  prepare_browsers
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
  prepare_browsers
  browser_builds "$@"
  stage "benchmark" "$bench" panel "$@"
}

bench_cluster() {
  prepare_browsers
  browser_builds "$@"
  stage "benchmark" "$bench" cluster "$@"
}

soak() {
  prepare_browsers
  stage "programs to compare with" bash -euc compared_programs
  stage "longer search of the fuzz targets" env -u PORTICO_TEST_ENV PORTICO_FUZZ_SECONDS=60 cargo nextest run --locked --workspace -E 'test(/fuzz/)'
  release_build
  stage "soak, kube-auth" "$bench" soak-kube-auth
  stage "soak, gateway" "$bench" soak-gateway "$@"
}

# ends what still runs; a stack that `all` has started too
at_exit() {
  end_begun
  [ -z "${ours:-}" ] || scripts/stack.sh down
}
trap at_exit EXIT

all() {
  if [ -z "${PORTICO_TEST_ENV:-}" ] && ! scripts/stack.sh status > /dev/null 2>&1; then ours=yes; fi
  PORTICO_STAGE_TIMES=$(mktemp)
  export PORTICO_STAGE_TIMES
  # tests wait for most of their time: what compiles beside them takes little longer
  [ -n "${PORTICO_TEST_ENV:-}" ] || begin_programs
  stage "check, build" scripts/check.sh build
  built=yes
  [ -n "${PORTICO_TEST_ENV:-}" ] || begin_browser_half
  # they need a processor only: they take what tests that wait leave
  begin 19 "check, sources" scripts/check.sh sources
  stage "check, tests" scripts/check.sh tests
  services
  local nextest=${CARGO_TARGET_DIR:-target}/nextest page
  local results=("$nextest"/{default,services}/junit.xml)
  for page in docs/kube-auth/compared.md docs/gateway/compared.md; do
    stage "comparison with others" python3 scripts/compared.py "$page" "${results[@]}"
  done
  e2e
  finish "check, sources"
  results+=("$nextest/sources/junit.xml" end2end/test-results/junit.xml)
  for page in docs/panel/compared.md docs/panel/flaws.md docs/panel/needs.md docs/lifecycle/compared.md; do
    stage "comparison with others" python3 scripts/compared.py "$page" "${results[@]}"
  done
  printf '\nTime of each stage:\n'
  cat "$PORTICO_STAGE_TIMES"
  rm "$PORTICO_STAGE_TIMES"
  python3 scripts/slowest.py "${results[@]}"
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
