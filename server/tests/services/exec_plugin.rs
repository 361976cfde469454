//! kubectl's exec plugin in direct mode, against the real Keystone and the real clusters, with a
//! gateway of the test's own: it runs the program that was built beside the test.
use portico_test_support::time::eventually;
use portico_testkit::{Cloud, KeystoneAdmin, Person, TestUser, exec_info};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A user of the test's own, who is a developer in acme.
struct Fixture {
    cloud: Cloud,
    admin: KeystoneAdmin,
    user: TestUser,
    person: Person,
}

impl Fixture {
    async fn new() -> Self {
        let cloud = Cloud::start().await.unwrap();
        let admin = KeystoneAdmin::sign_in(&cloud.env).await.unwrap();
        let user = admin.create_user("plugin").await.unwrap();
        let (acme, role) = (
            cloud.env.get("PROJECT_ID_ACME").unwrap(),
            cloud.env.get("ROLE_ID_K8S_DEVELOPER").unwrap(),
        );
        admin.grant(&user.id, acme, role).await.unwrap();
        let password = user.password.expose_secret();
        let person = Person::with_openrc(&cloud, &user.name, password, "acme").unwrap();
        Self {
            cloud,
            admin,
            user,
            person,
        }
    }

    /// With the cloud of the environment pinned.
    async fn pinned() -> Self {
        let fixture = Self::new().await;
        fixture.person.pin(&fixture.cloud, "envvars").await.unwrap();
        fixture
    }

    fn var(&self, name: &str) -> &str {
        self.cloud.env.get(name).unwrap()
    }

    async fn credential(&self) -> portico_testkit::CommandOutput {
        self.credential_of("envvars").await
    }

    async fn credential_of(&self, cloud: &str) -> portico_testkit::CommandOutput {
        let (cluster, server) = (self.var("CLUSTER_ID"), self.var("KUBE_API_URL"));
        self.person
            .credential(cloud, cluster, server)
            .await
            .unwrap()
    }

    /// Loses every cluster token, and nothing else.
    fn lose_cluster_tokens(&self) {
        std::fs::remove_dir_all(self.person.cache().join("tokens")).unwrap();
    }

    fn lose_everything(&self) {
        std::fs::remove_dir_all(self.person.cache()).unwrap();
    }

    async fn done(self) {
        self.admin.delete_user(&self.user.id).await.unwrap();
    }
}

/// What the real API server makes of a token.
async fn can_list_pods(fixture: &Fixture, token: &str) -> bool {
    let pem = std::fs::read(fixture.var("KUBE_CA_FILE")).unwrap();
    let client = reqwest::Client::builder()
        .add_root_certificate(reqwest::Certificate::from_pem(&pem).unwrap())
        .build()
        .unwrap();
    let url = format!(
        "{}/api/v1/namespaces/shop/pods",
        fixture.var("KUBE_API_URL")
    );
    let answer = client.get(url).bearer_auth(token).send().await.unwrap();
    answer.status().is_success()
}

fn totp(secret: &str) -> String {
    let secret = totp_rs::Secret::Encoded(secret.to_owned())
        .to_bytes()
        .unwrap();
    let totp = totp_rs::TOTP::new_unchecked(totp_rs::Algorithm::SHA1, 6, 1, 30, secret);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    totp.generate(now.as_secs())
}

#[tokio::test]
async fn a_password_of_the_environment_opens_the_real_cluster_through_kubectl() {
    let fixture = Fixture::pinned().await;
    for kubectl in ["KUBECTL", "KUBECTL_CURRENT"] {
        let program = fixture.var(kubectl);
        // the version of the plugin is that of the kubectl on the PATH
        let bin = fixture.person.home().join(kubectl);
        std::fs::create_dir_all(&bin).unwrap();
        std::os::unix::fs::symlink(program, bin.join("kubectl")).unwrap();
        let path = format!("{}:/usr/bin:/bin", bin.display());
        let made = fixture
            .person
            .command(&portico_testkit::program("portico").unwrap())
            .args(["kubeconfig", "--cloud", "envvars", "--cluster", "acme-prod"])
            .env("PATH", path)
            .output()
            .await
            .unwrap();
        let message = String::from_utf8_lossy(&made.stderr).into_owned();
        assert!(made.status.success() && made.stdout.is_empty(), "{message}");
        let pods = fixture
            .person
            .kubectl(
                program,
                &["--context", "acme-prod", "-n", "shop", "get", "pods"],
            )
            .await
            .unwrap();
        assert_eq!(pods.code, 0, "{kubectl}: {}", pods.err);
        assert!(pods.out.contains("storefront"), "{}", pods.out);
    }
    fixture.done().await;
}

