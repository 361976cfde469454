#!/usr/bin/env bash
# portico.sh start|stop|status [plain]: Portico with all roles in one process; `plain` is the test stack's second one, on
# plain HTTP, with sessions of its own and the same clusters.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"
. "$root/scripts/lib/apps.sh"
. "$root/scripts/lib/pki.sh"
. "$root/scripts/services/portico/config.sh"

binary=${PORTICO_BINARY:-$root/target/debug/portico}
instance=${2:-main}
portico_instance "$instance"

# Portico reads PORTICO_* as configuration: it gets a clean environment, in which this stack's variables are not.
clean() { env -i PATH="$PATH" HOME="$HOME" "$@"; }

make_certificates() {
  local pki=$state/pki
  pki_authority "$pki" kube-auth-ca portico-kube-auth-ca
  pki_authority "$pki" kube-auth-clients-ca portico-kube-auth-clients-ca
  pki_leaf "$pki" kube-auth kube-auth-ca /CN=portico-kube-auth serverAuth DNS:localhost,IP:127.0.0.1
  [ "$gateway_tls" = yes ] || return 0
  pki_authority "$pki" gateway-ca portico-test-ca
  pki_leaf "$pki" gateway gateway-ca /CN=localhost serverAuth \
    "DNS:localhost,DNS:*.apps.localhost,DNS:prometheus.apps.localhost,DNS:alertmanager.apps.localhost,DNS:registry.apps.localhost,DNS:logs.apps.localhost,DNS:hostile.apps.localhost,IP:127.0.0.1"
}

publish() {
  case $instance in
    main)
      env_set PORTICO_URL "$public_url" PORTICO_ADMIN_URL "http://127.0.0.1:$admin_port" PORTICO_BIN "$binary" \
        KUBE_AUTH_URL "https://127.0.0.1:$kube_auth_port" KUBE_AUTH_CA_FILE "$state/pki/kube-auth-ca.crt" \
        KUBE_AUTH_CLIENTS_CA_FILE "$state/pki/kube-auth-clients-ca.crt" \
        PORTICO_CONFIG "$config" PORTICO_DATABASE "$state/$process.db" PORTICO_LOG "$state/log/$process.log"
      if [ "$with_hostile_app" = yes ]; then
        env_set HOSTILE_URL "$(app_url hostile)" HOSTILE_UPSTREAM "http://127.0.0.1:${port[hostile]}"
      fi
      if [ "$gateway_tls" = yes ]; then env_set PORTICO_CA_FILE "$state/pki/gateway-ca.crt"; fi
      ;;
    plain) env_set PORTICO_PLAIN_URL "$public_url" PORTICO_PLAIN_ADMIN_URL "http://127.0.0.1:$admin_port" ;;
  esac
}

start() {
  [ -x "$binary" ] || die "$binary is not there: run scripts/build.sh first"
  make_certificates
  mkdir -p "$state/keys"
  # only those that are missing
  clean "$binary" keys generate --out "$state/keys" > "$state/log/keys.log" 2>&1 || die "see $state/log/keys.log"
  write_portico_config
  publish
  running "$process" || launch "$process" env -i PATH="$PATH" HOME="$HOME" "$binary" --config "$config" all
  wait_until 60 "$process" answers "http://127.0.0.1:$admin_port/live"
}

case ${1:-} in
  start) start ;;
  stop) terminate "$process" 10 ;;
  status) status_line "$process" "$public_url" ;;
  *) die "usage: portico.sh start|stop|status [plain]" ;;
esac
