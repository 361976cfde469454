#!/usr/bin/env bash
# kubernetes.sh prepare|start|stop|status CLUSTER: one real cluster on this machine (acme-prod with two nodes, globex-dev
# without). `prepare` starts what does not need an API server, which needs the webhook's files of `portico.sh init`.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
. "$here/../lib/stack.sh"
. "$here/../lib/pki.sh"
. "$here/kubernetes/settings.sh"
. "$here/kubernetes/credentials.sh"
. "$here/kubernetes/control_plane.sh"
. "$here/kubernetes/node.sh"

usage="usage: kubernetes.sh prepare|start|stop|status CLUSTER"
cluster_settings "${2:?$usage}"

prepare() {
  [ -x "$kubernetes/bin/kube-apiserver" ] || die "Kubernetes is not built: run scripts/kubernetes/build.sh first"
  prepare_control_plane
  prepare_nodes
}

start() {
  prepare
  start_apiserver
  start_controllers
  env_set "$env_id" "$(cluster_id)" "${env_prefix}_API_URL" "$api_url" "${env_prefix}_ADMIN_KUBECONFIG" "$admin_kubeconfig" \
    "${env_prefix}_CA_FILE" "$pki/ca.crt" "${env_prefix}_AUDIT_LOG" "$state/log/$cluster/audit.log" \
    KUBECTL "$kubernetes/bin/kubectl" KUBECTL_CURRENT "$kubernetes/bin/kubectl-current"
  start_nodes
}

stop() {
  stop_nodes
  stop_control_plane
}

status() {
  local failed=0 name i
  status_line "$cluster/kube-apiserver" "$api_url" || failed=1
  for name in etcd kube-controller-manager kube-scheduler; do status_line "$cluster/$name" || failed=1; done
  for ((i = 1; i <= nodes; i++)); do status_line "$cluster/node-$i" || failed=1; done
  return $failed
}

case ${1:-} in
  prepare | start | stop | status) "$1" ;;
  *) die "$usage" ;;
esac
