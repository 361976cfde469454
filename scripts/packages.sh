#!/usr/bin/env bash
# packages.sh [test|bench]: installs the Debian packages that the stack, the tests too, or the benchmarks need and this machine lacks.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib/stack.sh"

needed=()
# wants PACKAGE COMMAND...: the package, unless the command succeeds
wants() {
  local package=$1
  shift
  "$@" > /dev/null 2>&1 || needed+=("$package")
}
has() { command -v "$1"; }

wants ca-certificates test -s /etc/ssl/certs/ca-certificates.crt
wants curl has curl
wants dpkg-dev has dpkg-source
wants gcc has cc
wants iproute2 has ip
wants jq has jq
wants libc6-dev test -e /usr/include/stdio.h
wants openssl has openssl
wants python3 test -x /usr/bin/python3
wants python3-venv python3 -c 'import ensurepip, venv'
wants util-linux has unshare
wants xz-utils has xz
if [ "${1:-}" = test ]; then
  wants apache2 test -x /usr/sbin/apache2
  wants caddy has caddy
  wants chromium-headless-shell test -x /usr/bin/chromium-headless-shell
  wants haproxy test -x /usr/sbin/haproxy
  wants nginx test -x /usr/sbin/nginx
  wants postgresql compgen -G '/usr/lib/postgresql/*/bin/initdb'
  wants redis-server has redis-server
  wants redis-tools has redis-cli
  wants systemd has systemd-analyze
fi
if [ "${1:-}" = bench ]; then
  wants apache2 test -x /usr/sbin/apache2
  wants libapache2-mod-auth-openidc test -e /usr/lib/apache2/modules/mod_auth_openidc.so
  wants nginx test -x /usr/sbin/nginx
  wants valgrind has vgdb
  wants wrk has wrk
fi
[ ${#needed[@]} -gt 0 ] || exit 0

# a package that brings a service must not start it: the stack starts its own
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  printf '#!/bin/sh\nexit 101\n' > $policy
  chmod 755 $policy
  trap 'rm -f $policy' EXIT
fi

export DEBIAN_FRONTEND=noninteractive
apt() { apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -qq "$@"; }

install() { apt install --yes --no-install-recommends "${needed[@]}"; }

# what an interrupted run left half done is finished first
repair() {
  dpkg --configure -a
  apt install --yes --fix-broken
}

say "installing ${needed[*]}"
[ -z "$(dpkg --audit)" ] || repair
apt update
install || { repair && install; }
