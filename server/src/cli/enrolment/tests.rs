mod replacement;

use super::checks::{ImportError, Member};
use super::*;
use crate::config::enrolment::{EnrolmentRoles, EnrolmentWebhook, RefusedAddress};
use portico_domain::enrolled_cluster::{API_SERVER_AUDIENCES, ClusterSource};
use portico_runtime::error_chain;
use portico_store::{AuditFilter, KeyRing};
use portico_testkit::snapshot_settings;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::path::PathBuf;

const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

fn authority() -> String {
    let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    issuer.pem()
}

fn server_certificate() -> String {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["kube.example.org".to_owned()]).unwrap();
    params.self_signed(&key).unwrap().pem()
}

struct Place {
    directory: tempfile::TempDir,
    store: Store,
    section: EnrolmentConfig,
    config: Config,
}

impl Place {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", directory.path().join("portico.db").display());
        let keys = KeyRing::random().unwrap();
        let store = Store::connect(&url, 2, keys).await.unwrap();
        store.migrate(jiff::Timestamp::UNIX_EPOCH).await.unwrap();
        let section = EnrolmentConfig {
            sealing_key_file: "kube-auth.pub".into(),
            api_networks: vec!["192.0.2.0/24".parse().unwrap()],
            sources: Vec::new(),
            roles: None,
            region: None,
            interface: "public".to_owned(),
            webhook: None,
        };
        Self {
            directory,
            store,
            section,
            config: Config::default(),
        }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Arguments for a cluster with an authority of its own.
    fn arguments(&self, name: &str, host: &str) -> ImportArgs {
        ImportArgs {
            name: name.to_owned(),
            server: format!("https://{host}:6443"),
            ca: self.file(&format!("{name}.crt"), &authority()),
            client_ca: None,
            owner_project: "p1".to_owned(),
            accepted_projects: Vec::new(),
            owner_only: false,
            accepted_roles: Vec::new(),
            any_role: false,
            api_audiences: Vec::new(),
            id: None,
        }
    }

    async fn import(&self, arguments: &ImportArgs) -> anyhow::Result<EnrolledCluster> {
        import::import(&self.store, &self.config, &self.section, arguments, NOW).await
    }

    async fn refusal(&self, arguments: &ImportArgs) -> ImportError {
        let error = self.import(arguments).await.unwrap_err();
        error.downcast().unwrap()
    }

    async fn stored(&self) -> Vec<EnrolledCluster> {
        all(&self.store).await.unwrap()
    }

    async fn list(&self) -> String {
        let format = OutputFormat::Table;
        list::list(&self.store, &self.section, format)
            .await
            .unwrap()
    }

    /// The actions and outcomes of the audit log, in their order.
    async fn actions(&self) -> Vec<(String, &'static str)> {
        let filter = AuditFilter::default();
        let mut events = self.store.audit().list(&filter, 50).await.unwrap();
        events.reverse();
        let events = events.into_iter().map(|stored| stored.event);
        events
            .map(|event| (event.action, event.outcome.as_str()))
            .collect()
    }
}

/// Returns the settings for snapshots with the ID of an imported cluster and with a new authority.
fn settings_with(id: Uuid) -> insta::Settings {
    let mut settings = snapshot_settings();
    settings.add_filter(&id.to_string(), "[ID]");
    settings.add_filter(
        "certificate-authority-data: [A-Za-z0-9+/=]+",
        "certificate-authority-data: [certificate]",
    );
    settings
}

fn of_magnum(id: u128) -> EnrolledCluster {
    let authority = authority();
    EnrolledCluster {
        id: Uuid::from_u128(id),
        name: "magnum".to_owned(),
        owner_project: "p1".to_owned(),
        accepted_projects: vec!["p1".to_owned()],
        accepted_roles: Vec::new(),
        api_url: "https://192.0.2.9:6443".to_owned(),
        ca: authority.clone(),
        client_ca: authority,
        api_audiences: API_SERVER_AUDIENCES.map(str::to_owned).to_vec(),
        source: ClusterSource::Magnum,
    }
}

