#!/usr/bin/env bash
# keystone.sh start|stop|resume|status: OpenStack Keystone (PyPI) on SQLite with fernet tokens, seeded by keystone_seed.py.
# For tests of outages, `resume` starts it as an earlier start has configured and seeded it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"
. "$root/scripts/lib/secret.sh"

venv=$cache/keystone/venv
dir=$state/keystone
url=http://127.0.0.1:${port[keystone]}/v3
seed=$root/scripts/services/keystone_seed.py

# Where single sign-on may send a token: Portico's address in this stack, and the one that tests give their own gateways.
dashboards() {
  local origin
  for origin in "https://localhost:${port[gateway]}" "http://localhost:${port[gateway]}" http://localhost:8080; do
    echo "trusted_dashboard = $origin/oauth2/websso"
  done | sort -u
}

# Federation by header: any client that reaches this port can set the identity of a user (WSGI sees the header OIDC-CLAIM-EMAIL as
# HTTP_OIDC_CLAIM_EMAIL), as behind a web server that does the sign-in. So the port is this machine's only.
federation() {
  [ "$with_federation" = yes ] || return 0
  cat <<CONF
[federation]
remote_id_attribute = HTTP_OIDC_ISS
sso_callback_template = $venv/etc/keystone/sso_callback_template.html
$(dashboards)
CONF
}

configure() {
  local federated=
  [ "$with_federation" != yes ] || federated=,openid
  mkdir -p "$dir"/{fernet,receipt,credential}
  cat > "$dir/keystone.conf" <<CONF
[DEFAULT]
log_dir = $state/log
log_file = keystone.log
public_endpoint = http://127.0.0.1:${port[keystone]}
[database]
connection = sqlite:///$dir/keystone.db
[auth]
# totp is not in Keystone's default list
methods = external,password,token,mapped,application_credential,totp$federated
[token]
provider = fernet
expiration = ${KEYSTONE_TOKEN_SECONDS:-3600}
# with several threads Keystone may continue to use a cached token after a role was taken away, for up to ten minutes
caching = false
cache_on_issue = false
[fernet_tokens]
key_repository = $dir/fernet
[fernet_receipts]
key_repository = $dir/receipt
[receipt]
expiration = 300
[credential]
key_repository = $dir/credential
[identity]
# the default of 12 costs a quarter of a second of CPU for each sign-in; these are throwaway passwords
password_hash_rounds = 4
[cache]
# without a cache one validation costs some 400 ms; it lives in the process, hence one worker
enabled = true
backend = dogpile.cache.memory
$(federation)
CONF
  # Keystone's configuration parser would take the server's own arguments for its own
  cat > "$dir/portico_keystone.py" <<'PY'
import sys
import threading

import sqlalchemy
from oslo_db.sqlalchemy import engines
from sqlalchemy import event, pool

# a context switch after each transaction, which is for servers without threads
engines._thread_yield = lambda _connection, _record: None
create_engine = sqlalchemy.create_engine


def create_engine_with_pool(url, **arguments):
    """oslo.db opens SQLite's file for each transaction, which is a third of the time of a request."""
    if arguments.get("poolclass") is pool.NullPool:
        arguments.update(poolclass=pool.QueuePool, pool_pre_ping=False)
    return create_engine(url, **arguments)


@event.listens_for(pool.Pool, "connect")
def connect(connection, _record):
    for pragma in ("journal_mode=WAL", "synchronous=OFF"):
        connection.execute(f"PRAGMA {pragma}")


@event.listens_for(pool.Pool, "checkin")
def checkin(_connection, record):
    """Forgets that a transaction has begun, which oslo.db does after a commit or rollback only."""
    record.info.pop("in_transaction", None)


sqlalchemy.create_engine = create_engine_with_pool
sys.argv = sys.argv[:1]
from keystone.server.wsgi import initialize_public_application  # noqa: E402

keystone = initialize_public_application()
one_at_a_time = threading.Lock()


def application(environ, start_response):
    # SQLite refuses the second of two transactions that read and then write, at once and for good
    with one_at_a_time:
        return keystone(environ, start_response)
PY
}

manage() {
  PYTHONWARNINGS=ignore "$venv/bin/keystone-manage" --config-file "$dir/keystone.conf" "$@" >> "$state/log/keystone-manage.log" 2>&1 ||
    die "keystone-manage $1 failed; see $state/log/keystone-manage.log"
}

# What fernet_setup, receipt_setup and credential_setup make: a staged key and a primary one in each repository. Each of these
# commands takes a processor a second and more to load Keystone.
make_keys() {
  local key
  for key in "$dir"/{fernet,receipt,credential}/{0,1}; do
    [ ! -s "$key" ] || continue
    # moved into its place when it is complete: Keystone would take a part of one for a key
    head -c 32 /dev/urandom | base64 | tr -d '\n' | tr '+/' '-_' > "$dir/new-key"
    mv "$dir/new-key" "$key"
  done
}

bootstrap() {
  [ ! -e "$dir/bootstrapped" ] || return 0
  make_keys
  manage db_sync
  OS_BOOTSTRAP_PASSWORD=$(cat "$dir/admin-password") manage bootstrap --bootstrap-region-id RegionOne \
    --bootstrap-public-url "$url" --bootstrap-internal-url "$url" --bootstrap-admin-url "$url"
  touch "$dir/bootstrapped"
}

resume() {
  # threads that read requests, one of which is answered at a time: with a single thread, a connection that a client has
  # opened and not used yet would keep all other clients waiting
  if ! running keystone; then
    (
      cd "$dir"
      OS_KEYSTONE_CONFIG_FILES=$dir/keystone.conf PYTHONWARNINGS=ignore launch keystone \
        "$venv/bin/gunicorn" --no-control-socket --bind "127.0.0.1:${port[keystone]}" --workers 1 --worker-class gthread --threads 16 \
        --keep-alive 30 --graceful-timeout 3 portico_keystone:application
    )
  fi
  wait_until 60 keystone answers "$url"
}

start() {
  [ -x "$venv/bin/gunicorn" ] || die "Keystone is not installed: run scripts/services/keystone-install.sh first"
  configure
  keep_secret "$dir/admin-password"
  keep_secret "$state/demo-password"
  bootstrap
  resume
  OIDC_ISSUER=$([ "$with_federation" != yes ] || echo "http://127.0.0.1:${port[oidc_corp]}") \
    python3 "$seed" "$url" "$dir/admin-password" "$state/demo-password" "$dir/seed.json"
  publish
}

publish() {
  env_set KEYSTONE_URL "$url" KEYSTONE_ADMIN_PASSWORD "$(cat "$dir/admin-password")" \
    DEMO_PASSWORD "$(cat "$state/demo-password")"
  local name value pairs=()
  while IFS='=' read -r name value; do pairs+=("$name" "$value"); done \
    < <(python3 "$seed" --print-env "$dir/seed.json")
  env_set "${pairs[@]}"
}

case ${1:-} in
  start | resume) "$1" ;;
  stop) terminate keystone 10 ;;
  status) status_line keystone "$url" ;;
  *) die "usage: keystone.sh start|stop|resume|status" ;;
esac