#[tokio::test]
async fn an_application_credential_without_a_secret_in_the_kubeconfig_serves_ci() {
    let mut fixture = Fixture::new().await;
    let acme = fixture.var("PROJECT_ID_ACME").to_owned();
    let made = fixture
        .admin
        .application_credential(&fixture.user, &acme, None);
    let (id, secret) = made.await.unwrap();
    let mut ci = Person::new().unwrap();
    ci.set("OS_AUTH_URL", &fixture.cloud.keystone.url());
    ci.set("OS_AUTH_TYPE", "v3applicationcredential");
    ci.set("OS_APPLICATION_CREDENTIAL_ID", &id);
    ci.set("OS_APPLICATION_CREDENTIAL_SECRET", secret.expose_secret());
    ci.pin(&fixture.cloud, "envvars").await.unwrap();
    let written = ci
        .portico(&[
            "kubeconfig",
            "--cloud",
            "envvars",
            "--cluster",
            "acme-prod",
            "--stdout",
        ])
        .await
        .unwrap();
    assert_eq!(written.code, 0, "{}", written.err);
    for hidden in [
        secret.expose_secret(),
        &id,
        "portico_v1.",
        "gAAAA",
        "token:",
    ] {
        assert!(!written.out.contains(hidden), "{hidden} in {}", written.out);
    }
    ci.write("ci.kubeconfig", &written.out).unwrap();
    let kubectl = fixture.var("KUBECTL_CURRENT");
    let get = ["--kubeconfig", "ci.kubeconfig", "-n", "shop", "get", "pods"];
    let pods = ci.kubectl(kubectl, &get).await.unwrap();
    assert_eq!(pods.code, 0, "{}", pods.err);
    // a kubeconfig from another job works where the URL is not set, and only at the pinned one
    ci.unset("OS_AUTH_URL");
    let pods = ci.kubectl(kubectl, &get).await.unwrap();
    assert_eq!(pods.code, 0, "{}", pods.err);
    assert_eq!(fixture.cloud.keystone.sign_ins(), 1, "the login's");
    fixture.person = ci;
    fixture.done().await;
}

#[tokio::test]
async fn an_application_credential_that_no_cluster_takes_is_explained() {
    let mut fixture = Fixture::new().await;
    let acme = fixture.var("PROJECT_ID_ACME").to_owned();
    let rules = json!([{ "service": "compute", "method": "GET", "path": "/v2.1/servers" }]);
    let made = fixture
        .admin
        .application_credential(&fixture.user, &acme, Some(rules));
    let (id, secret) = made.await.unwrap();
    fixture.person.set("OS_APPLICATION_CREDENTIAL_ID", &id);
    fixture
        .person
        .set("OS_APPLICATION_CREDENTIAL_SECRET", secret.expose_secret());
    let refused = fixture.person.pin(&fixture.cloud, "envvars").await;
    assert!(refused.unwrap_err().to_string().contains("access rules"));
    let made = fixture
        .admin
        .application_credential(&fixture.user, &acme, None);
    let (id, secret) = made.await.unwrap();
    fixture.person.set("OS_APPLICATION_CREDENTIAL_ID", &id);
    fixture
        .person
        .set("OS_APPLICATION_CREDENTIAL_SECRET", secret.expose_secret());
    fixture.person.set("OS_PROJECT_NAME", "globex");
    let refused = fixture.person.pin(&fixture.cloud, "envvars").await;
    let error = refused.unwrap_err().to_string();
    assert!(
        error.contains("belongs to the project acme") && error.contains("globex"),
        "{error}"
    );
    fixture.person.unset("OS_PROJECT_NAME");
    fixture.person.pin(&fixture.cloud, "envvars").await.unwrap();
    fixture.done().await;
}

