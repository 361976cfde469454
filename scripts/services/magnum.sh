#!/usr/bin/env bash
# magnum.sh start|stop|resume|status|check, or conductor stop|start: OpenStack Magnum (PyPI; API and conductor in one process, SQLite) beside this stack's
# Keystone, with drivers of its own and a stand-in for Nova, Neutron, Cinder, Octavia and Glance; seeded templates and clusters.
# `check` waits until the seeded clusters are in their states and lists all of them. For tests of failures, `conductor stop` and
# `conductor start` do as they say, while the API continues to answer, and `resume` starts both processes as an earlier start has
# configured and seeded them.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"
. "$root/scripts/lib/secret.sh"

venv=$cache/magnum/venv
here=$root/scripts/services/magnum
dir=$state/magnum
keystone_url=http://127.0.0.1:${port[keystone]}/v3
cloud_url=http://127.0.0.1:${port[cloud]}
url=http://127.0.0.1:${port[magnum]}/v1
seed_options=()
[ "$with_magnum_clusters" = yes ] || seed_options=(--without-clusters)

credentials() {
  cat <<CONF
auth_type = password
auth_url = $keystone_url
username = magnum
password = $(cat "$dir/password")
project_name = service
user_domain_name = Default
project_domain_name = Default
CONF
}

configure() {
  cat > "$dir/magnum.conf" <<CONF
[DEFAULT]
# API and conductor are one process, so messages stay in its memory
transport_url = fake://
host = magnum.localhost
log_dir = $state/log
log_file = magnum-service.log
state_path = $dir
periodic_interval_max = 1
# after which GET /mservices reports a stopped conductor; serve.py makes it report itself every 2 s
service_down_time = 10
[database]
connection = sqlite:///$dir/magnum.db
[api]
host = 127.0.0.1
port = ${port[magnum]}
api_paste_config = $venv/etc/magnum/api-paste.ini
[certificates]
# in Magnum's database; there is no Barbican
cert_manager_type = x509keypair
[oslo_concurrency]
lock_path = $dir
[oslo_messaging_notifications]
driver = noop
[keystone_authtoken]
www_authenticate_uri = $keystone_url
service_token_roles_required = true
# a token that ends or is revoked is refused soon after: tests have such
token_cache_time = 2
$(credentials)
[keystone_auth]
$(credentials)
CONF
}

start_cloud() {
  running cloud || (
    cd "$here"
    launch cloud "$venv/bin/python" -m cloud "${port[cloud]}" "$keystone_url" "$dir/cloud.json" "$dir/cloud-key"
  )
  wait_until 20 cloud answers "$cloud_url/image/"
}

start_magnum() {
  running magnum || (
    cd "$dir"
    PYTHONWARNINGS=ignore PYTHONPATH=$here/drivers PORTICO_MAGNUM_STATE=$dir PORTICO_STACK_STATE=$state \
      PORTICO_CLOUD_URL=$cloud_url PORTICO_CLOUD_KEY_FILE=$dir/cloud-key PORTICO_KUBERNETES=$cache/kubernetes \
      PORTICO_INSTALLATION=$installation PORTICO_KUBE_AUTH_URL=https://127.0.0.1:${port[kube_auth]} \
      PORTICO_LOCAL_PORTS=${port[local_clusters]} \
      launch magnum "$venv/bin/python" "$here/serve.py" "$dir/magnum.conf" "${port[magnum]}"
  )
  wait_until 60 magnum answers "$url/"
}

resume() {
  start_cloud
  start_magnum
}

start() {
  [ -x "$venv/bin/python" ] || die "Magnum is not installed: run scripts/services/magnum-install.sh first"
  # another stack's Keystone may listen on the port of a profile
  running keystone || die "this stack's Keystone does not run: run scripts/services/keystone.sh start first"
  mkdir -p "$dir"
  keep_secret "$dir/password"
  keep_secret "$dir/cloud-key"
  configure
  python3 "$here/seed_keystone.py" "${seed_options[@]}" "$keystone_url" "$state/keystone/admin-password" "$dir/password" \
    "${port[magnum]}" "${port[cloud]}" "$dir/keystone-seed.json"
  resume
  python3 "$here/seed_clusters.py" "${seed_options[@]}" "$keystone_url" "$state/keystone/admin-password" \
    "$state/demo-password" "$url" "$dir/clusters-seed.json"
  env_set MAGNUM_URL "$url" MAGNUM_PID_FILE "$state/run/magnum.pid" CLOUD_STAND_IN_URL "$cloud_url" CLOUD_STAND_IN_KEY_FILE "$dir/cloud-key"
}

# local_processes: the names of all processes of clusters that the driver k8s_local has started
local_processes() {
  local record
  for record in "$state"/run/local/*/*.pid; do
    [ ! -e "$record" ] || { record=${record#"$state/run/"} && echo "${record%.pid}"; }
  done
}

stop() {
  local name
  # the conductor first, which would start them again
  terminate magnum 5
  for name in $(local_processes); do terminate "$name" 5 & done
  wait
  terminate cloud 3
}

status() {
  local failed=0 name
  status_line magnum "$url" || failed=1
  status_line cloud "$cloud_url (stand-in for Nova, Neutron, Cinder, Octavia, Glance)" || failed=1
  for name in $(local_processes); do status_line "$name" || failed=1; done
  return $failed
}

check() {
  running magnum || die "Magnum does not run"
  [ "$with_magnum_clusters" = yes ] || die "the profile $profile has no clusters to check"
  python3 "$here/seed_clusters.py" --check "$keystone_url" "$state/demo-password" "$url"
}

conductor() {
  running magnum || die "Magnum does not run"
  case ${1:-} in
    stop) kill -USR1 "$(pid_of magnum)" ;;
    start) kill -USR2 "$(pid_of magnum)" ;;
    *) die "usage: magnum.sh conductor stop|start" ;;
  esac
}

case ${1:-} in
  start | stop | resume | status | check) "$1" ;;
  conductor) conductor "${2:-}" ;;
  *) die "usage: magnum.sh start|stop|resume|status|check, or conductor stop|start" ;;
esac
