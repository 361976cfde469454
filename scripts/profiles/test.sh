# The test stack: ports of its own, so that it runs beside a demo; HTTPS and HTTP/2 with a CA made here, a recorder in
# front of Keystone, PostgreSQL, Redis, and a second Portico on plain HTTP. Sourced by lib/stack.sh.

profile_state=.test
gateway_tls=yes
record_keystone=yes
with_postgres=yes
with_redis=yes
with_oidc=yes
with_plain_instance=yes
with_federation=yes
# PORTICO_WITHOUT_MAGNUM=1 leaves it out, with its tests
with_magnum=$([ "${PORTICO_WITHOUT_MAGNUM:-}" = 1 ] && echo no || echo yes)
# its tests make their own clusters, as users of their own: those of the other tests get no roles for it
with_magnum_clusters=no
# for the events of stacks; with Magnum's tests
with_heat=$with_magnum
with_hostile_app=yes
# its clusters are made anew when a machine has lost them: writes do not wait for the disk
etcd_without_fsync=true
# Tests keep the control planes busy: they collect garbage less often, at the cost of memory.
kubernetes_gogc=400
pod_network=10.245

port=(
  [gateway]=18443 [panel]=18190 [admin]=18180 [kube_auth]=18444
  [plain_gateway]=18080 [plain_panel]=18191 [plain_admin]=18181 [plain_kube_auth]=18445
  [keystone]=18500 [recorder]=18501
  [prometheus]=18090 [alertmanager]=18093 [registry]=18005 [logs]=18001 [hostile]=18099 [postgres]=18432 [redis]=18379
  [oidc_corp]=18100 [oidc_partner]=18101
  [acme_api]=18643 [acme_etcd]=18790 [acme_etcd_peer]=18800 [acme_controllers]=18810 [acme_scheduler]=18820
  [acme_kubelet_1]=18831 [acme_kubelet_2]=18832 [acme_kubelet_health_1]=18841 [acme_kubelet_health_2]=18842
  [globex_api]=18644 [globex_etcd]=18791 [globex_etcd_peer]=18801 [globex_controllers]=18811 [globex_scheduler]=18821
  [magnum]=18511 [cloud]=18292 [heat]=18804 [local_clusters]=18900
)
