#!/usr/bin/env bash
# heat.sh start|stop|status: OpenStack Heat (PyPI; API and engine in one process, SQLite) beside this stack's Keystone. Stacks with
# OS::Heat::TestResource give real events without Nova.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"
. "$root/scripts/lib/secret.sh"

venv=$cache/heat/venv
here=$root/scripts/services/heat
dir=$state/heat
keystone_url=http://127.0.0.1:${port[keystone]}/v3
url=http://127.0.0.1:${port[heat]}

credentials() {
  cat <<CONF
auth_type = password
auth_url = $keystone_url
username = heat
password = $(cat "$dir/password")
user_domain_name = Default
CONF
}

configure() {
  cat > "$dir/heat.conf" <<CONF
[DEFAULT]
# API and engine are one process, so messages stay in its memory
transport_url = fake://
host = heat.localhost
log_dir = $state/log
log_file = heat-service.log
num_engine_workers = 1
executor_thread_pool_size = 16
region_name_for_services = RegionOne
auth_encryption_key = $(cut -c1-16 "$dir/encryption-key")
stack_user_domain_name = heat
stack_domain_admin = heat_domain_admin
stack_domain_admin_password = $(cat "$dir/password")
# without Nova and Swift
default_software_config_transport = POLL_SERVER_HEAT
default_deployment_signal_transport = HEAT_SIGNAL
[database]
connection = sqlite:///$dir/heat.db
[paste_deploy]
api_paste_config = $venv/etc/heat/api-paste.ini
[oslo_concurrency]
lock_path = $dir
[oslo_messaging_notifications]
driver = noop
[clients_keystone]
auth_uri = $keystone_url
[keystone_authtoken]
www_authenticate_uri = $keystone_url
project_name = service
project_domain_name = Default
token_cache_time = 2
$(credentials)
[trustee]
$(credentials)
CONF
}

start() {
  [ -x "$venv/bin/python" ] || die "Heat is not installed: run scripts/services/heat-install.sh first"
  # another stack's Keystone may listen on the port of a profile
  running keystone || die "this stack's Keystone does not run: run scripts/services/keystone.sh start first"
  mkdir -p "$dir"
  keep_secret "$dir/password"
  keep_secret "$dir/encryption-key"
  configure
  python3 "$here/seed_keystone.py" "$keystone_url" "$state/keystone/admin-password" "$dir/password" "${port[heat]}"
  running heat || (
    cd "$dir"
    PYTHONWARNINGS=ignore launch heat "$venv/bin/python" "$here/serve.py" "$dir/heat.conf" "${port[heat]}"
  )
  # without a token Heat answers with its versions, and status 300
  wait_until 60 heat answers "$url/"
  env_set HEAT_URL "$url"
}

case ${1:-} in
  start) start ;;
  stop) terminate heat 5 ;;
  status) status_line heat "$url" ;;
  *) die "usage: heat.sh start|stop|status" ;;
esac
