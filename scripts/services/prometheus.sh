#!/usr/bin/env bash
# prometheus.sh start|stop|status: scrapes Portico, both clusters with kubelets, and itself; evaluates deploy/demo/alerts.yaml.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"
. "$root/scripts/lib/apps.sh"

dir=$state/prometheus
listen=127.0.0.1:${port[prometheus]}

# scrape_cluster JOB CLUSTER PATH PORT...: with the cluster's service account
scrape_cluster() {
  local job=$1 cluster=$2 path=$3 target targets=()
  shift 3
  for target in "$@"; do targets+=("\"127.0.0.1:${port[$target]}\""); done
  cat <<YAML
- job_name: $job-$cluster
  scheme: https
  metrics_path: $path
  authorization: {credentials_file: $state/$cluster/prometheus.token}
  tls_config: {ca_file: $state/$cluster/pki/ca.crt, server_name: localhost}
  static_configs: [{targets: [$(IFS=,; echo "${targets[*]}")], labels: {cluster: $cluster}}]
  relabel_configs: [{target_label: job, replacement: $job}]
  metric_relabel_configs:
  # two thirds of what an API server says are buckets
  - {source_labels: [__name__], regex: "(apiserver|etcd|workqueue|rest_client)_.*_bucket", action: drop}
YAML
}

# scrape_kubelets JOB CLUSTER PATH NODE=PORT...: with the cluster's service account, which may only `get` the nodes/metrics of
# a kubelet. The label `node` is the node's name. Of cAdvisor's metrics, only those that the panel reads.
scrape_kubelets() {
  local job=$1 cluster=$2 path=$3 pair targets=()
  shift 3
  for pair in "$@"; do
    targets+=("{targets: [\"127.0.0.1:${port[${pair#*=}]}\"], labels: {cluster: $cluster, node: ${pair%%=*}}}")
  done
  cat <<YAML
- job_name: $job-$cluster
  scheme: https
  metrics_path: $path
  authorization: {credentials_file: $state/$cluster/prometheus.token}
  tls_config: {ca_file: $state/$cluster/pki/ca.crt, server_name: localhost}
  static_configs: [$(IFS=,; echo "${targets[*]}")]
  relabel_configs: [{target_label: job, replacement: $job}]
YAML
  if [ "$path" = /metrics/cadvisor ]; then
    cat <<'YAML'
  metric_relabel_configs:
  - {source_labels: [__name__], regex: "container_(cpu_usage_seconds_total|memory_working_set_bytes)", action: keep}
YAML
  fi
}

scrape_plain() {
  printf -- '- job_name: %s\n  static_configs: [{targets: ["127.0.0.1:%s"]}]\n' "$1" "${port[$2]}"
}

configure() {
  local acme_nodes=(acme-node-1=acme_kubelet_1 acme-node-2=acme_kubelet_2)
  mkdir -p "$dir/data"
  {
    cat <<YAML
global: {scrape_interval: 15s, evaluation_interval: 10s}
rule_files: [$root/deploy/demo/alerts.yaml]
alerting: {alertmanagers: [{static_configs: [{targets: ["127.0.0.1:${port[alertmanager]}"]}]}]}
scrape_configs:
YAML
    scrape_plain portico admin
    scrape_plain prometheus prometheus
    scrape_plain alertmanager alertmanager
    scrape_cluster apiserver acme-prod /metrics acme_api
    scrape_cluster apiserver globex-dev /metrics globex_api
    scrape_cluster scheduler acme-prod /metrics acme_scheduler
    scrape_cluster scheduler globex-dev /metrics globex_scheduler
    scrape_cluster controller-manager acme-prod /metrics acme_controllers
    scrape_cluster controller-manager globex-dev /metrics globex_controllers
    scrape_cluster probes acme-prod /metrics/probes acme_kubelet_1 acme_kubelet_2
    scrape_kubelets pods acme-prod /metrics/resource "${acme_nodes[@]}"
    scrape_kubelets cadvisor acme-prod /metrics/cadvisor "${acme_nodes[@]}"
  } > "$dir/prometheus.yaml"
}

start() {
  configure
  running prometheus || launch prometheus "$cache/debian/usr/bin/prometheus" --config.file="$dir/prometheus.yaml" \
    --storage.tsdb.path="$dir/data" --storage.tsdb.retention.time=2d --web.listen-address="$listen" \
    --web.external-url="$(app_url prometheus)/" --web.route-prefix=/ --log.level=warn \
    --web.local-assets="$cache/debian/usr/share/prometheus/web"
  wait_until 30 prometheus answers "http://$listen/-/ready"
  env_set PROMETHEUS_URL "$(app_url prometheus)" PROMETHEUS_DIRECT_URL "http://$listen"
}

case ${1:-} in
  start) start ;;
  stop) terminate prometheus 5 ;;
  status) status_line prometheus "http://$listen" ;;
  *) die "usage: prometheus.sh start|stop|status" ;;
esac
