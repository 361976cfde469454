# What the two clusters are. Sourced after lib/stack.sh; cluster_settings NAME sets the variables the other files use.

clusters=(acme-prod globex-dev)
kubernetes=$cache/kubernetes

cluster_settings() {
  cluster=$1
  dir=$state/$cluster
  pki=$dir/pki
  admin_kubeconfig=$dir/admin.kubeconfig
  cgroup=portico-$stack_id
  bridge=pt-$stack_id
  case $cluster in
    acme-prod)
      prefix=acme project=ACME env_prefix=KUBE env_id=CLUSTER_ID
      nodes=2 node_prefix=acme-node-
      admission=NodeRestriction,PodSecurityPolicy
      service_cidr=10.96.0.0/16 service_ip=10.96.0.1
      ;;
    globex-dev)
      prefix=globex project=GLOBEX env_prefix=KUBE2 env_id=CLUSTER2_ID
      nodes=0 node_prefix=globex-node-
      admission=NodeRestriction
      service_cidr=10.97.0.0/16 service_ip=10.97.0.1
      ;;
    *) die "there is no cluster '$cluster': ${clusters[*]}" ;;
  esac
  api_url=https://127.0.0.1:${port[${prefix}_api]}
}

kubectl_admin() { "$kubernetes/bin/kubectl" --kubeconfig "$admin_kubeconfig" "$@"; }

# the cluster's UUID, chosen once
cluster_id() {
  [ -s "$dir/id" ] || cat /proc/sys/kernel/random/uuid > "$dir/id"
  cat "$dir/id"
}
