#!/usr/bin/env bash
# kubectl-current.sh: a current kubectl beside the 1.20 one, from the Debian release after this one, unpacked and not
# installed: $cache/kubernetes/bin/kubectl-current.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/stack.sh"
. "$root/scripts/lib/debian.sh"
umask 022

release=trixie
target=$cache/kubernetes/bin/kubectl-current
work=$cache/kubectl-work

mkdir -p "$cache/kubernetes/bin" "$work"
exec 9> "$cache/kubernetes/.kubectl-lock"
flock 9
[ ! -x "$target" ] || exit 0

private_apt "$work/apt" "$release"
unpack_debian "$work" "$work/unpacked" kubectl
"$work/unpacked/usr/bin/kubectl" version --client > /dev/null 2>&1 ||
  die "the kubectl of Debian $release does not run on this machine"
mv "$work/unpacked/usr/bin/kubectl" "$target"
rm -rf "$work"
