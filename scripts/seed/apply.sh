#!/usr/bin/env bash
# apply.sh CLUSTER: the roles, the accounts of Portico and Prometheus, and the demo's workloads, with the admin kubeconfig.
# What people changed since stays: a second run does nothing, unless the seed itself is another one.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
. "$here/../lib/stack.sh"
. "$here/../services/kubernetes/settings.sh"

cluster_settings "${1:?usage: apply.sh CLUSTER}"
volumes=$dir/volumes
# what `portico init` wrote for this cluster
portico=$installation/clusters/$cluster

# apply FILE...: placeholders filled in
apply() {
  local file
  for file in "$@"; do
    sed -e "s/@ROLE_ID_K8S_ADMIN@/$(env_get ROLE_ID_K8S_ADMIN)/" -e "s|@VOLUMES@|$volumes|" \
      -e "s/@SEED_SECRET@/$(cat "$dir/seed-secret")/" "$file"
    echo ---
  done | kubectl_admin apply --filename - >> "$state/log/$cluster/seed.log"
}

apply_shared() {
  # the first three are also in the rbac.yaml of `portico init`; what changes here is applied at the next start
  apply "$here/roles.yaml" "$here/admins.yaml" "$here/bootstrap.yaml" "$here/metrics.yaml"
}

# account_token NAME FILE: the token of a service account of kube-system
account_token() {
  local secret=""
  until [ -n "$secret" ]; do
    secret=$(kubectl_admin get serviceaccount "$1" --namespace kube-system --output 'jsonpath={.secrets[0].name}')
    [ -n "$secret" ] || sleep 0.2
  done
  kubectl_admin get secret "$secret" --namespace kube-system --output 'jsonpath={.data.token}' | base64 -d > "$2"
}

phase() { kubectl_admin get persistentvolume "$1" --output 'jsonpath={.status.phase}'; }

release_volume() {
  local i
  [ "$(phase disk-old)" = Available ] || return 0
  apply "$here/acme-prod/released-claim.yaml"
  for ((i = 0; i < 100; i++)); do
    [ "$(phase disk-old)" != Bound ] || break
    sleep 0.2
  done
  kubectl_admin delete persistentvolumeclaim old-ledger --namespace data >> "$state/log/$cluster/seed.log"
}

seed_acme_prod() {
  local files=$here/acme-prod
  mkdir -p "$volumes"/disk-{1,2,3,old}
  chmod 777 "$volumes"/disk-*
  apply "$files/pod-security.yaml"
  apply "$files/namespaces.yaml" "$files/volumes.yaml" "$files/backups.yaml"
  kubectl_admin wait --for condition=Established --timeout 30s crd/backups.data.example.org >> "$state/log/$cluster/seed.log"
  release_volume
  apply "$files/shop.yaml" "$files/data.yaml" "$files/batch.yaml" "$files/platform.yaml"
}

seed_globex_dev() {
  apply "$here/globex-dev/website.yaml"
}

seed_version() { { cat "$here"/*.yaml "$here/$cluster"/*.yaml && env_get ROLE_ID_K8S_ADMIN; } | sha256sum; }

[ -s "$dir/seed-secret" ] || openssl rand -hex 16 > "$dir/seed-secret"
if [ "$(seed_version)" != "$(cat "$dir/seeded" 2> /dev/null)" ]; then
  apply_shared
  "seed_${cluster//-/_}"
  seed_version > "$dir/seeded"
fi
account_token portico-bootstrap "$portico/bootstrap.token"
account_token prometheus "$dir/prometheus.token"
env_set "${env_prefix}_BOOTSTRAP_KUBECONFIG" "$portico/bootstrap.kubeconfig"
