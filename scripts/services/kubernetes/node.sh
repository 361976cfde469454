# Nodes that run pods: a containerd and a kubelet each, in mount and PID namespaces of their own. Sourced.
# The namespaces keep a node's fixed paths and all its mounts apart from the machine's and from other nodes', and make
# stopping simple: with the first process of a PID namespace the kernel ends everything in it, pods included.

node_settings() {
  number=$1
  node=$node_prefix$number
  node_dir=$dir/node-$number
  node_cgroup=$cgroup/$cluster-$number
  # a socket's path may have 107 characters, a state directory more
  socket_dir=/run/portico-$stack_id
  socket=$socket_dir/$cluster-$number.sock
}

containerd_client() { "$kubernetes/bin/ctr" --address "$socket" --namespace k8s.io "$@"; }

make_cgroup() {
  local hierarchy group
  # version 1: the group must exist in each hierarchy, and a new cpuset group is empty until filled
  while read -r hierarchy; do
    for group in "$cgroup" "$node_cgroup"; do
      mkdir -p "$hierarchy/$group"
      if [ -f "$hierarchy/$group/cpuset.cpus" ]; then
        cat "$hierarchy/cpuset.cpus" > "$hierarchy/$group/cpuset.cpus"
        cat "$hierarchy/cpuset.mems" > "$hierarchy/$group/cpuset.mems"
      fi
    done
  done < <(awk '$3 == "cgroup" { print $2 }' /proc/mounts)
  # version 2 alone: one hierarchy, whose controllers are handed down
  if [ -f /sys/fs/cgroup/cgroup.controllers ]; then
    mkdir -p "/sys/fs/cgroup/$node_cgroup"
    local above controller
    for above in "" "/$cgroup"; do
      for controller in $(cat "/sys/fs/cgroup$above/cgroup.controllers"); do
        # some cannot be handed down; those that the kubelet needs can
        echo "+$controller" > "/sys/fs/cgroup$above/cgroup.subtree_control" 2> /dev/null || true
      done
    done
  fi
}

remove_cgroups() {
  local i hierarchy left
  for ((i = 0; i < 100; i++)); do # a group can go once the last of its processes has
    left=no
    while read -r hierarchy; do
      [ -d "$hierarchy/$cgroup" ] || continue
      # until the last process has gone: retried below, and reported if it stays
      find "$hierarchy/$cgroup" -depth -type d -exec rmdir {} + 2> /dev/null || true
      [ ! -d "$hierarchy/$cgroup" ] || left=yes
    done < <(awk '$3 == "cgroup" || $3 == "cgroup2" { print $2 }' /proc/mounts)
    [ $left = yes ] || return 0
    sleep 0.1
  done
}

# Without CAP_SYS_RESOURCE (bit 24; some sandboxes take it away) nothing can lower its OOM score, and runc would fail.
must_restrict_oom_score() {
  local capabilities
  capabilities=$(awk '/^CapEff/ { print $2 }' /proc/self/status)
  if (((0x$capabilities >> 24) & 1)); then echo false; else echo true; fi
}

write_node_configuration() {
  cat > "$node_dir/cni/10-pods.conflist" <<JSON
{"cniVersion": "0.4.0", "name": "pods", "plugins": [{
  "type": "bridge", "bridge": "$bridge", "isGateway": false, "ipMasq": false, "hairpinMode": true,
  "ipam": {"type": "host-local", "dataDir": "$node_dir/cni/addresses", "ranges": [[{
    "subnet": "$pod_network.0.0/16", "rangeStart": "$pod_network.$number.2", "rangeEnd": "$pod_network.$number.254"}]]}}]}
JSON
  cat > "$node_dir/containerd.toml" <<TOML
version = 2
root = "$node_dir/containerd/root"
state = "$node_dir/containerd/state"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs", "io.containerd.internal.v1.opt"]
[grpc]
  address = "$socket"
[ttrpc]
  address = "$socket.ttrpc"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  disable_apparmor = true
  restrict_oom_score_adj = $(must_restrict_oom_score)
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$kubernetes/cni"
    conf_dir = "$node_dir/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = "$kubernetes/bin/runc"
        SystemdCgroup = false
TOML
  cat > "$node_dir/kubelet.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: 127.0.0.1
port: ${port[${prefix}_kubelet_$number]}
readOnlyPort: 0
healthzBindAddress: 127.0.0.1
healthzPort: ${port[${prefix}_kubelet_health_$number]}
tlsCertFile: $pki/kubelet-server-$number.crt
tlsPrivateKeyFile: $pki/kubelet-server-$number.key
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: $pki/ca.crt}
authorization: {mode: Webhook}
cgroupDriver: cgroupfs
cgroupRoot: /$node_cgroup
enforceNodeAllocatable: []
failSwapOn: false
makeIPTablesUtilChains: false
clusterDomain: cluster.local
syncFrequency: 10s
nodeStatusUpdateFrequency: 5s
imageGCHighThresholdPercent: 100
# this kubelet may lose its place in a followed log when it rotates the file: that of make bench-panel grows to half of this
containerLogMaxSize: 1Gi
evictionHard: {memory.available: 50Mi, nodefs.available: 1%, imagefs.available: 1%}
volumePluginDir: $node_dir/volume-plugins
YAML
}