#[tokio::test]
async fn a_cluster_is_imported_replaced_and_removed_and_it_is_recorded() {
    let place = Place::new().await;
    let mut arguments = place.arguments("shop", "192.0.2.7");
    arguments.server.push('/');
    arguments.accepted_projects = vec!["p2".to_owned(), "p1".to_owned()];
    arguments.accepted_roles = vec!["r1".to_owned()];
    let first = place.import(&arguments).await.unwrap();
    assert_eq!(place.stored().await, std::slice::from_ref(&first));
    assert_eq!(first.source, ClusterSource::Operator);
    assert_eq!(first.api_url, "https://192.0.2.7:6443");
    assert_eq!(first.accepted_projects, ["p1", "p2"]);
    assert_eq!(first.accepted_roles, ["r1"]);
    assert_eq!(first.ca, first.client_ca);

    assert_eq!(first.api_audiences, API_SERVER_AUDIENCES);

    // the authority was rotated, and any role of the owner's project is sufficient
    let mut again = place.arguments("shop", "192.0.2.7");
    again.id = Some(first.id);
    again.owner_only = true;
    again.any_role = true;
    let second = place.import(&again).await.unwrap();
    assert_eq!(place.stored().await, std::slice::from_ref(&second));
    assert_eq!(second.id, first.id);
    assert_ne!(second.ca, first.ca);
    assert_eq!(second.accepted_projects, ["p1"]);
    assert!(second.accepted_roles.is_empty());
    let settings = settings_with(first.id);
    let list = place.list().await;
    settings.bind(|| insta::assert_snapshot!("list", list));

    let text = remove::remove(&place.store, first.id, NOW).await.unwrap();
    settings.bind(|| insta::assert_snapshot!("removed_cluster", text));
    assert!(place.stored().await.is_empty());
    let gone = remove::remove(&place.store, first.id, NOW)
        .await
        .unwrap_err();
    settings.bind(|| insta::assert_snapshot!("unknown_cluster", gone));
    let entries = |action: &str| {
        [
            (action.to_owned(), "intended"),
            (action.to_owned(), "succeeded"),
        ]
    };
    let expected = ["cluster.import", "cluster.import", "cluster.remove"];
    assert_eq!(place.actions().await, expected.map(entries).as_flattened());
}

#[tokio::test]
async fn an_address_that_is_not_permitted_is_refused_and_nothing_is_recorded() {
    let place = Place::new().await;
    let mut arguments = place.arguments("shop", "198.51.100.7");
    let outside = place.refusal(&arguments).await;
    let reason = RefusedAddress::Outside("198.51.100.7".parse().unwrap());
    assert_eq!(outside, ImportError::Address(reason));
    insta::assert_snapshot!("address_outside_of_the_networks", outside);
    arguments.server = "https://kube.example.org:6443".to_owned();
    let name = place.refusal(&arguments).await;
    assert_eq!(name, ImportError::Address(RefusedAddress::Form));
    insta::assert_snapshot!("address_with_a_name", name);
    assert!(place.stored().await.is_empty() && place.actions().await.is_empty());
}

#[tokio::test]
async fn only_names_and_authorities_that_can_be_used_are_accepted() {
    let place = Place::new().await;
    let good = || place.arguments("shop", "192.0.2.7");
    let mut named = good();
    named.name = "$(reboot)".to_owned();
    let refusal = place.refusal(&named).await;
    assert_eq!(refusal, ImportError::Name("$(reboot)".to_owned()));

    let key = KeyPair::generate().unwrap().serialize_pem();
    for (file, text) in [("empty", ""), ("key", key.as_str())] {
        let mut arguments = good();
        arguments.ca = place.file(file, text);
        let refusal = place.refusal(&arguments).await;
        let of_ca = matches!(refusal, ImportError::Authority { option: "--ca", .. });
        assert!(of_ca, "{file}: {refusal}");
    }
    let leaf = place.file("leaf", &server_certificate());
    let mut arguments = good();
    arguments.client_ca = Some(leaf.clone());
    let refusal = place.refusal(&arguments).await;
    let of_client_ca = matches!(
        refusal,
        ImportError::NotAuthority {
            option: "--client-ca",
            ..
        }
    );
    assert!(of_client_ca, "{refusal}");
    // an API server may have a self-signed certificate, if another authority issues the client's
    arguments.client_ca = Some(place.file("client-ca", &authority()));
    arguments.ca = leaf;
    assert!(place.import(&arguments).await.is_ok());

    let mut arguments = place.arguments("other", "192.0.2.8");
    arguments.owner_project = "not an ID".to_owned();
    let refusal = place.refusal(&arguments).await;
    assert!(matches!(refusal, ImportError::Record(_)), "{refusal}");
    assert!(refusal.to_string().contains("owner_project"), "{refusal}");
}

#[tokio::test]
async fn no_part_of_a_private_key_is_stored() {
    let place = Place::new().await;
    let mut arguments = place.arguments("shop", "192.0.2.7");
    let key = KeyPair::generate().unwrap().serialize_pem();
    arguments.ca = place.file("both", &format!("{key}{}", authority()));
    let stored = place.import(&arguments).await.unwrap();
    assert!(!stored.ca.contains("PRIVATE") && !stored.client_ca.contains("PRIVATE"));
}

