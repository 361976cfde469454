#!/usr/bin/env bash
# preflight.sh: whether this machine can run the stack; everything missing is listed at once, with what to do about it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib/stack.sh"
. "$root/scripts/lib/python.sh"

missing=()
lacks() { missing+=("$1"$'\n'"      $2"); }
has() { command -v "$1" > /dev/null; }
# at_least HAVE WANT: versions
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort --version-sort | head -n 1)" = "$2" ]; }

check_system() {
  [ "$(id -u)" = 0 ] || lacks "root (the clusters' nodes need namespaces and cgroups)" 'run `sudo env "PATH=$PATH" "HOME=$HOME" make demo`'
  (. /etc/os-release && [ "$ID" = debian ] && [ "$VERSION_ID" = 12 ]) ||
    lacks "Debian 12" "Kubernetes is built from Debian 12's source package: use such a machine, virtual or not"
  has apt-get || lacks "apt-get" "use a Debian machine"
  local memory
  memory=$(awk '/^MemTotal/ { print int($2 / 1024 / 1024 + 0.5) }' /proc/meminfo)
  [ "$memory" -ge 6 ] || lacks "memory: there are $memory GiB, it takes 6" "give the machine more"
}

# what is built or downloaded already needs no room
check_disk() {
  local where need have
  for where in "$cache" "$state"; do
    need=2
    [ -f "$cache/kubernetes/VERSION" ] || [ "$where" != "$cache" ] || need=$((need + 4))
    [ -x "$root/target/debug/portico" ] || [ "$where" != "$state" ] || need=$((need + 10))
    have=$(df --output=avail --block-size=1G "$where" | tail -n 1 | tr -d ' ')
    [ "$have" -ge "$need" ] || lacks "disk: $have GiB are free at $where, it takes $need" \
      "make room, or point PORTICO_CACHE or PORTICO_STATE at another disk"
  done
  if [ "$(stat --file-system --format %T "$state")" = overlayfs ]; then
    lacks "a plain file system at $state (it is an overlay; a node's containers cannot lie on one)" \
      "point PORTICO_STATE at a directory on a disk or a volume"
  fi
}

# which of our processes may hold a port
holder() {
  case $1 in
    plain_*) echo portico-plain ;;
    gateway | panel | admin | kube_auth) echo portico ;;
    logs) echo log-ui ;;
    *_api) echo "$(cluster_of "$1")/kube-apiserver" ;;
    *_etcd | *_etcd_peer) echo "$(cluster_of "$1")/etcd" ;;
    *_controllers) echo "$(cluster_of "$1")/kube-controller-manager" ;;
    *_scheduler) echo "$(cluster_of "$1")/kube-scheduler" ;;
    *_kubelet_*) echo "$(cluster_of "$1")/node-${1##*_}" ;;
    *) echo "$1" ;;
  esac
}
cluster_of() { case $1 in acme_*) echo acme-prod ;; *) echo globex-dev ;; esac; }

check_ports() {
  local name used
  used=$(cat /proc/net/tcp /proc/net/tcp6 2> /dev/null | while read -r _ address _ status _; do
    [ "$status" != 0A ] || echo $((16#${address##*:}))
  done)
  for name in $(printf '%s\n' "${!port[@]}" | sort); do
    case $name in
      # the first of a range, of which free ones are taken
      local_clusters) continue ;;
      magnum | cloud) [ "$with_magnum" = yes ] || continue ;;
      heat) [ "$with_heat" = yes ] || continue ;;
    esac
    if grep -qx "${port[$name]}" <<< "$used" && ! running "$(holder "$name")"; then
      lacks "port ${port[$name]} ($name): another program listens on it" \
        "stop that program (\`ss -ltnp 'sport = :${port[$name]}'\` names it), or set STACK_PORT_${name^^} to a free port"
    fi
  done
}

check_containers() {
  local hierarchy ready=yes
  if [ -f /sys/fs/cgroup/cgroup.controllers ]; then
    for hierarchy in cpu memory pids; do
      grep -qw "$hierarchy" /sys/fs/cgroup/cgroup.controllers || ready=no
    done
    [ -w /sys/fs/cgroup ] || ready=no
  else
    for hierarchy in cpu memory pids; do
      [ -w "/sys/fs/cgroup/$hierarchy" ] || ready=no
    done
  fi
  [ $ready = yes ] || lacks "cgroups: cpu, memory and pids, writable" "use a virtual machine, or a container with its own writable cgroups"
  [ "$(id -u)" = 0 ] || return 0
  unshare --mount --pid --fork true 2> /dev/null ||
    lacks "mount and PID namespaces" "use a virtual machine, or a privileged container"
  grep -qw overlay /proc/filesystems || modprobe overlay 2> /dev/null ||
    lacks "the overlay file system" "load the kernel's module overlay"
  if has ip; then
    if ip link add "pt-check-$$" type bridge 2> /dev/null; then
      ip link delete "pt-check-$$"
    else
      lacks "network bridges" "load the kernel's module bridge, or use a virtual machine"
    fi
  fi
}

check_toolchain() {
  if ! has cargo || ! has rustc; then
    lacks "Rust 1.95 (cargo, rustc)" "install it from https://rustup.rs; with sudo, keep your PATH: \`sudo env \"PATH=\$PATH\" \"HOME=\$HOME\" make demo\`"
  elif ! has rustup && ! at_least "$(rustc --version | cut -d' ' -f2)" 1.95; then
    lacks "Rust 1.95 (rustc is $(rustc --version | cut -d' ' -f2))" "install a newer one from https://rustup.rs"
  fi
  if ! has node || ! has npm; then
    lacks "Node 20 (node, npm)" "install it, from https://nodejs.org or your distribution"
  elif ! at_least "$(node --version | tr -d v)" 20; then
    lacks "Node 20 (node is $(node --version))" "install a newer one"
  fi
  if ! has python3; then
    lacks "Python 3.11" "apt-get install python3"
  elif ! python_interpreter > /dev/null; then
    lacks "Python 3.11, which Keystone asks for (python3 is $(python3 --version | cut -d' ' -f2))" "put a newer python3 first on the PATH"
  fi
  has make || lacks "make" "apt-get install make"
}

check_system
check_disk
check_ports
check_containers
check_toolchain
[ ${#missing[@]} -gt 0 ] || exit 0
say "This machine is not ready. Missing:"
for entry in "${missing[@]}"; do say "  - $entry"; done
exit 1