# A kubelet refuses a loopback --node-ip, but with an external cloud provider it keeps those that the
# Node object has: so the object is made first. (Without a capacity this kubelet would write into a map that isn't there.)
register_node() {
  ! kubectl_admin get node "$node" > /dev/null 2>&1 || return 0
  kubectl_admin create --filename - > /dev/null <<YAML
apiVersion: v1
kind: Node
metadata:
  name: $node
  labels:
    kubernetes.io/hostname: $node
    kubernetes.io/os: linux
    kubernetes.io/arch: $(dpkg --print-architecture)
    topology.kubernetes.io/zone: zone-$number
YAML
  kubectl_admin get node "$node" --output json | jq '.status.addresses = [{type: "InternalIP", address: "127.0.0.1"},
    {type: "Hostname", address: .metadata.name}] | .status.capacity = {pods: "0"} | .status.allocatable = {pods: "0"}' \
    > "$node_dir/node.json"
  kubectl_admin replace --raw "/api/v1/nodes/$node/status" --filename "$node_dir/node.json" > /dev/null
}

import_images() {
  local archive
  wait_until 60 "$cluster/node-$number" containerd_client version
  for archive in "$kubernetes"/images/*.tar; do
    containerd_client images import "$archive" >> "$state/log/$cluster/node-$number.log" 2>&1
  done
}

# containerd with the images; the kubelet waits for the API server
prepare_node() {
  node_settings "$1"
  mkdir -p "$node_dir"/{containerd,kubelet,cni,var-lib,volume-plugins,logs/pods,logs/containers,run/containerd,run/netns} "$socket_dir"
  pki_leaf "$pki" "kubelet-client-$number" ca "/O=system:nodes/CN=system:node:$node" clientAuth
  pki_leaf "$pki" "kubelet-server-$number" ca "/O=system:nodes/CN=system:node:$node" serverAuth "DNS:$node,DNS:localhost,IP:127.0.0.1"
  kubeconfig_by_certificate "$node_dir/kubeconfig" "kubelet-client-$number"
  write_node_configuration
  if ! running "$cluster/node-$number"; then
    rm -f "$node_dir/images-imported" "$node_dir/registered" "$socket"
    make_cgroup
    launch "$cluster/node-$number" unshare --mount --propagation private --pid --fork --kill-child --mount-proc \
      bash "$root/scripts/services/kubernetes/node_init.sh" "$kubernetes" "$node_dir" "$node" "$socket" "$state/log/$cluster/node-$number"
  fi
  [ -e "$node_dir/images-imported" ] || import_images
  touch "$node_dir/images-imported"
}

# ready, by a word of the kubelet that is not older than this start
node_ready() {
  local status heartbeat
  read -r status heartbeat < <(kubectl_admin get node "$1" \
    --output 'jsonpath={range .status.conditions[?(@.type=="Ready")]}{.status} {.lastHeartbeatTime}{"\n"}{end}')
  [ "$status" = True ] && [[ ! "$heartbeat" < "$2" ]]
}

# A browser on this machine drops what it is loading whenever an address comes or goes (ERR_NETWORK_CHANGED), and each pod's
# interface would get a link-local one. 1: none is made by itself; interfaces that exist keep theirs.
link_local_addresses() {
  local setting=/proc/sys/net/ipv6/conf/default/addr_gen_mode
  [ ! -w "$setting" ] || echo "$1" > "$setting"
}

prepare_nodes() {
  local i
  [ "$nodes" -gt 0 ] || return 0
  [ "$(id -u)" = 0 ] || die "nodes need root"
  link_local_addresses 1
  for ((i = 1; i <= nodes; i++)); do prepare_node "$i"; done
}

start_nodes() {
  local i since fresh=()
  since=$(date -u +%FT%TZ)
  for ((i = 1; i <= nodes; i++)); do
    node_settings "$i"
    [ ! -e "$node_dir/registered" ] || continue
    register_node
    touch "$node_dir/registered"
    fresh+=("$i")
  done
  for i in ${fresh[@]+"${fresh[@]}"}; do
    wait_until 120 "$cluster/node-$i" node_ready "$node_prefix$i" "$since"
  done
}

stop_nodes() {
  local i
  [ "$nodes" -gt 0 ] || return 0
  for ((i = 1; i <= nodes; i++)); do terminate "$cluster/node-$i" 0; done
  remove_cgroups
  [ ! -d "/sys/class/net/$bridge" ] || ip link delete "$bridge" || true
  compgen -G '/sys/class/net/pt-*' > /dev/null || link_local_addresses 0
  rm -rf "/run/portico-$stack_id"
}
