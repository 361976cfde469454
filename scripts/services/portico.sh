#!/usr/bin/env bash
# portico.sh init, or start|stop|status [plain]: Portico with all roles in one process; `plain` is the test stack's second one,
# on plain HTTP, with sessions of its own and the same clusters and keys. `init` writes keys, certificates and configuration.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"
. "$root/scripts/lib/apps.sh"
. "$root/scripts/services/kubernetes/settings.sh"
. "$root/scripts/services/portico/installation.sh"
. "$root/scripts/services/portico/config.sh"

binary=${PORTICO_BINARY:-$root/target/debug/portico}
instance=${2:-main}
portico_instance "$instance"

# Portico reads PORTICO_* as configuration: it gets a clean environment, in which this stack's variables are not.
clean() { env -i PATH="$PATH" HOME="$HOME" "$@"; }

publish() {
  case $instance in
    main)
      env_set PORTICO_URL "$public_url" PORTICO_ADMIN_URL "http://127.0.0.1:$admin_port" PORTICO_BIN "$binary" \
        KUBE_AUTH_URL "https://127.0.0.1:${port[kube_auth]}" KUBE_AUTH_CA_FILE "$installation/tls/ca.crt" \
        KUBE_AUTH_CLIENTS_CA_FILE "$installation/ca/api-servers-ca.crt" \
        PORTICO_CONFIG "$base:$config" PORTICO_DATABASE "$database" PORTICO_LOG "$state/log/$process.log"
      if [ "$with_hostile_app" = yes ]; then
        env_set HOSTILE_URL "$(app_url hostile)" HOSTILE_UPSTREAM "http://127.0.0.1:${port[hostile]}"
      fi
      if [ "$gateway_tls" = yes ]; then env_set PORTICO_CA_FILE "$installation/tls/ca.crt"; fi
      ;;
    plain) env_set PORTICO_PLAIN_URL "$public_url" PORTICO_PLAIN_ADMIN_URL "http://127.0.0.1:$admin_port" ;;
  esac
}

need_program() { [ -x "$binary" ] || die "$binary is not there: run scripts/build.sh first"; }

init() {
  need_program
  write_installation
}

start() {
  need_program
  [ -s "$installation/portico.toml" ] || die "there is no installation yet: scripts/stack.sh up writes it"
  write_cluster_list_keys
  write_configuration
  publish
  running "$process" ||
    launch "$process" env -i PATH="$PATH" HOME="$HOME" "$binary" --config "$base" --config "$config" all
  wait_until 60 "$process" answers "http://127.0.0.1:$admin_port/live"
}

case ${1:-} in
  init) init ;;
  start) start ;;
  stop) terminate "$process" 10 ;;
  status) status_line "$process" "$public_url" ;;
  *) die "usage: portico.sh init, or start|stop|status [plain]" ;;
esac
