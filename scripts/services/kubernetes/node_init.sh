#!/usr/bin/env bash
# node_init.sh KUBERNETES NODE_DIR NODE SOCKET LOG: the first process of a node's namespaces; see node.sh.
set -euo pipefail
# the root directory of an unpacked image gets its mode from here, and pods are not root
umask 022
kubernetes=$1 dir=$2 node=$3 socket=$4 log=$5

# containerd looks its shim up there
export PATH=$kubernetes/bin:$PATH

bind_over() {
  mkdir -p "$2"
  mount --bind "$1" "$2"
}

mount --make-rshared /
bind_over "$dir/logs/pods" /var/log/pods
bind_over "$dir/logs/containers" /var/log/containers
bind_over "$dir/run/containerd" /run/containerd
bind_over "$dir/run/netns" /run/netns
bind_over "$dir/var-lib" /var/lib/kubelet

containerd --config "$dir/containerd.toml" >> "$log-containerd.log" 2>&1 &
# written once the images are imported and the Node object is there
until [ -e "$dir/registered" ]; do sleep 0.1; done
kubelet --config "$dir/kubelet.yaml" --kubeconfig "$dir/kubeconfig" --root-dir "$dir/kubelet" \
  --hostname-override "$node" --cloud-provider external --container-runtime remote \
  --container-runtime-endpoint "unix://$socket" --pod-infra-container-image localhost/pause:1 \
  >> "$log-kubelet.log" 2>&1 &

# a node without one of the two is no node
wait -n
exit 1
