//! 52 to 56: kubectl's exec plugin and kubeconfigs, as the program that was built beside this test.
use portico_testkit::{Cloud, CommandOutput, KeystoneProxy, Person, exec_info};
use serde_json::{Value, json};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::PathBuf;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// Devi with the variables of an openrc file, and her cloud pinned.
async fn devi(cloud: &Cloud) -> Person {
    let password = cloud.env.get("DEMO_PASSWORD").unwrap();
    let person = Person::with_openrc(cloud, "devi", password, "acme").unwrap();
    person.pin(cloud, "envvars").await.unwrap();
    person
}

async fn credential(cloud: &Cloud, person: &Person) -> CommandOutput {
    let server = cloud.env.get("KUBE_API_URL").unwrap();
    let cluster = cloud.env.get("CLUSTER_ID").unwrap();
    person.credential("envvars", cluster, server).await.unwrap()
}

fn assert_refused(message: &CommandOutput, because: &str) {
    // failed, unreachable, not permitted (docs/reference/exit-codes.md): never a panic's 101
    assert!(
        matches!(message.code, 1 | 69 | 77),
        "{}: {}",
        message.code,
        message.err
    );
    assert_eq!(message.out, "", "{}", message.err);
    assert_eq!(message.err.lines().count(), 1, "{}", message.err);
    assert!(message.err.contains(because), "{}", message.err);
}

