#!/usr/bin/env bash
# recorder.sh start|stop|status: a proxy between Portico and Keystone that writes down every token it sees. Tests only.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"

recording=$state/recording/keystone.jsonl

start() {
  mkdir -p "$(dirname "$recording")"
  running recorder || launch recorder python3 "$root/scripts/services/recording_proxy.py" --listen "127.0.0.1:${port[recorder]}" \
    --upstream "127.0.0.1:${port[keystone]}" --output "$recording"
  wait_until 20 recorder answers "http://127.0.0.1:${port[recorder]}/v3"
  env_set KEYSTONE_RECORDING "$recording" KEYSTONE_RECORDER_URL "http://127.0.0.1:${port[recorder]}/v3"
}

case ${1:-} in
  start) start ;;
  stop) terminate recorder 3 ;;
  status) status_line recorder "http://127.0.0.1:${port[recorder]}/v3" ;;
  *) die "usage: recorder.sh start|stop|status" ;;
esac
