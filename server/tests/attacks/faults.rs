//! Case 92: a wrong configuration opens nothing.
use std::{
    net::{SocketAddr, TcpStream},
    path::Path,
    process::Stdio,
    time::Duration,
};

use http::StatusCode;
use tokio::process::Command;

use crate::program::{Program, Wanted};

/// sysexits(3): the configuration must be changed.
const EX_USAGE: i32 = 64;

/// Starts a second process with a changed copy of a good configuration: how it ends, what it
/// says, and where it would have listened.
async fn changed(
    program: &Program,
    change: impl FnOnce(&str) -> String,
    environment: &[(&str, &str)],
) -> (Option<i32>, String, SocketAddr) {
    let good = std::fs::read_to_string(program.directory.path().join("portico.toml"));
    let good = good.expect("a configuration");
    let free = || {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("port");
        listener.local_addr().expect("address")
    };
    let (address, admin) = (free(), free());
    let moved = good
        .replace(&program.address.to_string(), &address.to_string())
        .replace(&program.admin.to_string(), &admin.to_string());
    let text = change(&moved);
    assert_ne!(text, good);
    let file = program.directory.path().join("changed.toml");
    std::fs::write(&file, text).expect("written");
    let (status, message) = ends(&file, environment).await;
    (status, message, address)
}

async fn ends(file: &Path, environment: &[(&str, &str)]) -> (Option<i32>, String) {
    let child = Command::new(env!("CARGO_BIN_EXE_portico"))
        .args(["--config".as_ref(), file.as_os_str(), "gateway".as_ref()])
        .envs(environment.iter().copied())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("started");
    let ended = tokio::time::timeout(Duration::from_secs(20), child.wait_with_output()).await;
    let Ok(ended) = ended else {
        return (None, "it runs".to_owned());
    };
    let ended = ended.expect("output");
    let message = String::from_utf8_lossy(&ended.stderr).into_owned();
    (ended.status.code(), message)
}

#[tokio::test]
async fn attack_92_a_configuration_that_cannot_be_meant_starts_nothing() {
    let program = Program::start(Wanted::default()).await;
    let key = |name: &str| program.directory.path().join("keys").join(name);
    let without = |line: &'static str| {
        move |text: &str| {
            let kept = text.lines().filter(|other| !other.starts_with(line));
            kept.collect::<Vec<_>>().join("\n")
        }
    };
    type Change = Box<dyn FnOnce(&str) -> String>;
    let with = |more: &'static str| -> Change { Box::new(move |text| format!("{text}\n{more}\n")) };
    let gateway = |more: &'static str| -> Change {
        Box::new(move |text| text.replace("[gateway]\n", &format!("[gateway]\n{more}\n")))
    };
    let cases: Vec<(&str, Change, &str, i32)> = vec![
        (
            "an unknown key",
            gateway("tursted_proxies = []"),
            "tursted_proxies",
            EX_USAGE,
        ),
        (
            "an unknown section",
            with("[gatway]\nlisten = \"0.0.0.0:1\""),
            "gatway",
            EX_USAGE,
        ),
        (
            "an unknown key of an app",
            with(
                "[[apps]]\nid = \"a\"\nname = \"A\"\nproject = \"p\"\n\
            url = \"http://127.0.0.1:1\"\nalow = []",
            ),
            "alow",
            EX_USAGE,
        ),
        (
            "a rule without a role",
            with(
                "[[apps]]\nid = \"a\"\nname = \"A\"\nproject = \"p\"\n\
            url = \"http://127.0.0.1:1\"\nallow = [{ role = \"\", project = \"p\" }]",
            ),
            "allow",
            EX_USAGE,
        ),
        (
            "a rule without a project",
            with(
                "[[apps]]\nid = \"a\"\nname = \"A\"\nproject = \"p\"\n\
            url = \"http://127.0.0.1:1\"\nallow = [{ role = \"admin\" }]",
            ),
            "allow",
            EX_USAGE,
        ),
        (
            "a network that is none",
            gateway("trusted_proxies = [\"10.0.0.0/40\"]"),
            "trusted_proxies",
            EX_USAGE,
        ),
        (
            "a word for a number",
            gateway("limits = { body = \"unlimited\" }"),
            "body",
            EX_USAGE,
        ),
        (
            "no time at all",
            gateway("session = { absolute = \"0s\" }"),
            "absolute",
            EX_USAGE,
        ),
        (
            "half a certificate",
            gateway("tls_cert_file = \"target.crt\""),
            "tls_key_file",
            EX_USAGE,
        ),
        (
            "no address of an app",
            with(
                "[[apps]]\nid = \"a\"\nname = \"A\"\nproject = \"p\"\n\
            url = \"ftp://127.0.0.1\"",
            ),
            "apps.a",
            EX_USAGE,
        ),
        ("no TOML", with("= ="), "", EX_USAGE),
        (
            "no signing key",
            Box::new(without("assertion_key_file")),
            "assertion_key_file",
            EX_USAGE,
        ),
        (
            "no public address",
            Box::new(without("public_url")),
            "public_url",
            EX_USAGE,
        ),
        (
            "no store key",
            Box::new(without("key_files")),
            "key_files",
            EX_USAGE,
        ),
        (
            "plain HTTP for others",
            Box::new(|text: &str| {
                text.replace("http://localhost:8080", "http://portico.example.org")
            }),
            "public_url",
            EX_USAGE,
        ),
        (
            "a key file that is not there",
            Box::new({
                let (good, bad) = (key("store-1.key"), key("none.key"));
                move |text: &str| {
                    text.replace(good.to_str().expect("text"), bad.to_str().expect("text"))
                }
            }),
            "none.key",
            1,
        ),
        (
            "a directory for a key",
            Box::new({
                let good = key("assertion.pem");
                move |text: &str| {
                    text.replace(
                        good.to_str().expect("text"),
                        good.parent().expect("one").to_str().expect("text"),
                    )
                }
            }),
            "assertion_key_file",
            1,
        ),
    ];
    for (what, change, named, expected) in cases {
        let (status, message, address) = changed(&program, change, &[]).await;
        assert_eq!(status, Some(expected), "{what}: {message}");
        assert!(message.contains(named), "{what}: {message}");
        assert!(TcpStream::connect(address).is_err(), "{what}: it listens");
    }

    // the environment counts as much as the file
    for (name, value) in [
        ("PORTICO_GATEWAY__TRUSTED_PROXY", "0.0.0.0/0"),
        ("PORTICO_GATEWAY__TLS_MIN_VERSION", "1.1"),
        ("PORTICO_GATEWAY__APPS_DOMAIN", ""),
    ] {
        let moved = |text: &str| text.to_owned();
        let (status, message, address) = changed(&program, moved, &[(name, value)]).await;
        assert_eq!(status, Some(EX_USAGE), "{name}: {message}");
        assert!(TcpStream::connect(address).is_err(), "{name}: it listens");
    }
    let nowhere = program.directory.path().join("nothing.toml");
    let (status, message) = ends(&nowhere, &[]).await;
    assert!(status.is_some_and(|status| status != 0), "{message}");
    assert!(message.contains("nothing.toml"), "{message}");

    // the control case: the file that all of these were made of runs
    assert_eq!(program.get("/ready").await, StatusCode::OK);
}

