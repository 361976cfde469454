#!/usr/bin/env bash
# redis.sh start|stop|status: Redis for the store's tests; what is in it does not outlive a stop.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"

listen=127.0.0.1:${port[redis]:-0}

start() {
  command -v redis-server > /dev/null || die "Redis is missing: install the package redis-server"
  if ! running redis; then
    mkdir -p "$state/redis"
    # tests that need a disk, a password or an outage start a server of their own
    launch redis redis-server --port "${port[redis]}" --bind 127.0.0.1 --dir "$state/redis" \
      --save '' --appendonly no --maxmemory-policy noeviction
  fi
  wait_until 10 redis redis-cli -h 127.0.0.1 -p "${port[redis]}" ping
  env_set REDIS_URL "redis://$listen/0"
}

stop() {
  terminate redis 5
  rm -rf "$state/redis"
}

case ${1:-} in
  start | stop) "$1" ;;
  status) status_line redis "$listen" ;;
  *) die "usage: redis.sh start|stop|status" ;;
esac
