//! A cluster that Magnum does not have: an operator imports a real API server, its users reach it through
//! Portico, and the operator removes it.
use crate::panel::Panel;
use crate::story::log_in;
use crate::tenant::Tenant;
use portico_domain::identity::project_role_group;
use portico_testkit::{CommandOutput, KubeApiServer, Person};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, SanType,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Pause between two looks.
const PAUSE: Duration = Duration::from_secs(1);
/// Maximum time until the gateway, the panel, kube-auth and the API server know of a change, one after
/// another.
const PATIENCE: Duration = Duration::from_secs(60);
/// Where the printed lines have the webhook's files.
const DIRECTORY: &str = "/etc/kubernetes/portico/";

/// The machine of the stack's operator, and the authority of the client certificate of one API server.
struct Operator {
    person: Person,
    authority: CertifiedIssuer<'static, KeyPair>,
    /// The authority of the API server's certificate.
    ca: PathBuf,
    client_ca: PathBuf,
}

impl Operator {
    fn new(tenant: &Tenant, ca_pem: &str) -> Self {
        let mut person = Person::new().unwrap();
        let config = tenant.env.get("PORTICO_CONFIG").unwrap();
        person.set("PORTICO_CONFIG", config);
        let authority = authority("imported-clients");
        Self {
            ca: person.write("ca.crt", ca_pem).unwrap(),
            client_ca: person.write("client-ca.crt", &authority.pem()).unwrap(),
            person,
            authority,
        }
    }

    /// Imports the cluster of the tenant with these further words.
    async fn import(
        &self,
        tenant: &Tenant,
        server: &str,
        ca: &Path,
        more: &[&str],
    ) -> CommandOutput {
        let name = tenant.name("imported");
        let words = [
            "enrolment",
            "import",
            "--name",
            &name,
            "--server",
            server,
            "--ca",
            ca.to_str().unwrap(),
            "--owner-project",
            &tenant.project,
        ];
        let words: Vec<_> = words.iter().chain(more).copied().collect();
        self.person.portico(&words).await.unwrap()
    }

    /// Returns the record of the list with this ID.
    async fn listed(&self, id: &str) -> Option<Value> {
        let words = ["enrolment", "list", "-o", "json"];
        let ran = self.person.portico(&words).await.unwrap();
        assert_eq!(ran.code, 0, "{}", ran.err);
        let rows: Vec<Value> = serde_json::from_str(&ran.out).unwrap();
        rows.into_iter().find(|row| row["id"] == id)
    }

    /// Does what the import has printed on the machine of the API server; returns its flags.
    fn configure(&self, printed: &str, id: &str) -> Vec<String> {
        let mark = format!("# File: {DIRECTORY}webhook.kubeconfig (mode 0600)\n");
        let (_, rest) = printed.split_once(&mark).unwrap();
        let (kubeconfig, _) = rest.split_once("\n# Flags of kube-apiserver").unwrap();
        let file = self.person.write("webhook/webhook.kubeconfig", kubeconfig);
        let directory = file.unwrap().parent().unwrap().display().to_string();
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        let uri = format!("portico:cluster:{id}");
        params.subject_alt_names = vec![SanType::URI(uri.as_str().try_into().unwrap())];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.authority).unwrap();
        for (name, text) in [
            ("webhook/portico-webhook.crt", certificate.pem()),
            ("webhook/portico-webhook.key", key.serialize_pem()),
        ] {
            self.person.write(name, &text).unwrap();
        }
        printed
            .lines()
            .filter(|line| line.starts_with("--authentication-token-webhook-"))
            .map(|flag| flag.replace(DIRECTORY, &format!("{directory}/")))
            .collect()
    }
}

fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Returns the ID that an import has printed.
fn id_of(ran: &CommandOutput) -> String {
    assert_eq!(ran.code, 0, "{}", ran.err);
    let first = ran.out.lines().next().unwrap();
    let (_, id) = first.split_once("with the ID ").unwrap();
    id.trim_end_matches('.').to_owned()
}

/// Returns the state of a cluster in the panel's list of the project's clusters.
async fn state(panel: &mut Panel, id: &str) -> Option<Value> {
    let (status, text) = panel
        .request("clusters/states", &json!({"clusters": []}))
        .await;
    assert!(status.is_success(), "{status} {text}");
    let states: Vec<Value> = serde_json::from_str(&text).unwrap();
    states.into_iter().find(|state| state["id"] == id)
}

/// Waits until the state of a cluster in that list is what a condition wants.
async fn until(panel: &mut Panel, id: &str, condition: impl Fn(Option<&Value>) -> bool) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let found = state(panel, id).await;
        if condition(found.as_ref()) {
            return;
        }
        assert!(Instant::now() < deadline, "{found:?}");
        sleep(PAUSE).await;
    }
}

/// Reads the namespaces of a cluster through the panel.
async fn namespaces(panel: &mut Panel, id: &str) -> Result<String, String> {
    let resource = json!({"group": "", "version": "v1", "plural": "pods"});
    let body = json!({"cluster": id, "resource": resource});
    let (status, text) = panel.request("resources/namespaces", &body).await;
    match status.is_success() {
        true => Ok(text),
        false => Err(format!("{status} {text}")),
    }
}

