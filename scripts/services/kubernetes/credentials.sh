# A cluster's certificates and kubeconfigs. Sourced.

make_certificates() {
  pki_authority "$pki" ca "$cluster-ca"
  pki_authority "$pki" etcd-ca "$cluster-etcd-ca"
  pki_authority "$pki" front-proxy-ca "$cluster-front-proxy-ca"
  pki_leaf "$pki" etcd etcd-ca /CN=etcd serverAuth,clientAuth DNS:localhost,IP:127.0.0.1
  pki_leaf "$pki" apiserver ca /CN=kube-apiserver serverAuth \
    "DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,IP:127.0.0.1,IP:$service_ip"
  pki_leaf "$pki" apiserver-kubelet-client ca /O=system:masters/CN=kube-apiserver-kubelet-client clientAuth
  pki_leaf "$pki" front-proxy-client front-proxy-ca /CN=front-proxy-client clientAuth
  pki_leaf "$pki" admin ca /O=system:masters/CN=kubernetes-admin clientAuth
  pki_leaf "$pki" controller-manager ca /CN=system:kube-controller-manager serverAuth,clientAuth DNS:localhost,IP:127.0.0.1
  pki_leaf "$pki" scheduler ca /CN=system:kube-scheduler serverAuth,clientAuth DNS:localhost,IP:127.0.0.1
  if [ ! -s "$pki/service-accounts.pub" ]; then
    openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$pki/service-accounts.key" 2> /dev/null
    openssl pkey -in "$pki/service-accounts.key" -pubout -out "$pki/service-accounts.pub"
  fi
}

# write_kubeconfig FILE USER_NAME USER_FIELDS (YAML flow mapping)
write_kubeconfig() {
  cat > "$1" <<YAML
apiVersion: v1
kind: Config
clusters:
- name: $cluster
  cluster:
    server: $api_url
    certificate-authority-data: $(base64 -w0 < "$pki/ca.crt")
users:
- name: $2
  user: $3
contexts:
- name: $cluster
  context: {cluster: $cluster, user: $2}
current-context: $cluster
YAML
}

# kubeconfig_by_certificate FILE CERTIFICATE_NAME
kubeconfig_by_certificate() {
  write_kubeconfig "$1" "$2" \
    "{client-certificate-data: $(base64 -w0 < "$pki/$2.crt"), client-key-data: $(base64 -w0 < "$pki/$2.key")}"
}
