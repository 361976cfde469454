# Writes a stack's portico.toml. Sourced by portico.sh.

# portico_instance NAME: sets where that instance listens and what it calls its files
portico_instance() {
  case $1 in
    main)
      process=portico public_url=$(portico_url) tls=$gateway_tls
      gateway_port=${port[gateway]} panel_port=${port[panel]} admin_port=${port[admin]} kube_auth_port=${port[kube_auth]}
      ;;
    plain)
      [ "$with_plain_instance" = yes ] || die "this profile has no plain instance"
      process=portico-plain public_url=http://localhost:${port[plain_gateway]} tls=no
      gateway_port=${port[plain_gateway]} panel_port=${port[plain_panel]} admin_port=${port[plain_admin]}
      kube_auth_port=${port[plain_kube_auth]}
      ;;
    *) die "there is no instance '$1'" ;;
  esac
  config=$state/$process.toml
}

keystone_for_portico() {
  if [ "$record_keystone" = yes ]; then
    echo "http://127.0.0.1:${port[recorder]}/v3"
  else
    echo "http://127.0.0.1:${port[keystone]}/v3"
  fi
}

demo_user() { printf '  { name = "%s", note = "%s" },\n' "$1" "$2"; }

# cluster_entry NAME PROJECT_ID PORT_NAME
cluster_entry() {
  cat <<TOML

[[clusters]]
id = "$(cat "$state/$1/id")"
name = "$1"
owner_project = "$2"
accepted_projects = ["$2"]
api_url = "https://127.0.0.1:${port[$3]}"
ca_file = "$state/$1/pki/ca.crt"
sealing_key_file = "$state/keys/kube-auth-1.pub"
TOML
}

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

portico_config() {
  local acme globex keys=$state/keys pki=$state/pki
  acme=$(env_get PROJECT_ID_ACME)
  globex=$(env_get PROJECT_ID_GLOBEX)
  cat <<TOML
# Written by scripts/services/portico.sh; changes are lost at the next start.
[log]
level = "info"

[admin]
listen = "127.0.0.1:$admin_port"

# nobody balances load here
[shutdown]
notice = "0s"

[store]
url = "sqlite://$state/$process.db"
key_files = ["$keys/store-1.key"]

[keystone]
url = "$(keystone_for_portico)"
default_domain = "Default"

[gateway]
listen = "127.0.0.1:$gateway_port"
public_url = "$public_url"
apps_domain = "apps.localhost"
assertion_key_file = "$keys/assertion.pem"
panel_url = "http://127.0.0.1:$panel_port"
panel_sealing_key_file = "$keys/panel.pub"
$([ "$tls" = no ] || printf 'tls_cert_file = "%s"\ntls_key_file = "%s"\n' "$pki/gateway.crt" "$pki/gateway.key")

$(if [ "$with_oidc" = yes ]; then
    printf '[[gateway.providers]]\nid = "cloud"\nname = "OpenStack"\nkind = "keystone"\n'
    provider_entry corp "Corp"
    provider_entry partner "Partner"
  fi)

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
listen = "127.0.0.1:$panel_port"
private_key_file = "$keys/panel.key"
site_root = "$root/target/site"
support_contact = "your cloud's administrators"

[panel.role_names]
"$(env_get ROLE_ID_K8S_ADMIN)" = "k8s_admin"
"$(env_get ROLE_ID_K8S_DEVELOPER)" = "k8s_developer"
"$(env_get ROLE_ID_K8S_VIEWER)" = "k8s_viewer"

[kube_auth]
listen = "127.0.0.1:$kube_auth_port"
tls_cert_file = "$pki/kube-auth.crt"
tls_key_file = "$pki/kube-auth.key"
client_ca_file = "$pki/kube-auth-clients-ca.crt"
key_files = ["$keys/kube-auth-1.key"]
cache_ttl = "10s"
TOML
  cluster_entry acme-prod "$acme" acme_api
  cluster_entry globex-dev "$globex" globex_api
  app_entry prometheus Prometheus web "Metrics of Portico and the clusters" k8s_admin k8s_developer
  app_entry alertmanager Alertmanager alertmanager "Alerts that fire now" k8s_admin k8s_developer
  app_entry registry Registry registry "Container images of acme" k8s_admin k8s_developer k8s_viewer
  app_entry logs Logs web "What acme's pods write, as it comes" k8s_admin k8s_developer
  if [ "$with_hostile_app" = yes ]; then
    acme=$globex app_entry hostile "Innocent app" web "Started by the test that it is for" k8s_admin
  fi
}

write_portico_config() {
  portico_config > "$config.new"
  mv "$config.new" "$config"
}