#[tokio::test]
async fn a_cluster_has_its_own_name_address_and_authority() {
    let mut place = Place::new().await;
    let first = place.arguments("shop", "192.0.2.7");
    let id = place.import(&first).await.unwrap().id;
    let taken = |member| ImportError::Taken {
        member,
        name: "shop".to_owned(),
        id,
    };
    let named = place.arguments("shop", "192.0.2.8");
    assert_eq!(place.refusal(&named).await, taken(Member::Name));
    let address = place.arguments("other", "192.0.2.7");
    assert_eq!(place.refusal(&address).await, taken(Member::Address));
    let mut issuer = place.arguments("other", "192.0.2.8");
    let theirs = &place.stored().await[0].client_ca;
    issuer.client_ca = Some(place.file("client-ca.crt", theirs));
    assert_eq!(place.refusal(&issuer).await, taken(Member::ClientAuthority));
    issuer.client_ca = None;
    assert!(place.import(&issuer).await.is_ok(), "the control case");

    let record = serde_json::json!({
        "id": Uuid::from_u128(1), "name": "configured", "owner_project": "p1",
        "api_url": "https://192.0.2.20:6443/", "sealing_key_file": "unused",
    });
    place.config.clusters = vec![serde_json::from_value(record).unwrap()];
    for (name, host, member) in [
        ("configured", "192.0.2.21", Member::Name),
        ("third", "192.0.2.20", Member::Address),
    ] {
        let refusal = place.refusal(&place.arguments(name, host)).await;
        let expected =
            matches!(&refusal, ImportError::Taken { member: found, .. } if *found == member);
        assert!(expected, "{refusal}");
    }
}

#[tokio::test]
async fn clusters_of_magnum_are_listed_and_neither_replaced_nor_removed() {
    let mut place = Place::new().await;
    let magnum = of_magnum(9);
    let enrolled = place.store.enrolled_clusters();
    enrolled.put(&magnum, NOW).await.unwrap();
    let mut arguments = place.arguments("shop", "192.0.2.7");
    arguments.id = Some(magnum.id);
    let refusal = place.refusal(&arguments).await;
    let of_magnum = matches!(refusal, ImportError::OfMagnum { .. });
    assert!(of_magnum, "{refusal}");
    let removal = remove::remove(&place.store, magnum.id, NOW)
        .await
        .unwrap_err();
    insta::assert_snapshot!("removal_of_a_cluster_of_magnum", removal);
    arguments.id = Some(Uuid::from_u128(10));
    let unknown = ImportError::Unknown(Uuid::from_u128(10));
    assert_eq!(place.refusal(&arguments).await, unknown);
    assert_eq!(place.stored().await, [magnum]);
    let list = place.list().await;
    insta::assert_snapshot!("list_of_clusters_of_magnum", list);
    place.section.api_networks.clear();
    let list = place.list().await;
    insta::assert_snapshot!("list_without_networks", list);
}

#[tokio::test]
async fn what_is_left_to_do_is_printed_for_the_cluster() {
    let mut place = Place::new().await;
    let mut arguments = place.arguments("shop", "192.0.2.7");
    let record = place.import(&arguments).await.unwrap();
    let without = api_server::after_import(&record, &place.section, None);
    let settings = settings_with(record.id);
    settings.bind(|| insta::assert_snapshot!("steps_without_a_webhook", without));
    place.section.webhook = Some(EnrolmentWebhook {
        url: "https://portico.example.org:9443".parse().unwrap(),
        ca_file: place.file("kube-auth-ca.crt", &authority()),
    });
    place.section.roles = Some(EnrolmentRoles {
        developer: "d1".to_owned(),
        viewer: "v1".to_owned(),
        exclude_namespaces: Vec::new(),
    });
    arguments.id = Some(record.id);
    arguments.accepted_projects = vec!["p2".to_owned()];
    let command = EnrolmentCommand::Import(Box::new(arguments));
    let text = run(&place.store, &place.config, &place.section, &command, NOW).await;
    let text = text.unwrap();
    settings.bind(|| insta::assert_snapshot!("steps", text));
}

#[tokio::test]
async fn nothing_is_stored_while_the_authority_of_kube_auth_cannot_be_read() {
    let mut place = Place::new().await;
    place.section.webhook = Some(EnrolmentWebhook {
        url: "https://portico.example.org:9443".parse().unwrap(),
        ca_file: "/nowhere/ca.crt".into(),
    });
    let arguments = place.arguments("shop", "192.0.2.7");
    let command = EnrolmentCommand::Import(Box::new(arguments));
    let failed = run(&place.store, &place.config, &place.section, &command, NOW).await;
    let error = error_chain(&*failed.unwrap_err());
    insta::assert_snapshot!("authority_that_cannot_be_read", error);
    assert!(place.stored().await.is_empty());
}
