#!/usr/bin/env bash
# oidc.sh start|stop|status: two OpenID Providers side by side (npm's certified oidc-provider, in memory), with rotation of
# refresh tokens; users alice (groups k8s-admins, ops), bob (developers) and carol, password NAME-pw. How tests steer them
# stands in deploy/demo/oidc-provider/provider.mjs.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"
. "$root/scripts/lib/apps.sh"

dir=$state/oidc
names=(corp partner)

# the registration of every Portico instance of the stack as one client
clients() {
  local id=$1 url redirects="" outs="" origins
  origins=("$(portico_url)")
  [ "$with_plain_instance" != yes ] || origins+=("http://localhost:${port[plain_gateway]}")
  for url in "${origins[@]}"; do
    redirects+="${redirects:+,}\"$url/oauth2/callback/$id\""
    outs+="${outs:+,}\"$url/oauth2/signed_out\""
  done
  printf '[{"client_id":"portico","client_secret":"%s","redirect_uris":[%s],"post_logout_redirect_uris":[%s],' \
    "$(cat "$dir/client-secret")" "$redirects" "$outs"
  printf '"backchannel_logout_uri":"%s/oauth2/backchannel_logout","backchannel_logout_session_required":true,' "${origins[0]}"
  printf '"grant_types":["authorization_code","refresh_token"],"response_types":["code"]}]'
}

start() {
  local name
  mkdir -p "$dir"
  [ -s "$dir/client-secret" ] || printf portico-secret > "$dir/client-secret"
  for name in "${names[@]}"; do
    # the CA of the stack's own HTTPS, for back-channel logout
    running "oidc-$name" || MODULES=$cache/oidc-provider/node_modules NODE_EXTRA_CA_CERTS=$installation/tls/ca.crt \
      launch "oidc-$name" node "$root/deploy/demo/oidc-provider/provider.mjs" "${port[oidc_$name]}" "${name^}" "$(clients "$name")"
  done
  for name in "${names[@]}"; do
    wait_until 30 "oidc-$name" answers "http://127.0.0.1:${port[oidc_$name]}/.well-known/openid-configuration"
    env_set "OIDC_${name^^}_ISSUER" "http://127.0.0.1:${port[oidc_$name]}"
  done
}

status() {
  local failed=0 name
  for name in "${names[@]}"; do status_line "oidc-$name" "http://127.0.0.1:${port[oidc_$name]}" || failed=1; done
  return $failed
}

case ${1:-} in
  start) start ;;
  stop) for name in "${names[@]}"; do terminate "oidc-$name" 3; done ;;
  status) status ;;
  *) die "usage: oidc.sh start|stop|status" ;;
esac