fn files(person: &Person, directory: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(person.cache().join(directory)).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn json_file(person: &Person, directory: &str) -> PathBuf {
    let found = files(person, directory).into_iter();
    let mut json = found.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    json.next().unwrap()
}

fn mode(path: &std::path::Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn attack_52_a_cache_that_others_could_read_or_replace_is_not_used() {
    let cloud = Cloud::start().await.unwrap();
    let person = devi(&cloud).await;
    let token = credential(&cloud, &person).await.token().unwrap();
    for directory in ["tokens", "keystone"] {
        assert_eq!(mode(&person.cache().join(directory)), 0o700);
        for file in files(&person, directory) {
            assert_eq!(mode(&file), 0o600, "{}", file.display());
        }
    }
    let pins = person.home().join(".config/portico/clouds");
    assert_eq!(mode(&pins), 0o700);
    // written whole: the file is another one afterwards, and nothing half lies beside it
    let cached = json_file(&person, "tokens");
    let before = std::fs::metadata(&cached).unwrap().ino();
    let expired = std::fs::read_to_string(&cached).unwrap();
    let mut value: Value = serde_json::from_str(&expired).unwrap();
    value["expires_at"] = json!("2001-01-01T00:00:00Z");
    std::fs::write(&cached, value.to_string()).unwrap();
    let fresh = credential(&cloud, &person).await.token().unwrap();
    assert_ne!(fresh, token);
    assert_ne!(std::fs::metadata(&cached).unwrap().ino(), before);
    assert!(
        files(&person, "tokens")
            .iter()
            .all(|path| !path.to_string_lossy().ends_with(".new"))
    );
    for place in ["tokens", "keystone"] {
        let file = json_file(&person, place);
        let text = std::fs::read_to_string(&file).unwrap();
        // the Keystone token is looked at when there is no cluster token
        if place == "keystone" {
            std::fs::remove_file(json_file(&person, "tokens")).unwrap();
        }
        // readable by others
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert_refused(
            &credential(&cloud, &person).await,
            "can be read by other users",
        );
        // a link to a file that is good in itself
        let elsewhere = person.home().join(format!("{place}-elsewhere"));
        std::fs::rename(&file, &elsewhere).unwrap();
        std::fs::set_permissions(&elsewhere, std::fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&elsewhere, &file).unwrap();
        assert_refused(&credential(&cloud, &person).await, "is a link");
        assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), text);
        // another user's
        std::fs::remove_file(&file).unwrap();
        std::fs::copy(&elsewhere, &file).unwrap();
        if std::os::unix::fs::chown(&file, Some(12345), None).is_ok() {
            assert_refused(
                &credential(&cloud, &person).await,
                "belongs to another user",
            );
        }
        std::fs::remove_file(&file).unwrap();
        assert!(credential(&cloud, &person).await.token().is_ok());
    }
    // the pin decides where secrets go, so it is looked at in the same way
    let pin = std::fs::read_dir(&pins)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    std::fs::set_permissions(&pin, std::fs::Permissions::from_mode(0o666)).unwrap();
    assert_refused(
        &credential(&cloud, &person).await,
        "can be read by other users",
    );
    std::fs::set_permissions(&pin, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert!(credential(&cloud, &person).await.token().is_ok());
}

#[tokio::test]
async fn attack_53_a_kubeconfig_holds_no_secret_and_leaves_others_entries_alone() {
    let cloud = Cloud::start().await.unwrap();
    let mut person = devi(&cloud).await;
    let token = credential(&cloud, &person).await.token().unwrap();
    let mine = "# mine\napiVersion: v1\nkind: Config\ncurrent-context: mine\n\
        clusters: [{name: mine, cluster: {server: 'https://mine:6443'}}]\n\
        users: [{name: mine, user: {token: my-own-token}}]\n\
        contexts: [{name: mine, context: {cluster: mine, user: mine}}, {name: taken, context: {cluster: mine, user: mine}}]\n";
    let real = person.write("real/config", mine).unwrap();
    std::fs::create_dir_all(person.home().join(".kube")).unwrap();
    symlink(&real, person.home().join(".kube/config")).unwrap();
    let write = ["kubeconfig", "--cloud", "envvars", "--cluster", "acme-prod"];
    for _ in 0..2 {
        let message = person.portico(&write).await.unwrap();
        assert_eq!(
            (message.code, message.out.as_str()),
            (0, ""),
            "{}",
            message.err
        );
    }
    let taken = [&write[..], &["--context", "taken"]].concat();
    assert_refused(&person.portico(&taken).await.unwrap(), "not Portico's");
    let text = std::fs::read_to_string(&real).unwrap();
    let password = cloud.env.get("DEMO_PASSWORD").unwrap();
    for secret in [password, &token, "portico_v1.", "gAAAA"] {
        assert!(!text.contains(secret), "{text}");
    }
    assert!(text.contains("my-own-token") && text.contains("https://mine:6443"));
    assert_eq!(text.matches("name: acme-prod").count(), 1, "{text}");
    let link = std::fs::symlink_metadata(person.home().join(".kube/config")).unwrap();
    assert!(link.is_symlink(), "a link stays one");
    // of several files the one that has the context is changed
    let second = person.write("second", "").unwrap();
    person.set(
        "KUBECONFIG",
        &format!("{}:{}", second.display(), real.display()),
    );
    assert_eq!(person.portico(&write).await.unwrap().code, 0);
    assert_eq!(std::fs::read_to_string(&second).unwrap(), "");
    let listed = person.portico(&["kubeconfig", "list"]).await.unwrap();
    assert!(listed.out.contains("acme-prod") && !listed.out.contains("my-own-token"));
    let foreign = person
        .portico(&["kubeconfig", "remove", "mine"])
        .await
        .unwrap();
    assert_refused(&foreign, "not Portico's");
    let removed = person
        .portico(&["kubeconfig", "remove", "acme-prod"])
        .await
        .unwrap();
    assert_eq!(removed.code, 0, "{}", removed.err);
    let text = std::fs::read_to_string(&real).unwrap();
    assert!(
        !text.contains("portico") && text.contains("my-own-token"),
        "{text}"
    );
}

#[tokio::test]
async fn attack_54_a_kubeconfig_or_an_openrc_cannot_send_a_secret_to_another_address() {
    let cloud = Cloud::start().await.unwrap();
    let mut person = devi(&cloud).await;
    let evil = KeystoneProxy::start(&cloud.env).await.unwrap();
    std::fs::remove_dir_all(person.cache()).unwrap();
    // a Keystone that is not the pinned one: it would answer, and is not asked
    person.set("OS_AUTH_URL", &evil.url());
    let message = credential(&cloud, &person).await;
    assert_refused(&message, "nothing was sent");
    assert!(message.err.contains("--repin"), "{}", message.err);
    let login = person
        .portico(&["login", "--cloud", "envvars"])
        .await
        .unwrap();
    assert_refused(&login, "nothing was sent");
    assert_eq!(evil.requests(), 0);
    // over plain HTTP across a network, or with its certificate unchecked: not at all
    person.set("OS_AUTH_URL", "http://keystone.example.org:5000/v3");
    assert_refused(&credential(&cloud, &person).await, "https://");
    person.set("OS_AUTH_URL", &cloud.keystone.url());
    person.set("OS_INSECURE", "true");
    assert_refused(&credential(&cloud, &person).await, "certificate");
    person.unset("OS_INSECURE");
    // an API server that is not the pinned one would get a token that is good at the real one
    let cluster = cloud.env.get("CLUSTER_ID").unwrap();
    let foreign = person.credential("envvars", cluster, "https://evil.example:6443");
    assert_refused(&foreign.await.unwrap(), "evil.example");
    let silent = exec_info("v1", &json!({ "interactive": false }));
    let silent = person
        .credential_with("envvars", cluster, &silent)
        .await
        .unwrap();
    assert_refused(&silent, "provideClusterInfo");
    // kubectl's info about the cluster brings no authority, key or address that counts
    let info = exec_info(
        "v1",
        &json!({ "interactive": false, "cluster": {
            "server": cloud.env.get("KUBE_API_URL").unwrap(),
            "certificate-authority-data": "ZXZpbA==", "insecure-skip-tls-verify": true,
            "config": { "auth_url": evil.url(), "gateway": "https://evil.example", "sealing_key": "AAAA" },
        }}),
    );
    let control = person
        .credential_with("envvars", cluster, &info)
        .await
        .unwrap();
    assert!(control.token().unwrap().starts_with("portico_v1."));
    assert_eq!((evil.requests(), cloud.keystone.sign_ins()), (0, 2));
    // the gateway's certificate is checked against the pinned authority
    let other = Person::new().unwrap();
    let unknown = other.portico(&["login", &cloud.gateway.url]).await.unwrap();
    assert_refused(&unknown, "cannot reach");
    // a user who says so in so many words gets the other Keystone
    person.set("OS_AUTH_URL", &evil.url());
    let repin = person
        .portico(&["login", "--cloud", "envvars", "--repin"])
        .await
        .unwrap();
    assert_eq!(repin.code, 0, "{}", repin.err);
    assert!(evil.requests() > 0);
    assert!(credential(&cloud, &person).await.token().is_ok());
}

#[tokio::test]
async fn attack_55_standard_output_is_one_credential_or_nothing() {
    let cloud = Cloud::start().await.unwrap();
    let mut person = devi(&cloud).await;
    std::fs::remove_dir_all(person.cache()).unwrap();
    person.set("RUST_LOG", "trace");
    person.set("RUST_BACKTRACE", "1");
    for _ in 0..2 {
        let message = credential(&cloud, &person).await;
        assert_eq!((message.code, message.err.as_str()), (0, ""));
        assert_eq!(message.out.lines().count(), 1);
        let answer: Value = serde_json::from_str(&message.out).unwrap();
        assert_eq!(answer["kind"], "ExecCredential");
        let mut status: Vec<_> = answer["status"].as_object().unwrap().keys().collect();
        status.sort();
        assert_eq!(status, ["expirationTimestamp", "token"]);
    }
    std::fs::remove_dir_all(person.cache()).unwrap();
    person.set("OS_PASSWORD", "wrong");
    let refused = credential(&cloud, &person).await;
    assert_refused(&refused, "refused");
    assert!(!refused.err.contains("wrong") && !refused.err.contains("backtrace"));
}

#[tokio::test]
async fn attack_56_text_of_a_server_cannot_control_the_terminal() {
    let hostile = "pr\u{1b}]0;owned\u{7}\u{1b}[2Jod\u{9b}31m\u{202e}\r\n";
    let clusters = json!({ "clusters": [{
        "id": "6f0c1a52-0000-4000-8000-000000000001", "name": hostile,
        "api_url": "https://127.0.0.1:1", "ca_data": null,
        "sealing_key": {
            "kid": "x", "suite": "x", "public_key": "x",
        },
    }]});
    let cloud = Cloud::start().await.unwrap();
    let password = cloud.env.get("DEMO_PASSWORD").unwrap();
    let person = Person::with_openrc(&cloud, "devi", password, "acme").unwrap();
    let url = hostile_gateway(clusters.to_string(), 200).await;
    let message = person
        .portico(&["login", "--cloud", "envvars", &url])
        .await
        .unwrap();
    assert_eq!(message.code, 0, "{}", message.err);
    assert!(
        message.err.contains("owned[2Jod31m"),
        "the name itself is shown: {}",
        message.err
    );
    assert_tame(&message);
    let written = person
        .portico(&["kubeconfig", "--cloud", "envvars", "--stdout"])
        .await
        .unwrap();
    assert_eq!(written.code, 0, "{}", written.err);
    assert_tame(&written);
    let url = hostile_gateway(json!({ "message": hostile }).to_string(), 403).await;
    let message = person
        .portico(&["login", "--cloud", "envvars", "--repin", &url])
        .await
        .unwrap();
    assert_eq!(message.code, 77);
    assert!(message.err.contains("refused"), "{}", message.err);
    assert_tame(&message);
}

fn assert_tame(message: &CommandOutput) {
    for text in [&message.out, &message.err] {
        let wild = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(wild), "{text:?}");
    }
}

/// Answers everything with the same.
async fn hostile_gateway(body: String, status: u16) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 16 * 1024];
            let read = stream.read(&mut request).await.unwrap_or(0);
            // it is reached at all, so that it is sent the rest
            let ping = request[..read].starts_with(b"GET /ping");
            let status = if ping { 200 } else { status };
            let answer = format!(
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    url
}
