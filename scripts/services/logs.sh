#!/usr/bin/env bash
# logs.sh start|stop|status: the log page (frontail, a stand-in for a logging stack) on what the pods of acme-prod write,
# collected into one file by collect_logs.py. kube-system is left out, as developers may read this page, and so is what
# `make bench-panel` prints.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"
. "$root/scripts/lib/apps.sh"

dir=$state/logs
listen=127.0.0.1:${port[logs]}

start() {
  mkdir -p "$dir"
  running log-collector || launch log-collector python3 "$root/scripts/services/collect_logs.py" --exclude kube-system --exclude bench-logs \
    --output "$dir/pods.log" "$state"/acme-prod/node-{1,2}/logs/pods
  wait_until 10 log-collector test -e "$dir/pods.log"
  # from that directory, since the page shows the path that it is given
  cd "$dir"
  running log-ui || launch log-ui node "$cache/log-ui/node_modules/frontail/bin/frontail" --disable-usage-stats \
    --host 127.0.0.1 --port "${port[logs]}" --number 200 pods.log
  wait_until 30 log-ui answers "http://$listen/"
  env_set LOGS_URL "$(app_url logs)" LOGS_DIRECT_URL "http://$listen"
}

status() {
  local failed=0
  status_line log-ui "http://$listen" || failed=1
  status_line log-collector || failed=1
  return $failed
}

case ${1:-} in
  start) start ;;
  stop)
    terminate log-ui 3
    terminate log-collector 3
    ;;
  status) status ;;
  *) die "usage: logs.sh start|stop|status" ;;
esac