#[tokio::test]
async fn attack_92_an_empty_list_lets_no_user_in() {
    let app = |id: &str, allow: &str| {
        format!(
            "[[apps]]\nid = {id:?}\nname = {id:?}\nproject = \"ACME\"\nurl = \"UPSTREAM\"\n{allow}\n"
        )
    };
    let sections = [
        app("empty", "allow = []"),
        app("silent", ""),
        app(
            "open",
            "allow = [{ role = \"k8s_admin\", project = \"ACME\" }]",
        ),
    ]
    .concat();
    let program = Program::start(Wanted {
        sections: &sections,
        ..Wanted::default()
    })
    .await;
    let mut browser = program.sign_in("ada").await;
    for (id, expected) in [
        ("empty", StatusCode::FORBIDDEN),
        ("silent", StatusCode::FORBIDDEN),
        ("open", StatusCode::OK),
    ] {
        let origin = format!("http://{id}.apps.localhost:8080");
        let offered = browser.follow(&format!("{origin}/graph")).await;
        let page = if offered.status == StatusCode::OK {
            let code = offered.field("code");
            let url = format!("{origin}/oauth2/handover");
            browser
                .submit(program.main(), &url, &[("code", &code)])
                .await;
            browser.open(&format!("{origin}/graph")).await
        } else {
            offered
        };
        assert_eq!(page.status, expected, "{id}: {}", page.body);
    }
    assert_eq!(program.upstream.count("GET /graph"), 1);
    // with trusted proxies empty, no client's word about an address or a host counts
    let headers = [
        ("x-forwarded-for", "203.0.113.9"),
        ("x-forwarded-host", "evil.example"),
    ];
    let url = format!("{}/projects/x", program.main());
    let page = browser
        .send(http::Method::GET, &url, &headers, String::new())
        .await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(!page.body.contains("203.0.113.9") && !page.body.contains("evil.example"));
}

#[tokio::test]
async fn attack_92_a_provider_that_cannot_be_asked_vouches_for_no_user() {
    let secret = tempfile::NamedTempFile::new().expect("file");
    std::fs::write(secret.path(), "secret").expect("written");
    // nothing listens there
    let sections = format!(
        "[[gateway.providers]]\nid = \"corp\"\nname = \"Corp\"\nkind = \"oidc\"\n\
         issuer = \"http://127.0.0.1:9/\"\nclient_id = \"portico\"\nclient_secret_file = {:?}\n\
         [[gateway.providers]]\nid = \"cloud\"\nname = \"OpenStack\"\nkind = \"keystone\"\n",
        secret.path()
    );
    let program = Program::start(Wanted {
        sections: &sections,
        ..Wanted::default()
    })
    .await;
    let mut browser = program.browser();
    let start = format!("{}/oauth2/start?provider=corp&rd=/", program.main());
    let page = browser.open(&start).await;
    assert_eq!(
        page.status,
        StatusCode::SERVICE_UNAVAILABLE,
        "{}",
        page.body
    );
    let callback = format!("{}/oauth2/callback/corp?code=a&state=b", program.main());
    let page = browser.open(&callback).await;
    assert!(page.status.is_client_error() || page.status.is_server_error());
    let page = browser
        .open(&format!("{}/projects/x", program.main()))
        .await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
    assert_eq!(program.upstream.echo.asked(), 0);

    // the control case: a provider that can be asked does
    let mut browser = program.sign_in("vera").await;
    let page = browser
        .open(&format!("{}/projects/x", program.main()))
        .await;
    assert_eq!(page.status, StatusCode::OK);
}
