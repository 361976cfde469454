# What a stack adds to the configuration of `portico init`: users on the sign-in page, OpenID Providers, apps, and what differs.
# Sourced by portico.sh. A later file's value wins, and its list replaces an earlier one.

# portico_instance NAME: sets where that instance listens and which files it reads
portico_instance() {
  case $1 in
    main)
      process=portico public_url=$(portico_url) admin_port=${port[admin]}
      database=$installation/portico.db base=$installation/portico.toml config=$state/demo.toml
      ;;
    plain)
      [ "$with_plain_instance" = yes ] || die "this profile has no plain instance"
      process=portico-plain public_url=http://localhost:${port[plain_gateway]} admin_port=${port[plain_admin]}
      database=$installation/portico-plain.db base=$installation/plain.toml config=$state/demo-plain.toml
      ;;
    *) die "there is no instance '$1'" ;;
  esac
}

demo_user() { printf '  { name = "%s", note = "%s" },\n' "$1" "$2"; }

# provider_entry ID NAME: an OpenID Provider of oidc.sh; users alice, bob, carol with password NAME-pw
provider_entry() {
  cat <<TOML

[[gateway.providers]]
id = "$1"
name = "$2"
kind = "oidc"
issuer = "http://127.0.0.1:${port[oidc_$1]}"
client_id = "portico"
client_secret_file = "$state/oidc/client-secret"
scopes = ["profile", "email", "groups"]
TOML
}

# app_entry ID NAME KIND DESCRIPTION ROLE...
app_entry() {
  local id=$1 name=$2 kind=$3 description=$4 role
  shift 4
  cat <<TOML

[[apps]]
id = "$id"
name = "$name"
description = "$description"
project = "$acme"
url = "http://127.0.0.1:${port[$id]}"
kind = "$kind"
$([ ! -e "$root/deploy/rules/$id.toml" ] || printf 'rules_file = "%s"\n' "$root/deploy/rules/$id.toml")
allow = [
$(for role in "$@"; do printf '  { role = "%s", project = "%s" },\n' "$role" "$acme"; done)
$([ "$with_oidc" = no ] || [ "$id" != prometheus ] || printf '  { group = "ops", provider = "corp" },\n')
]
TOML
}

# where the plain instance differs from the main one, except for the panel
plain_differences() {
  cat <<TOML

[admin]
listen = "127.0.0.1:$admin_port"

[store]
url = "sqlite://$database"

[kube_auth]
listen = "127.0.0.1:${port[plain_kube_auth]}"

[gateway]
listen = "127.0.0.1:${port[plain_gateway]}"
public_url = "$public_url"
panel_url = "http://127.0.0.1:${port[plain_panel]}"
TOML
}

providers() {
  printf '\n[[gateway.providers]]\nid = "cloud"\nname = "OpenStack"\nkind = "keystone"\n'
  provider_entry corp "Corp"
  provider_entry partner "Partner"
}

# Clusters that users enrol: those of Magnum's driver k8s_local, whose API servers listen on this machine.
enrolment() {
  local keys=$installation/cluster-list
  cat <<TOML

[enrolment]
sealing_key_file = "$installation/keys/kube-auth-1.pub"
api_networks = ["127.0.0.1/32"]
sources = ["magnum"]

[enrolment.roles]
developer = "$(env_get ROLE_ID_K8S_DEVELOPER)"
viewer = "$(env_get ROLE_ID_K8S_VIEWER)"

# The drivers of this stack (scripts/services/magnum/drivers) behave as these do. k8s_local is left out: it rotates
# the CA and passes taints on to its nodes, but has no upgrade and does not resize the control plane, and no family is
# like this. As an unknown driver it gets no rotation of the CA, and what else it lacks it refuses itself.
[magnum]
release = 23

[magnum.drivers]
k8s_sim_full = "complete"
k8s_sim_capi = "capi_helm"
k8s_sim_heat = "heat"

[enrolment.webhook]
url = "https://127.0.0.1:${port[kube_auth]}"
ca_file = "$installation/tls/ca.crt"

[gateway.cluster_list]
signing_key_file = "$keys/list.pem"
token_file = "$keys/list.token"

[kube_auth.cluster_list]
url = "$public_url"
keys_file = "$keys/list.pub"
token_file = "$keys/list.token"
state_file = "$keys/clusters.jws"
TOML
  if [ "$gateway_tls" = yes ]; then printf 'ca_file = "%s"\n' "$installation/tls/ca.crt"; fi
}

added_configuration() {
  local acme globex
  acme=$(env_get PROJECT_ID_ACME)
  globex=$(env_get PROJECT_ID_GLOBEX)
  cat <<TOML
# Written by scripts/services/portico.sh; changes are lost at the next start.
# It is read after $base, which \`portico init\` wrote.

# no load balancer to give notice to
[shutdown]
notice = "0s"
TOML
  if [ "$record_keystone" = yes ]; then printf '\n[keystone]\nurl = "http://127.0.0.1:%s/v3"\n' "${port[recorder]}"; fi
  if [ "$instance" = plain ]; then plain_differences; fi
  if [ "$with_oidc" = yes ]; then providers; fi
  # the API servers ask the main instance's kube-auth
  if [ "$instance" = main ] && [ "$with_magnum" = yes ]; then enrolment; fi
  cat <<TOML

[gateway.audit]
project_admin_roles = ["k8s_admin"]

[gateway.demo]
password_file = "$state/demo-password"
users = [
$(demo_user ada "k8s_admin in acme")
$(demo_user devi "k8s_developer in acme, k8s_viewer in globex")
$(demo_user vera "k8s_viewer in acme")
$(demo_user nora "member of acme, no Kubernetes role")
$(demo_user otto "k8s_admin in globex")
$(demo_user mia "k8s_developer in acme, with a one-time code (make demo-code)")
]

[panel]
site_root = "$root/target/site"
support_contact = "your cloud's administrators"
TOML
  if [ "$instance" = plain ]; then printf 'listen = "127.0.0.1:%s"\n' "${port[plain_panel]}"; fi
  # what prometheus.sh gives the series of each cluster
  cat <<TOML

[panel.prometheus]
url = "http://127.0.0.1:${port[prometheus]}"
cluster_label = "cluster"
TOML
  app_entry prometheus Prometheus web "Metrics of Portico and the clusters" k8s_admin k8s_developer
  app_entry alertmanager Alertmanager alertmanager "Alerts that fire now" k8s_admin k8s_developer
  app_entry registry Registry registry "Container images of acme" k8s_admin k8s_developer k8s_viewer
  app_entry logs Logs web "What acme's pods write, as it comes" k8s_admin k8s_developer
  if [ "$with_hostile_app" = yes ]; then
    acme=$globex app_entry hostile "Innocent app" web "Started by the test that it is for" k8s_admin
  fi
}

write_configuration() {
  # a later file cannot take a key away: the plain instance reads a copy without the gateway's certificate
  if [ "$instance" = plain ]; then sed '/^tls_.* = "tls\/gateway\./d' "$installation/portico.toml" > "$base"; fi
  added_configuration > "$config.new"
  mv "$config.new" "$config"
}
