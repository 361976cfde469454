#!/usr/bin/env bash
# alertmanager.sh start|stop|status: holds the alerts that Prometheus raises. Debian's has no pages of its own.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"
. "$root/scripts/lib/apps.sh"

unpacked=$cache/debian
listen=127.0.0.1:${port[alertmanager]}

# Debian's Alertmanager reads its templates from a fixed path below /usr/share: it gets a view of its own of that directory.
overlaid='mount -t overlay overlay -o "lowerdir=$0/usr/share:/usr/share" /usr/share && exec "$0/usr/bin/prometheus-alertmanager" "$@"'

start() {
  mkdir -p "$state/alertmanager"
  running alertmanager || launch alertmanager unshare --mount --propagation private sh -c "$overlaid" "$unpacked" \
    --config.file="$root/deploy/demo/alertmanager.yaml" --storage.path="$state/alertmanager" --log.level=warn \
    --web.listen-address="$listen" --cluster.listen-address= --web.external-url="$(app_url alertmanager)/" --web.route-prefix=/
  wait_until 30 alertmanager answers "http://$listen/-/ready"
  env_set ALERTMANAGER_URL "$(app_url alertmanager)" ALERTMANAGER_DIRECT_URL "http://$listen"
}

case ${1:-} in
  start) start ;;
  stop) terminate alertmanager 5 ;;
  status) status_line alertmanager "http://$listen" ;;
  *) die "usage: alertmanager.sh start|stop|status" ;;
esac
