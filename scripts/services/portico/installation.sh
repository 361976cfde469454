# A stack's installation, written by `portico init` as for any cloud: keys, authorities, certificates, the webhook's files for
# each API server, and the base of the configuration. Sourced by portico.sh.

# the clusters' certificates must be there, and the projects and roles in Keystone
installation_arguments() {
  local name
  arguments=(
    --keystone-url "http://127.0.0.1:${port[keystone]}/v3" --public-url "$(portico_url)" --apps-domain apps.localhost
    --kube-auth-url "https://127.0.0.1:${port[kube_auth]}"
    --panel-listen "127.0.0.1:${port[panel]}" --admin-listen "127.0.0.1:${port[admin]}"
    --store "sqlite://$installation/portico.db"
    --admin-role "k8s_admin=$(env_get ROLE_ID_K8S_ADMIN)" --developer-role "k8s_developer=$(env_get ROLE_ID_K8S_DEVELOPER)"
    --viewer-role "k8s_viewer=$(env_get ROLE_ID_K8S_VIEWER)"
  )
  for name in "${clusters[@]}"; do
    cluster_settings "$name"
    project=$(env_get "PROJECT_ID_$project")
    arguments+=(--cluster "name=$name,project=$project,api-url=$api_url,ca-file=$pki/ca.crt,id=$(cluster_id)")
  done
}

# What runs with the keys and authorities of an earlier installation; the next steps of `stack.sh up` start it again.
stop_earlier() {
  local name
  for name in portico portico-plain oidc-corp oidc-partner "${clusters[@]/%//kube-apiserver}"; do terminate "$name" 5 & done
  # its clusters' API servers too
  "$root/scripts/services/magnum.sh" stop &
  wait
}

# Once, and again when a port, a cluster or an ID has changed: keys and certificates are new then, and sessions end.
write_installation() {
  local arguments written=$installation/init.arguments log=$state/log/init.log
  installation_arguments
  [ "$(cat "$written" 2> /dev/null)" != "$(printf '%s\n' "${arguments[@]}")" ] || return 0
  stop_earlier
  rm -rf "$installation"
  # the API servers start afterwards, so there is nothing to check yet
  clean "$binary" init --yes --skip-checks --out "$installation" "${arguments[@]}" > "$log" 2>&1 || die "$(tail -n 5 "$log")"
  printf '%s\n' "${arguments[@]}" > "$written"
}

# Keys of the list of enrolled clusters, between gateway and kube-auth. They and kube-auth's copy of the list belong to the
# installation's store: kube-auth refuses a list that is older than its copy.
write_cluster_list_keys() {
  local directory=$installation/cluster-list
  mkdir -p "$directory"
  (
    # the plain instance may start at the same moment
    exec 8> "$directory/.lock"
    flock 8
    [ ! -s "$directory/list.token" ] || exit 0
    openssl genpkey -algorithm ed25519 -out "$directory/list.pem"
    openssl pkey -in "$directory/list.pem" -pubout -out "$directory/list.pub"
    openssl rand -hex 32 > "$directory/list.token"
  )
}
