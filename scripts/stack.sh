#!/usr/bin/env bash
# stack.sh up [--without-portico] | down | status: all services of a profile (PORTICO_PROFILE, default demo), in the order in
# which they need one another. Up on a running stack starts only what is missing.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib/stack.sh"
. "$root/scripts/lib/steps.sh"

services=$root/scripts/services
seed=$root/scripts/seed
clusters=(acme-prod globex-dev)

one_at_a_time() {
  exec 9> "$state/run/stack.lock"
  if ! flock --nonblock 9; then
    note "another start or stop is at work; waiting for it"
    flock 9
  fi
}

start_services() {
  step_begin "Keystone" "about 10 s" "$services/keystone.sh" start
  step_begin "etcd and two nodes of acme-prod" "about 8 s" "$services/kubernetes.sh" prepare acme-prod
  step_begin "etcd of globex-dev" "about 1 s" "$services/kubernetes.sh" prepare globex-dev
  step_begin "Alertmanager" "about 1 s" "$services/alertmanager.sh" start
  step_begin "Registry, with images" "about 2 s" "$services/registry.sh" start
  if [ "$with_postgres" = yes ]; then step_begin "PostgreSQL" "about 3 s" "$services/postgres.sh" start; fi
  if [ "$with_redis" = yes ]; then step_begin "Redis" "about 1 s" "$services/redis.sh" start; fi
  steps_finish
  # it needs Keystone's projects and roles, and the API servers need its webhook files
  step "Keys, certificates, configuration" "about 1 s" "$services/portico.sh" init
  step_begin "Kubernetes acme-prod" "about 10 s" "$services/kubernetes.sh" start acme-prod
  step_begin "Kubernetes globex-dev" "about 8 s" "$services/kubernetes.sh" start globex-dev
  if [ "$with_oidc" = yes ]; then step_begin "OpenID Providers, two" "about 2 s" "$services/oidc.sh" start; fi
  # it needs Keystone only, and waits for it for most of its time
  if [ "$with_magnum" = yes ]; then step_begin "Magnum, with its templates" "about 12 s" "$services/magnum.sh" start; fi
  steps_finish
  # after Magnum's: both add a project and roles to Keystone
  if [ "$with_heat" = yes ]; then step_begin "Heat" "about 5 s" "$services/heat.sh" start; fi
  step_begin "Workloads and roles in acme-prod" "about 4 s" "$seed/apply.sh" acme-prod
  step_begin "Workloads and roles in globex-dev" "about 3 s" "$seed/apply.sh" globex-dev
  if [ "$record_keystone" = yes ]; then step_begin "Recorder before Keystone" "about 1 s" "$services/recorder.sh" start; fi
  steps_finish
  # beside Portico: neither needs the other to start
  step_begin "Prometheus" "about 1 s" "$services/prometheus.sh" start
  step_begin "Log page" "about 1 s" "$services/logs.sh" start
}

begin_portico() {
  local cluster
  step_begin "Portico" "about 2 s" "$services/portico.sh" start
  if [ "$with_plain_instance" = yes ]; then step_begin "Portico on plain HTTP" "about 2 s" "$services/portico.sh" start plain; fi
  for cluster in "${clusters[@]}"; do
    step_begin "Role bindings in $cluster" "about 1 s" "$services/bootstrap.sh" start "$cluster"
  done
}

up() {
  one_at_a_time
  save_ports
  env_set STATE "$state"
  start_services
  if [ "${1:-}" != --without-portico ]; then begin_portico; fi
  steps_finish
}

stopping=()

# stop SERVICE [ARGUMENT]: in the background; each may wait for its own requests and connections
stop() {
  "$services/$1.sh" stop "${@:2}" &
  stopping+=($!)
}

until_stopped() {
  local pid failed=0
  for pid in "${stopping[@]}"; do wait "$pid" || failed=1; done
  stopping=()
  return $failed
}

down() {
  local cluster failed=0
  one_at_a_time
  # what uses the others
  for cluster in "${clusters[@]}"; do stop bootstrap "$cluster"; done
  if [ "$with_plain_instance" = yes ]; then stop portico plain; fi
  stop portico
  # whether or not this start would have it: an earlier one may have
  stop heat
  stop magnum
  stop logs
  stop prometheus
  until_stopped || failed=1
  for cluster in "${clusters[@]}"; do stop kubernetes "$cluster"; done
  if [ "$with_postgres" = yes ]; then stop postgres; fi
  if [ "$with_redis" = yes ]; then stop redis; fi
  if [ "$with_oidc" = yes ]; then stop oidc; fi
  stop registry
  stop alertmanager
  if [ "$record_keystone" = yes ]; then stop recorder; fi
  stop keystone
  until_stopped || failed=1
  return $failed
}

status() {
  local failed=0 cluster
  "$services/portico.sh" status || failed=1
  if [ "$with_plain_instance" = yes ]; then "$services/portico.sh" status plain || failed=1; fi
  for cluster in "${clusters[@]}"; do "$services/bootstrap.sh" status "$cluster" || failed=1; done
  "$services/keystone.sh" status || failed=1
  if [ "$record_keystone" = yes ]; then "$services/recorder.sh" status || failed=1; fi
  for cluster in "${clusters[@]}"; do "$services/kubernetes.sh" status "$cluster" || failed=1; done
  "$services/prometheus.sh" status || failed=1
  "$services/alertmanager.sh" status || failed=1
  "$services/registry.sh" status || failed=1
  "$services/logs.sh" status || failed=1
  if [ "$with_magnum" = yes ]; then "$services/magnum.sh" status || failed=1; fi
  if [ "$with_heat" = yes ]; then "$services/heat.sh" status || failed=1; fi
  if [ "$with_postgres" = yes ]; then "$services/postgres.sh" status || failed=1; fi
  if [ "$with_redis" = yes ]; then "$services/redis.sh" status || failed=1; fi
  if [ "$with_oidc" = yes ]; then "$services/oidc.sh" status || failed=1; fi
  return $failed
}

case ${1:-} in
  up) up "${2:-}" ;;
  down) down ;;
  status) status ;;
  *) die "usage: stack.sh up [--without-portico] | down | status" ;;
esac
