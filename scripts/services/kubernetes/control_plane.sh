# etcd, kube-apiserver, kube-controller-manager and kube-scheduler of one cluster. Sourced.

start_etcd() {
  local client=https://127.0.0.1:${port[${prefix}_etcd]} peer=http://127.0.0.1:${port[${prefix}_etcd_peer]}
  running "$cluster/etcd" || GOGC=$kubernetes_gogc launch "$cluster/etcd" "$kubernetes/bin/etcd" \
    --name "$cluster" --data-dir "$dir/etcd" --logger zap --log-level warn \
    --listen-client-urls "$client" --advertise-client-urls "$client" \
    --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "$cluster=$peer" \
    --client-cert-auth --trusted-ca-file "$pki/etcd-ca.crt" --cert-file "$pki/etcd.crt" --key-file "$pki/etcd.key" \
    --unsafe-no-fsync="$etcd_without_fsync"
}

# webhook_flags: sets `webhook` to the flags that `portico init` wrote, with the webhook's files where they are
webhook_flags() {
  local directory=$installation/clusters/$cluster flag
  [ -s "$directory/apiserver.flags" ] || die "the webhook's files of $cluster are not there: scripts/stack.sh up writes them"
  webhook=()
  while read -r flag; do
    webhook+=("${flag/=\/etc\/kubernetes\/portico\//=$directory/api-server/}")
  done < "$directory/apiserver.flags"
}

start_apiserver() {
  local webhook
  webhook_flags
  running "$cluster/kube-apiserver" || GOGC=$kubernetes_gogc launch "$cluster/kube-apiserver" "$kubernetes/bin/kube-apiserver" \
    --bind-address=127.0.0.1 --secure-port="${port[${prefix}_api]}" --advertise-address=127.0.0.1 \
    --endpoint-reconciler-type=none --profiling=false \
    --etcd-servers="https://127.0.0.1:${port[${prefix}_etcd]}" --etcd-cafile="$pki/etcd-ca.crt" \
    --etcd-certfile="$pki/etcd.crt" --etcd-keyfile="$pki/etcd.key" \
    --tls-cert-file="$pki/apiserver.crt" --tls-private-key-file="$pki/apiserver.key" --client-ca-file="$pki/ca.crt" \
    --authorization-mode=Node,RBAC --enable-admission-plugins="$admission" --allow-privileged=true \
    --service-cluster-ip-range="$service_cidr" \
    --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$pki/service-accounts.pub" \
    --service-account-signing-key-file="$pki/service-accounts.key" \
    --kubelet-certificate-authority="$pki/ca.crt" --kubelet-client-certificate="$pki/apiserver-kubelet-client.crt" \
    --kubelet-client-key="$pki/apiserver-kubelet-client.key" --kubelet-preferred-address-types=InternalIP \
    --requestheader-client-ca-file="$pki/front-proxy-ca.crt" --requestheader-allowed-names=front-proxy-client \
    --requestheader-username-headers=X-Remote-User --requestheader-group-headers=X-Remote-Group \
    --requestheader-extra-headers-prefix=X-Remote-Extra- \
    --proxy-client-cert-file="$pki/front-proxy-client.crt" --proxy-client-key-file="$pki/front-proxy-client.key" \
    --audit-policy-file="$root/deploy/demo/audit-policy.yaml" --audit-log-path="$state/log/$cluster/audit.log" \
    --audit-log-maxsize=100 --audit-log-maxbackup=2 --event-ttl=24h \
    "${webhook[@]}"
  wait_until 120 "$cluster/kube-apiserver" kubectl_admin get --raw /readyz
}

start_controllers() {
  local conf=$dir/conf
  running "$cluster/kube-controller-manager" ||
    GOGC=$kubernetes_gogc launch "$cluster/kube-controller-manager" "$kubernetes/bin/kube-controller-manager" \
      --bind-address=127.0.0.1 --secure-port="${port[${prefix}_controllers]}" --port=0 --leader-elect=false --profiling=false \
      --tls-cert-file="$pki/controller-manager.crt" --tls-private-key-file="$pki/controller-manager.key" \
      --kubeconfig="$conf/controller-manager.kubeconfig" \
      --authentication-kubeconfig="$conf/controller-manager.kubeconfig" \
      --authorization-kubeconfig="$conf/controller-manager.kubeconfig" \
      --use-service-account-credentials=true --service-account-private-key-file="$pki/service-accounts.key" \
      --root-ca-file="$pki/ca.crt" --cluster-signing-cert-file="$pki/ca.crt" --cluster-signing-key-file="$pki/ca.key" \
      --client-ca-file="$pki/ca.crt" --requestheader-client-ca-file="$pki/front-proxy-ca.crt" \
      --flex-volume-plugin-dir="$conf/volume-plugins"
  running "$cluster/kube-scheduler" || launch "$cluster/kube-scheduler" "$kubernetes/bin/kube-scheduler" \
    --bind-address=127.0.0.1 --secure-port="${port[${prefix}_scheduler]}" --port=0 --leader-elect=false --profiling=false \
    --tls-cert-file="$pki/scheduler.crt" --tls-private-key-file="$pki/scheduler.key" \
    --kubeconfig="$conf/scheduler.kubeconfig" --authentication-kubeconfig="$conf/scheduler.kubeconfig" \
    --authorization-kubeconfig="$conf/scheduler.kubeconfig" --client-ca-file="$pki/ca.crt"
  # no pod is admitted before its namespace has a default service account
  wait_until 120 "$cluster/kube-controller-manager" kubectl_admin get serviceaccount default --namespace default
}

# `portico init` needs the authority and the ID that are made here, and the API server needs what it writes
prepare_control_plane() {
  mkdir -p "$pki" "$dir/conf" "$state/log/$cluster" "$state/run/$cluster"
  make_certificates
  kubeconfig_by_certificate "$admin_kubeconfig" admin
  kubeconfig_by_certificate "$dir/conf/controller-manager.kubeconfig" controller-manager
  kubeconfig_by_certificate "$dir/conf/scheduler.kubeconfig" scheduler
  cluster_id > /dev/null
  start_etcd
}

stop_control_plane() {
  terminate "$cluster/kube-scheduler" 3
  terminate "$cluster/kube-controller-manager" 3
  terminate "$cluster/kube-apiserver" 5
  terminate "$cluster/etcd" 5
}
