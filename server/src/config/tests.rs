use super::*;
use portico_testkit::snapshot_settings;

const FULL: &str = r#"
[store]
url = "postgres://portico:s3cret@db/portico"
key_files = ["store-1.key"]

[keystone]
url = "http://127.0.0.1:5000/v3"

[gateway]
public_url = "http://localhost:8080"
apps_domain = "apps.localhost"
assertion_key_file = "assertion.pem"
panel_url = "http://127.0.0.1:9190"
panel_sealing_key_file = "panel.pub"

[panel]
private_key_file = "panel.key"

[kube_auth]
tls_cert_file = "kube-auth.crt"
tls_key_file = "kube-auth.key"
client_ca_file = "clients-ca.crt"
key_files = ["kube-auth-1.key"]

[[clusters]]
id = "6f0c1a52-0000-4000-8000-000000000001"
name = "prod"
owner_project = "p1"
api_url = "https://127.0.0.1:6443"
sealing_key_file = "kube-auth-1.pub"

[[apps]]
id = "prometheus"
name = "Prometheus"
project = "p1"
url = "http://127.0.0.1:9090"
allow = [{ role = "k8s_admin", project = "p1" }]
"#;

fn parse(text: &str) -> Result<Config, ConfigError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("portico.toml");
    std::fs::write(&path, text).unwrap();
    load(&[path], Vec::new())
}

fn problems(text: &str, roles: &[Role]) -> String {
    let config = parse(text).unwrap();
    config
        .validate(roles)
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default()
}

#[test]
fn a_full_configuration_serves_every_role() {
    assert_eq!(problems(FULL, &Role::ALL), "");
    assert_eq!(parse(FULL).unwrap().configured_roles(), Role::ALL);
}

#[test]
fn a_role_needs_its_own_sections_only() {
    let kube_auth = "[keystone]\nurl = \"http://127.0.0.1:5000/v3\"\n[kube_auth]\n\
        tls_cert_file = \"a\"\ntls_key_file = \"b\"\nclient_ca_file = \"c\"\nkey_files = [\"d\"]\n";
    assert_eq!(problems(kube_auth, &[Role::KubeAuth]), "");
    let missing = problems(kube_auth, &[Role::Gateway]);
    insta::assert_snapshot!("missing_sections", missing);
}

#[test]
fn a_panel_of_its_own_needs_the_gateways_public_key() {
    let missing = problems(FULL, &[Role::Panel]);
    insta::assert_snapshot!("panel_without_the_key_of_the_gateway", missing);
}

#[test]
fn all_problems_are_reported_at_once() {
    let broken = FULL
        .replace("https://127.0.0.1:6443", "http://127.0.0.1:6443")
        .replace("[store]", "[admin]\nlisten = \"127.0.0.1:9190\"\n[store]")
        .replace("/v3\"", "/v2\"");
    let message = problems(&broken, &Role::ALL);
    insta::assert_snapshot!("all_problems", message);
}

#[test]
fn a_cluster_id_counts_once() {
    let cluster = FULL.split("[[clusters]]").nth(1).unwrap();
    let cluster = cluster.split("[[apps]]").next().unwrap();
    let message = problems(&format!("{FULL}\n[[clusters]]\n{cluster}"), &Role::ALL);
    insta::assert_snapshot!("cluster_id_twice", message);
}

#[test]
fn a_policy_comes_from_one_place() {
    let map = "authorization_policy_config_map = { kubeconfig_file = \"policy.kubeconfig\" }\n";
    let with = |keys: &str| FULL.replace("[[apps]]", &format!("{keys}\n[[apps]]"));
    assert_eq!(problems(&with(map), &Role::ALL), "");
    let both = format!("authorization_policy_file = \"policy.json\"\n{map}");
    let message = problems(&with(&both), &Role::ALL);
    insta::assert_snapshot!("policy_from_two_places", message);
}

#[test]
fn a_printed_configuration_has_defaults_and_no_passwords() {
    let with_password = FULL.replace("http://127.0.0.1:9090", "http://reader:hush@127.0.0.1:9090");
    let text = parse(&with_password).unwrap().to_toml().unwrap();
    assert!(text.contains("default_domain = \"Default\""), "{text}");
    for secret in ["s3cret", "hush"] {
        assert!(!text.contains(secret), "{text}");
    }
    let refused = problems(&with_password, &Role::ALL);
    assert!(!refused.contains("hush"), "{refused}");
    insta::assert_snapshot!("password_in_the_url_of_an_app", refused);
    // what is printed can be read again
    parse(&text).unwrap();
}

#[test]
fn the_schema_describes_every_section() {
    let schema = serde_json::to_value(schemars::schema_for!(Config)).unwrap();
    for section in ["log", "store", "gateway", "kube_auth", "clusters", "apps"] {
        assert!(schema["properties"].get(section).is_some(), "{section}");
    }
}

#[test]
fn a_store_is_on_a_database_that_we_know() {
    let with = |url: &str| {
        let text = FULL.replace("postgres://portico:s3cret@db/portico", url);
        problems(&text, &Role::ALL)
    };
    for good in [
        "sqlite:///var/lib/portico/portico.db",
        "redis://127.0.0.1/0",
        "rediss://portico:s3cret@redis:6379/2?prefix=blue:&ca_file=/etc/ca.pem",
    ] {
        assert_eq!(with(good), "", "{good}");
    }
    let messages = [
        "mysql://db/portico",
        "redis://portico:s3cret@redis/0?ca_file=/x",
        "redis://portico:s3cret@redis/0?perfix=x",
        "rediss://portico:s3cret@redis/zero",
    ]
    .map(with)
    .join("\n");
    assert!(!messages.contains("s3cret"), "{messages}");
    insta::assert_snapshot!("urls_of_no_store", messages);
}

