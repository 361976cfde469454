#!/usr/bin/env bash
# debian-install.sh: Prometheus, Alertmanager and the docker registry from Debian's packages, unpacked to $cache/debian.
# They are not installed: as system services they would start at boot, on every interface.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"
. "$root/scripts/lib/debian.sh"
umask 022

packages=(
  prometheus prometheus-alertmanager docker-registry
  # what Prometheus' pages load
  fonts-glyphicons-halflings libjs-bootstrap4 libjs-d3 libjs-eonasdan-bootstrap-datetimepicker libjs-jquery
  libjs-jquery-hotkeys libjs-moment libjs-moment-timezone libjs-mustache libjs-popper.js libjs-rickshaw
)
target=$cache/debian
work=$cache/debian-work

mkdir -p "$target" "$work"
exec 9> "$target/.lock"
flock 9
[ "$(cat "$target/PACKAGES" 2> /dev/null)" != "${packages[*]}" ] || exit 0

private_apt "$work/apt"
unpack_debian "$work" "$target" "${packages[@]}"
echo "${packages[*]}" > "$target/PACKAGES"
rm -rf "$work"