/// Gives the developers of the tenant's project the right to list nodes and namespaces.
async fn bind(tenant: &Tenant, api: &KubeApiServer, role: &str) {
    let group = project_role_group(&tenant.project, role);
    let group = format!("--group={group}");
    for words in [
        [
            "create",
            "clusterrole",
            "reader",
            "--verb=get,list",
            "--resource=namespaces,nodes",
        ],
        [
            "create",
            "clusterrolebinding",
            "reader",
            "--clusterrole=reader",
            &group,
        ],
    ] {
        api.kubectl(&words).await.unwrap();
    }
}

#[tokio::test]
async fn an_imported_cluster_is_listed_reached_and_removed() {
    Tenant::run(|tenant| async move {
        let role = tenant.env.get("ROLE_ID_K8S_DEVELOPER").unwrap();
        let granted = tenant.admin.grant(&tenant.member.id, &tenant.project, role);
        granted.await.unwrap();
        let mut api = KubeApiServer::start(&tenant.env, &[]).await.unwrap();
        let operator = Operator::new(&tenant, &api.ca_pem);
        let client_ca = operator.client_ca.to_str().unwrap();
        let mut panel = Panel::sign_in(&tenant).await;

        // a wrong authority: the record is stored, and the API server gets no token
        let stranger = operator.person.write("stranger.crt", &authority("x").pem());
        let more = ["--client-ca", client_ca, "--accepted-role", role];
        let ran = operator
            .import(&tenant, &api.url, &stranger.unwrap(), &more)
            .await;
        let id = id_of(&ran);
        until(&mut panel, &id, |found| {
            let status = found.and_then(|state| state["status"].as_str());
            status.is_some_and(|status| status.contains("cannot be reached"))
        })
        .await;
        assert!(namespaces(&mut panel, &id).await.is_err());

        // the right one, for the same record; what is left out stays
        let more = ["--id", &id];
        let ran = operator
            .import(&tenant, &format!("{}/", api.url), &operator.ca, &more)
            .await;
        assert_eq!(id_of(&ran), id);
        let row = operator.listed(&id).await.unwrap();
        assert_eq!(row["source"], "operator");
        assert_eq!(row["api_url"], api.url.as_str());
        assert_eq!(row["accepted_roles"], json!([role]));
        assert_eq!(row["refusal"], Value::Null, "{row}");

        let flags = operator.configure(&ran.out, &id);
        assert_eq!(flags.len(), 3, "{}", ran.out);
        api.restart_with(&flags).await.unwrap();
        bind(&tenant, &api, role).await;
        until(&mut panel, &id, |found| {
            found.is_some_and(|state| state["health"] != "failed")
        })
        .await;
        let read = namespaces(&mut panel, &id).await.unwrap();
        assert!(read.contains("kube-system"), "{read}");
        let ran = log_in(&tenant).await;
        assert!(ran.err.contains(&tenant.name("imported")), "{}", ran.err);

        let ran = operator
            .person
            .portico(&["enrolment", "remove", "--id", &id])
            .await;
        let ran = ran.unwrap();
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(operator.listed(&id).await.is_none());
        until(&mut panel, &id, |found| found.is_none()).await;
        assert!(namespaces(&mut panel, &id).await.is_err());
    })
    .await;
}

#[tokio::test]
async fn an_address_outside_of_the_list_and_a_wrong_authority_are_refused() {
    Tenant::run(|tenant| async move {
        let operator = Operator::new(&tenant, &authority("imported").pem());
        let (permitted, other) = ("https://127.0.0.1:1", "https://127.0.0.1:2");
        for (server, reason) in [
            ("https://192.0.2.7:6443", "not in enrolment.api_networks"),
            ("https://169.254.169.254", "not in enrolment.api_networks"),
            (
                "https://[::ffff:169.254.169.254]:443",
                "not in enrolment.api_networks",
            ),
            ("https://[::1]:6443", "not in enrolment.api_networks"),
            // a name that resolves to a permitted address is refused too
            ("https://localhost:6443", "with an IP address and a port"),
        ] {
            let ran = operator.import(&tenant, server, &operator.ca, &[]).await;
            assert_eq!(ran.code, 1, "{server}: {}", ran.out);
            assert!(ran.err.contains(reason), "{server}: {}", ran.err);
        }

        // not an authority: a certificate that issues none
        let key = KeyPair::generate().unwrap();
        let leaf = CertificateParams::new(vec!["kube.example.org".to_owned()]).unwrap();
        let leaf = leaf.self_signed(&key).unwrap().pem();
        let leaf = operator.person.write("leaf.crt", &leaf).unwrap();
        let words = ["--client-ca", leaf.to_str().unwrap()];
        let ran = operator
            .import(&tenant, permitted, &operator.ca, &words)
            .await;
        assert_eq!(ran.code, 1, "{}", ran.out);
        assert!(ran.err.contains("not one of an authority"), "{}", ran.err);

        // the authority of another cluster; control case: the first record with it is stored
        let ran = operator.import(&tenant, permitted, &operator.ca, &[]).await;
        let id = id_of(&ran);
        let mut import = vec!["enrolment", "import", "--server", other, "--name", "other"];
        import.extend(["--owner-project", tenant.project.as_str()]);
        import.extend(["--ca", operator.ca.to_str().unwrap()]);
        let ran = operator.person.portico(&import).await.unwrap();
        assert_eq!(ran.code, 1, "{}", ran.out);
        let reason = "the same authority of client certificates";
        assert!(ran.err.contains(reason), "{}", ran.err);
        let ran = operator
            .person
            .portico(&["enrolment", "remove", "--id", &id])
            .await;
        assert_eq!(ran.unwrap().code, 0);
    })
    .await;
}