#[tokio::test]
async fn twenty_kubectl_at_once_sign_in_once() {
    let fixture = Fixture::pinned().await;
    let write = ["kubeconfig", "--cloud", "envvars", "--cluster", "acme-prod"];
    assert_eq!(fixture.person.portico(&write).await.unwrap().code, 0);
    fixture.lose_everything();
    let before = fixture.cloud.keystone.sign_ins();
    let get = ["-n", "shop", "get", "pods"];
    let kubectl = || fixture.person.kubectl(fixture.var("KUBECTL_CURRENT"), &get);
    let message = futures::future::join_all((0..20).map(|_| kubectl())).await;
    for message in message {
        let message = message.unwrap();
        assert_eq!(message.code, 0, "{}", message.err);
    }
    assert_eq!(fixture.cloud.keystone.sign_ins() - before, 1);
    // and the next one sends no request to Keystone
    let requests = fixture.cloud.keystone.requests();
    assert_eq!(kubectl().await.unwrap().code, 0);
    assert_eq!(fixture.cloud.keystone.requests(), requests);
    fixture.done().await;
}

#[tokio::test]
async fn an_outage_of_keystone_and_of_the_gateway_is_survived() {
    let mut fixture = Fixture::pinned().await;
    let token = fixture.credential().await.token().unwrap();
    fixture.cloud.keystone.set_away(true);
    fixture.cloud.gateway.stop().await.unwrap();
    assert_eq!(fixture.credential().await.token().unwrap(), token);
    // without a cluster token the Keystone token that lies here is sealed once more
    fixture.lose_cluster_tokens();
    let again = fixture.credential().await.token().unwrap();
    assert_ne!(again, token);
    assert!(can_list_pods(&fixture, &again).await);
    // without any token there are no clusters, which is reported in one line
    fixture.lose_everything();
    let failed = fixture.credential().await;
    assert_eq!((failed.code, failed.out.as_str()), (69, ""));
    assert_eq!(failed.err.lines().count(), 1, "{}", failed.err);
    assert!(failed.err.contains("cannot ask Keystone"), "{}", failed.err);
    fixture.cloud.keystone.set_away(false);
    assert!(fixture.credential().await.token().is_ok());
    fixture.done().await;
}

#[tokio::test]
async fn after_a_401_a_good_token_is_confirmed_once_and_a_dead_one_replaced() {
    let fixture = Fixture::pinned().await;
    // this process asks like a kubectl that runs its plugin again
    let token = fixture.credential().await.token().unwrap();
    let (requests, sign_ins) = (
        fixture.cloud.keystone.requests(),
        fixture.cloud.keystone.sign_ins(),
    );
    for _ in 0..3 {
        assert_eq!(fixture.credential().await.token().unwrap(), token);
    }
    assert_eq!(fixture.cloud.keystone.sign_ins(), sign_ins);
    assert_eq!(fixture.cloud.keystone.requests(), requests + 1);
    let kept = keystone_token(&fixture);
    fixture.admin.revoke_token(&kept.into()).await.unwrap();
    // as if a minute had passed since the token was confirmed
    for entry in std::fs::read_dir(fixture.person.cache().join("tokens")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "holders") {
            let text = std::fs::read_to_string(&path).unwrap();
            let mut had: Value = serde_json::from_str(&text).unwrap();
            had["confirmed_at"] = Value::Null;
            std::fs::write(&path, had.to_string()).unwrap();
        }
    }
    let fresh = fixture.credential().await.token().unwrap();
    assert_ne!(fresh, token);
    assert_eq!(fixture.cloud.keystone.sign_ins(), sign_ins + 1);
    assert!(can_list_pods(&fixture, &fresh).await);
    fixture.done().await;
}

