#!/usr/bin/env bash
# bootstrap.sh start|stop|status CLUSTER: the process that binds the pre-defined roles in every namespace of a cluster, with a
# service account that may do nothing else.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"

usage="usage: bootstrap.sh start|stop|status CLUSTER"
cluster=${2:?$usage}
binary=${PORTICO_BINARY:-$root/target/debug/portico}
name=bootstrap-$cluster

start() {
  [ -x "$binary" ] || die "$binary is not there: run scripts/build.sh first"
  running "$name" || launch "$name" env -i PATH="$PATH" HOME="$HOME" "$binary" kube-auth bootstrap --watch \
    --kubeconfig "$installation/clusters/$cluster/bootstrap.kubeconfig" --state-file "$state/$cluster/bootstrap.json" \
    --developer-role "$(env_get ROLE_ID_K8S_DEVELOPER)" --viewer-role "$(env_get ROLE_ID_K8S_VIEWER)" \
    --exclude-namespace kube-system
}

case ${1:-} in
  start) start ;;
  stop) terminate "$name" 5 ;;
  status) status_line "$name" ;;
  *) die "$usage" ;;
esac
