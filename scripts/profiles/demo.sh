# The demo: well-known ports, plain HTTP on localhost, users listed on the sign-in page. Sourced by lib/stack.sh.

profile_state=.demo
gateway_tls=no
record_keystone=no
with_postgres=no
with_redis=no
with_oidc=yes
with_plain_instance=no
with_federation=yes
# PORTICO_WITHOUT_MAGNUM=1 leaves it out
with_magnum=$([ "${PORTICO_WITHOUT_MAGNUM:-}" = 1 ] && echo no || echo yes)
# three clusters, and the roles with which the users on the sign-in page can make others
with_magnum_clusters=yes
# only its tests use Heat: the demo's clusters have no stacks
with_heat=no
with_hostile_app=no
etcd_without_fsync=false
kubernetes_gogc=100
pod_network=10.244

port=(
  [gateway]=8080 [panel]=9190 [admin]=9180 [kube_auth]=9443
  [keystone]=5000
  [prometheus]=9090 [alertmanager]=9093 [registry]=5001 [logs]=9001 [oidc_corp]=9100 [oidc_partner]=9101
  [acme_api]=6443 [acme_etcd]=23790 [acme_etcd_peer]=23800 [acme_controllers]=23810 [acme_scheduler]=23820
  [acme_kubelet_1]=23831 [acme_kubelet_2]=23832 [acme_kubelet_health_1]=23841 [acme_kubelet_health_2]=23842
  [globex_api]=6444 [globex_etcd]=23791 [globex_etcd_peer]=23801 [globex_controllers]=23811 [globex_scheduler]=23821
  [magnum]=9511 [cloud]=9292 [heat]=8004 [local_clusters]=6500
)