fn keystone_token(fixture: &Fixture) -> String {
    let directory = std::fs::read_dir(fixture.person.cache().join("keystone")).unwrap();
    let file = directory
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|ending| ending == "json"))
        .unwrap();
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    kept["token"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_wrong_password_is_sent_once_until_it_is_corrected() {
    let mut fixture = Fixture::pinned().await;
    fixture.lose_everything();
    fixture.person.set("OS_PASSWORD", "wrong");
    let before = fixture.cloud.keystone.sign_ins();
    for _ in 0..5 {
        let refused = fixture.credential().await;
        assert_eq!((refused.code, refused.out.as_str()), (1, ""));
        assert_eq!(refused.err.lines().count(), 1, "{}", refused.err);
        assert!(!refused.err.contains("wrong"), "{}", refused.err);
    }
    assert_eq!(fixture.cloud.keystone.sign_ins() - before, 1);
    let password = fixture.user.password.expose_secret().to_owned();
    fixture.person.set("OS_PASSWORD", &password);
    assert!(fixture.credential().await.token().is_ok());
    fixture.done().await;
}

#[tokio::test]
async fn a_second_factor_is_taken_with_a_receipt_and_missed_without_a_question() {
    let mut fixture = Fixture::new().await;
    let secret = fixture.admin.require_totp(&fixture.user.id).await.unwrap();
    let missing = fixture.person.pin(&fixture.cloud, "envvars").await;
    assert!(missing.unwrap_err().to_string().contains("OS_PASSCODE"));
    fixture.person.set("OS_PASSCODE", &totp(&secret));
    fixture.person.pin(&fixture.cloud, "envvars").await.unwrap();
    // the code is used up, and the token that it brought serves until its end
    fixture.person.unset("OS_PASSCODE");
    fixture.person.unset("OS_PASSWORD");
    let token = fixture.credential().await.token().unwrap();
    assert!(can_list_pods(&fixture, &token).await);
    fixture.done().await;
}

#[tokio::test]
async fn a_token_is_rescoped_to_the_project() {
    let mut fixture = Fixture::pinned().await;
    let acme = fixture.var("PROJECT_ID_ACME").to_owned();
    let token = fixture.admin.token_of(&fixture.user, &acme).await.unwrap();
    for name in ["OS_USERNAME", "OS_PASSWORD", "OS_USER_DOMAIN_NAME"] {
        fixture.person.unset(name);
    }
    fixture.person.set("OS_TOKEN", token.expose_secret());
    fixture.person.set("OS_AUTH_TYPE", "v3token");
    let sealed = fixture.credential().await.token().unwrap();
    assert!(sealed.starts_with("portico_v1."));
    assert!(can_list_pods(&fixture, &sealed).await);
    fixture.person.set("OS_PROJECT_NAME", "globex");
    let refused = fixture.credential().await;
    assert_eq!(refused.code, 1, "the user has no role in globex");
    fixture.done().await;
}

#[tokio::test]
async fn clouds_yaml_is_read_with_secure_yaml_and_windows_line_ends() {
    let fixture = Fixture::new().await;
    let clouds = format!(
        "clouds:\r\n  acme:\r\n    auth:\r\n      auth_url: {}\r\n      username: {}\r\n      user_domain_id: default\r\n      \
         project_id: {}\r\n    region_name: one\r\n",
        fixture.cloud.keystone.url(),
        fixture.user.name,
        fixture.var("PROJECT_ID_ACME"),
    );
    let secure = format!(
        "clouds:\r\n  acme:\r\n    auth:\r\n      password: {}\r\n",
        fixture.user.password.expose_secret()
    );
    let person = Person::new().unwrap();
    person
        .write(".config/openstack/clouds.yaml", &clouds)
        .unwrap();
    person
        .write(".config/openstack/secure.yaml", &secure)
        .unwrap();
    person.pin(&fixture.cloud, "acme").await.unwrap();
    let (cluster, server) = (fixture.var("CLUSTER_ID"), fixture.var("KUBE_API_URL"));
    let token = person.credential("acme", cluster, server).await.unwrap();
    assert!(can_list_pods(&fixture, &token.token().unwrap()).await);
    fixture.done().await;
}

#[tokio::test]
async fn two_clouds_and_two_clusters_do_not_mix() {
    let fixture = Fixture::pinned().await;
    let password = fixture.var("DEMO_PASSWORD");
    let file = |user: &str, project: &str| {
        format!(
            "{{auth: {{auth_url: '{}', username: {user}, password: '{password}', user_domain_id: default, \
             project_name: {project}, project_domain_id: default}}}}",
            fixture.cloud.keystone.url(),
        )
    };
    let person = Person::new().unwrap();
    let clouds = format!(
        "clouds: {{one: {}, two: {}}}",
        file("devi", "acme"),
        file("devi", "globex")
    );
    person.write("clouds.yaml", &clouds).unwrap();
    person.pin(&fixture.cloud, "one").await.unwrap();
    person.pin(&fixture.cloud, "two").await.unwrap();
    let acme = (fixture.var("CLUSTER_ID"), fixture.var("KUBE_API_URL"));
    let globex = (fixture.var("CLUSTER2_ID"), fixture.var("KUBE2_API_URL"));
    let one = person.credential("one", acme.0, acme.1).await.unwrap();
    let two = person.credential("two", globex.0, globex.1).await.unwrap();
    assert_ne!(one.token().unwrap(), two.token().unwrap());
    assert!(can_list_pods(&fixture, &one.token().unwrap()).await);
    // a cluster of the other project is not this cloud's
    let crossed = person.credential("one", globex.0, globex.1).await.unwrap();
    assert_eq!((crossed.code, crossed.out.as_str()), (1, ""));
    assert!(crossed.err.contains("not pinned"), "{}", crossed.err);
    fixture.done().await;
}

#[tokio::test]
async fn a_new_sealing_key_comes_from_the_pinned_gateway() {
    let mut fixture = Fixture::pinned().await;
    let kid = |token: &str| token.split('.').nth(1).unwrap().to_owned();
    let before = fixture.credential().await.token().unwrap();
    let key = portico_assertion::PrivateKey::generate();
    let file = fixture.person.home().join("new.pub");
    key.public().write_new(&file).unwrap();
    let old = format!(
        "{}/keys/kube-auth-1.pub",
        fixture.cloud.env.installation().display()
    );
    let new = file.display().to_string();
    fixture
        .cloud
        .gateway
        .restart_with(&[(&old, &new)])
        .await
        .unwrap();
    fixture.lose_cluster_tokens();
    let after = fixture.credential().await.token().unwrap();
    assert_ne!(kid(&before), kid(&after));
    assert_eq!(kid(&after), key.kid());
    // the key is pinned now: it counts while the gateway is gone
    fixture.cloud.gateway.stop().await.unwrap();
    fixture.lose_cluster_tokens();
    let later = fixture.credential().await.token().unwrap();
    assert_eq!(kid(&later), key.kid());
    fixture.done().await;
}

#[tokio::test]
async fn what_kubectl_asks_is_answered_in_its_version_or_refused_in_a_line() {
    let mut fixture = Fixture::pinned().await;
    let (cluster, server) = (
        fixture.var("CLUSTER_ID").to_owned(),
        fixture.var("KUBE_API_URL").to_owned(),
    );
    let spec = json!({ "interactive": false, "cluster": { "server": server } });
    for version in ["v1", "v1beta1"] {
        let info = exec_info(version, &spec);
        let message = fixture.person.credential_with("envvars", &cluster, &info);
        let message = message.await.unwrap();
        let answer: Value = serde_json::from_str(&message.out).unwrap();
        let asked = format!("client.authentication.k8s.io/{version}");
        assert_eq!(answer["apiVersion"], asked);
        assert_eq!(answer["kind"], "ExecCredential");
        assert!(answer["status"]["expirationTimestamp"].is_string());
        assert_eq!(message.err, "");
    }
    for broken in [exec_info("v1alpha1", &spec), "{".to_owned(), String::new()] {
        let message = fixture.person.credential_with("envvars", &cluster, &broken);
        let message = message.await.unwrap();
        assert_eq!((message.code, message.out.as_str()), (1, ""), "{broken}");
        assert_eq!(message.err.lines().count(), 1, "{}", message.err);
    }
    // run by hand
    let message = fixture
        .person
        .portico(&["credential", "--cluster", &cluster])
        .await
        .unwrap();
    assert!(
        message.token().is_ok(),
        "the pinned cloud of the environment"
    );
    fixture.lose_everything();
    fixture.person.unset("OS_PASSWORD");
    for interactive in [json!(false), Value::Null] {
        let spec = json!({ "interactive": interactive.as_bool().unwrap_or(false), "cluster": { "server": server } });
        let info = exec_info("v1", &spec);
        let message = fixture.person.credential_with("envvars", &cluster, &info);
        let message = message.await.unwrap();
        assert_eq!((message.code, message.out.as_str()), (1, ""));
        assert!(message.err.contains("OS_PASSWORD") && message.err.contains("portico login"));
        assert_eq!(message.err.lines().count(), 1, "{}", message.err);
    }
    fixture.done().await;
}

#[tokio::test]
async fn a_home_that_cannot_be_written_to_costs_the_cache_only() {
    let mut fixture = Fixture::pinned().await;
    let file = fixture.person.write("occupied", "").unwrap();
    let below = file.join("cache").display().to_string();
    fixture.person.set("XDG_CACHE_HOME", &below);
    let message = fixture.credential().await;
    assert!(can_list_pods(&fixture, &message.token().unwrap()).await);
    assert!(message.err.contains("without a cache"), "{}", message.err);
    fixture.done().await;
}

#[tokio::test]
async fn signing_out_revokes_the_keystone_token_and_forgets_the_pin_when_asked() {
    let fixture = Fixture::pinned().await;
    let token = fixture.credential().await.token().unwrap();
    let kept = keystone_token(&fixture).into();
    assert!(fixture.admin.token_is_good(&kept).await.unwrap());
    let out = ["logout", "--cloud", "envvars"];
    let message = fixture.person.portico(&out).await.unwrap();
    assert_eq!(
        (message.code, message.out.as_str()),
        (0, ""),
        "{}",
        message.err
    );
    assert!(!fixture.admin.token_is_good(&kept).await.unwrap());
    assert_ne!(fixture.credential().await.token().unwrap(), token);
    let forgotten = [&out[..], &["--forget"]].concat();
    assert_eq!(fixture.person.portico(&forgotten).await.unwrap().code, 0);
    let after = fixture.credential().await;
    assert!(
        after.err.contains("portico login --cloud envvars"),
        "{}",
        after.err
    );
    fixture.done().await;
}

#[tokio::test]
async fn ctrl_c_ends_it_at_once_and_leaves_no_lock() {
    let fixture = Fixture::pinned().await;
    fixture.lose_everything();
    fixture.cloud.keystone.set_silent(true);
    let cluster = fixture.var("CLUSTER_ID");
    let child = fixture
        .person
        .command(&portico_testkit::program("portico").unwrap())
        .args(["credential", "--cloud", "envvars", "--cluster", cluster])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    eventually("it waits for Keystone", async || {
        fixture.cloud.keystone.held() > 0
    })
    .await;
    let id = child.id().unwrap().to_string();
    let mut kill = tokio::process::Command::new("kill");
    assert!(kill.args(["-INT", &id]).status().await.unwrap().success());
    let ended = tokio::time::timeout(Duration::from_secs(2), child.wait_with_output());
    let ended = ended.await.expect("it ends").unwrap();
    assert!(!ended.status.success() && ended.stdout.is_empty());
    fixture.cloud.keystone.set_silent(false);
    assert!(fixture.credential().await.token().is_ok());
    fixture.done().await;
}