#[test]
fn finding_s13_hosts_of_the_admin_port_are_names() {
    let with = |hosts: &str| problems(&format!("{FULL}\n[admin]\nhosts = {hosts}\n"), &Role::ALL);
    assert_eq!(with(r#"["portico-1.example.org", "portico"]"#), "");
    let refused = with(r#"["http://portico:9180"]"#);
    insta::assert_snapshot!("host_with_a_scheme", refused);
}

#[test]
fn finding_o12_a_collision_of_addresses_is_named_by_a_key_that_is_set() {
    // panel.listen is not set: 127.0.0.1:9190 is its default
    let set = FULL.replace("[store]", "[admin]\nlisten = \"127.0.0.1:9190\"\n[store]");
    let of_set = problems(&set, &Role::ALL);
    let both = set.replace("[panel]\n", "[panel]\nlisten = \"127.0.0.1:9180\"\n");
    assert_eq!(problems(&both, &Role::ALL), "");
    let other = FULL.replace("[panel]\n", "[panel]\nlisten = \"127.0.0.1:9180\"\n");
    let output = [of_set, problems(&other, &Role::ALL)].join("\n");
    insta::assert_snapshot!("collision_of_addresses", output);
}

#[test]
fn finding_o12_a_plain_public_url_beside_tls_files_is_refused_at_the_start() {
    let tls = "tls_cert_file = \"a\"\ntls_key_file = \"b\"\napps_domain";
    let of_gateway = problems(&FULL.replacen("apps_domain", tls, 1), &Role::ALL);
    let of_panel = FULL
        .replacen("apps_domain", tls, 1)
        .replace("public_url = \"http", "public_url = \"https")
        .replace(
            "[panel]\n",
            "[panel]\npublic_url = \"http://localhost:8080\"\n",
        );
    let output = [of_gateway, problems(&of_panel, &Role::ALL)].join("\n");
    insta::assert_snapshot!("plain_public_url_beside_tls", output);
}

#[test]
fn finding_o12_a_time_without_a_unit_is_answered_with_an_example() {
    let short = FULL.replace("[store]", "[shutdown]\nnotice = \"3\"\n[store]");
    let output = parse(&short).unwrap_err().to_string();
    snapshot_settings().bind(|| insta::assert_snapshot!("time_without_a_unit", output));
}

#[test]
fn finding_o12_a_list_of_networks_comes_from_a_variable() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("portico.toml");
    std::fs::write(&path, FULL).unwrap();
    let with = |value: &str| {
        let variable = (
            "PORTICO_GATEWAY__TRUSTED_PROXIES".to_owned(),
            value.to_owned(),
        );
        load::<Config>(std::slice::from_ref(&path), [variable])
    };
    for (value, count) in [
        ("10.0.0.0/8", 1),
        ("10.0.0.0/8, 192.168.0.0/16", 2),
        ("[\"::1/128\"]", 1),
        ("", 0),
    ] {
        let gateway = with(value).unwrap().gateway.unwrap();
        assert_eq!(gateway.trusted_proxies.len(), count, "{value}");
    }
}

#[test]
fn enrolment_names_what_it_lacks() {
    let section = "\n[enrolment]\nsealing_key_file = \"kube-auth-1.pub\"\n";
    let with = |text: &str, roles: &[Role]| problems(&format!("{text}{section}"), roles);
    assert_eq!(with(FULL, &Role::ALL), "");
    let redis = FULL.replace("postgres://portico:s3cret@db/portico", "redis://db:6379/0");
    let on_redis = with(&redis, &Role::ALL);
    let store = "[store]\nurl = \"postgres://portico:s3cret@db/portico\"\n\
        key_files = [\"store-1.key\"]\n";
    let alone = with(&FULL.replace(store, ""), &[Role::Panel]);
    let sources = format!("{FULL}{section}sources = [\"magnum\"]\n");
    let of_sources = problems(&sources, &Role::ALL);
    // also for clusters made through Portico only
    let roles = "\n[enrolment.roles]\ndeveloper = \"d\"\nviewer = \"v\"\n";
    let of_roles = problems(&format!("{FULL}{section}{roles}"), &Role::ALL);
    let output = [on_redis, alone, of_sources, of_roles].join("\n");
    insta::assert_snapshot!("incomplete_enrolment", output);
    let unknown = format!("{FULL}{section}sources = [\"heat\"]\n");
    assert!(parse(&unknown).is_err());
}

#[test]
fn drivers_of_magnum_name_their_family() {
    let with = |section: &str| problems(&format!("{FULL}\n{section}"), &Role::ALL);
    let good = "[magnum]\nrelease = 20\n[magnum.drivers]\nk8s_acme = \"cluster_api\"\n";
    assert_eq!(with(good), "");
    let releases = [0, 2025].map(|release| with(&format!("[magnum]\nrelease = {release}\n")));
    insta::assert_snapshot!("releases_of_magnum", releases.join("\n"));
    let names = ["", "k8s_acme ", "k8s acme"]
        .map(|name| with(&format!("[magnum.drivers]\n\"{name}\" = \"heat\"\n")));
    insta::assert_snapshot!("names_of_drivers", names.join("\n"));
    let unknown = format!("{FULL}\n[magnum.drivers]\nk8s_acme = \"capi\"\n");
    let error = parse(&unknown).unwrap_err().to_string();
    snapshot_settings().bind(|| insta::assert_snapshot!("unknown_family_of_drivers", error));
}
