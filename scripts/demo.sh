#!/usr/bin/env bash
# demo.sh start|stop|status|code: everything on this machine, from nothing to a URL. A second start continues where the first stopped, or does
# nothing; stop keeps what was built and the state.
set -euo pipefail
export PORTICO_PROFILE=demo
. "$(dirname "${BASH_SOURCE[0]}")/lib/stack.sh"
. "$root/scripts/lib/steps.sh"

build() {
  step_begin "Kubernetes from source" "about 5 min, once" "$root/scripts/kubernetes/build.sh"
  step_begin "Keystone from PyPI" "about 15 s, once" "$root/scripts/services/keystone-install.sh"
  if [ "$with_magnum" = yes ]; then step_begin "Magnum from PyPI" "about 15 s, once" "$root/scripts/services/magnum-install.sh"; fi
  step_begin "Prometheus and registry, unpacked" "about 20 s, once" "$root/scripts/services/debian-install.sh"
  step_begin "Log page from npm" "about 10 s, once" "$root/scripts/services/logs-install.sh"
  step_begin "OpenID Provider from npm" "about 5 s, once" "$root/scripts/services/oidc-install.sh"
  step_begin "Portico" "about 15 min the first time" "$root/scripts/build.sh"
  steps_finish
}

# not needed by the demo itself, so its absence stops nothing
second_kubectl() {
  "$root/scripts/kubernetes/kubectl-current.sh" > "$state/log/kubectl-current.log" 2>&1 ||
    note "a current kubectl could not be fetched; the one of Kubernetes 1.20 is there"
}

start() {
  say "Portico's demo. Everything listens on this machine only; a start after Ctrl-C continues where it stopped."
  "$root/scripts/preflight.sh"
  step "Debian packages" "up to 30 s, once" "$root/scripts/packages.sh"
  build
  second_kubectl
  "$root/scripts/stack.sh" up
  say ""
  say "Ready after $(human_seconds $SECONDS)."
  "$root/scripts/tour.sh"
}

code() {
  local secret
  secret=$(env_get TOTP_SECRET_MIA)
  [ -n "$secret" ] || die "the demo was not started yet: make demo"
  python3 "$root/scripts/totp.py" <<< "$secret"
}

case ${1:-} in
  start) start ;;
  stop) "$root/scripts/stack.sh" down ;;
  status) "$root/scripts/stack.sh" status ;;
  code) code ;;
  *) die "usage: demo.sh start|stop|status|code" ;;
esac
