#!/usr/bin/env bash
# postgres.sh start|stop|status: PostgreSQL for the store's tests, on data that does not outlive a stop.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"

# as an unprivileged user, hence not below a state directory that may lie in root's home
data=/var/tmp/portico-postgres-$stack_id
listen=127.0.0.1:${port[postgres]:-0}

as_postgres() { setpriv --reuid=postgres --regid=postgres --init-groups "$@"; }

programs() {
  local found
  found=$(find /usr/lib/postgresql -path '*/bin/initdb' 2> /dev/null | sort --version-sort | tail -n 1)
  [ -n "$found" ] || die "PostgreSQL is missing: install the package postgresql"
  dirname "$found"
}

start() {
  local bin
  bin=$(programs)
  if ! running postgres; then
    rm -rf "$data"
    install -d -m 700 -o postgres -g postgres "$data"
    as_postgres "$bin/initdb" --pgdata "$data" --auth trust --username postgres --no-sync > "$state/log/initdb.log" 2>&1
    # nothing in it is worth a disk's wait
    (cd / && launch postgres setpriv --reuid=postgres --regid=postgres --init-groups "$bin/postgres" -D "$data" \
      -p "${port[postgres]}" -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off \
      -c synchronous_commit=off -c full_page_writes=off -c max_connections=300)
  fi
  wait_until 20 postgres "$bin/pg_isready" --host 127.0.0.1 --port "${port[postgres]}"
  env_set POSTGRES_URL "postgres://postgres@$listen/postgres"
}

stop() {
  terminate postgres 5
  rm -rf "$data"
}

case ${1:-} in
  start | stop) "$1" ;;
  status) status_line postgres "$listen" ;;
  *) die "usage: postgres.sh start|stop|status" ;;
esac
