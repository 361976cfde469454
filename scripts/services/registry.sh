#!/usr/bin/env bash
# registry.sh start|stop|status: the docker registry, with a few small repositories pushed by registry_seed.py.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"
. "$root/scripts/lib/apps.sh"

dir=$state/registry
listen=127.0.0.1:${port[registry]}

start() {
  mkdir -p "$dir/data"
  sed -e "s|@DATA@|$dir/data|" -e "s|@LISTEN@|$listen|" "$root/deploy/demo/registry.yaml.in" > "$dir/registry.yaml"
  # it would send its traces to a collector that is not there
  running registry || OTEL_TRACES_EXPORTER=none launch registry "$cache/debian/usr/bin/docker-registry" serve "$dir/registry.yaml"
  wait_until 30 registry answers "http://$listen/v2/"
  python3 "$root/scripts/services/registry_seed.py" "http://$listen"
  env_set REGISTRY_URL "$(app_url registry)" REGISTRY_DIRECT_URL "http://$listen"
}

case ${1:-} in
  start) start ;;
  stop) terminate registry 5 ;;
  status) status_line registry "http://$listen" ;;
  *) die "usage: registry.sh start|stop|status" ;;
esac
