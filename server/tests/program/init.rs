//! `portico init` as an operator runs it, unattended: what it writes, what it refuses, and that other
//! programs accept the result.
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use portico_testkit::snapshot_settings;
use serde_json::Value;
use tempfile::TempDir;

const FIRST: &str = "6f0c1a52-0000-4000-8000-000000000001";
const SECOND: &str = "6f0c1a52-0000-4000-8000-000000000002";
const DEVELOPER: &str = "5ccd59400d084db78ba23e36eed2a714";

struct Lab {
    home: TempDir,
}

impl Lab {
    fn new() -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
        }
    }

    fn out(&self) -> PathBuf {
        self.home.path().join("portico")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.out().join(name)
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Without this process's variables, and without a terminal.
    fn portico(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_portico"))
            .args(arguments)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.home.path())
            .current_dir(self.home.path())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn init(&self, more: &[&str]) -> Output {
        let out = self.out();
        let mandatory = [
            "init",
            "--yes",
            "--skip-checks",
            "--out",
            out.to_str().unwrap(),
            "--keystone-url",
            "https://keystone.example.org/v3",
            "--public-url",
            "https://portico.example.org",
        ];
        self.portico(&[&mandatory[..], more].concat())
    }

    fn add(&self, more: &[&str]) -> Output {
        let out = self.out();
        let add = ["init", "--add", "--yes", "--skip-checks", "--out"];
        let arguments = [&add[..], &[out.to_str().unwrap()], more].concat();
        self.portico(&arguments)
    }

    /// With one cluster and the roles' IDs.
    fn installed() -> Self {
        let lab = Self::new();
        let cluster = lab.cluster("prod", FIRST);
        let developer = format!("k8s_developer={DEVELOPER}");
        succeeds(&lab.init(&[
            "--cluster",
            &cluster,
            "--admin-role=k8s_admin=46ab329696bb45acbe6c219746c59c3b",
            "--developer-role",
            &developer,
            "--viewer-role=k8s_viewer=d1514ff3de0043e8ae617b05b22ca688",
        ]));
        lab
    }

    /// A cluster with an authority of its own.
    fn cluster(&self, name: &str, id: &str) -> String {
        let file = self.home.path().join(format!("{name}-ca.crt"));
        std::fs::write(&file, authority(name).0).unwrap();
        let file = file.display();
        format!("name={name},project=p1,api-url=https://10.0.0.10:6443,ca-file={file},id={id}")
    }

    /// Every file with its mode and content.
    fn everything(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let mut found = BTreeMap::new();
        collect(&self.out(), &mut found);
        found
    }

    fn check(&self) -> Output {
        let config = self.file("portico.toml");
        self.portico(&["--config", config.to_str().unwrap(), "config", "check"])
    }
}

fn collect(directory: &Path, found: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let mode = path.metadata().unwrap().permissions().mode() & 0o777;
        if path.is_dir() {
            assert_eq!(mode, 0o700, "{}", path.display());
            collect(&path, found);
        } else {
            let content = std::fs::read(&path).unwrap();
            found.insert(path, (mode, content));
        }
    }
}

fn output_text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

fn succeeds(output: &Output) -> String {
    assert!(output.status.success(), "{}", output_text(output));
    output_text(output)
}

fn fails(output: &Output) -> String {
    assert!(!output.status.success(), "{}", output_text(output));
    output_text(output)
}

fn authority(name: &str) -> (String, String) {
    let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    params.key_usages = vec![rcgen::KeyUsagePurpose::KeyCertSign];
    params.distinguished_name = rcgen::DistinguishedName::new();
    params
        .distinguished_name
        .push(rcgen::DnType::CommonName, name);
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    (certificate.pem(), key.serialize_pem())
}

fn openssl(arguments: &[&str]) -> String {
    let output = Command::new("openssl").args(arguments).output().unwrap();
    succeeds(&output)
}

fn verify(authority: &Path, certificate: &Path, more: &[&str]) {
    let (authority, certificate) = (authority.to_str().unwrap(), certificate.to_str().unwrap());
    let base = ["verify", "-x509_strict", "-CAfile", authority];
    openssl(&[&base[..], more, &[certificate]].concat());
}

#[test]
fn init_unattended_writes_what_config_check_accepts() {
    let lab = Lab::installed();
    let checked = succeeds(&lab.check());
    for role in ["gateway", "panel", "kube-auth"] {
        assert!(checked.contains(role), "{role} in {checked}");
    }
    for (path, (mode, content)) in lab.everything() {
        let text = String::from_utf8_lossy(&content).into_owned();
        let secret = text.contains("PRIVATE KEY")
            || path.extension().is_some_and(|end| end == "key")
            || path.ends_with("portico.toml")
            || path.ends_with("webhook.kubeconfig");
        let wanted = if secret { 0o600 } else { 0o644 };
        assert_eq!(mode, wanted, "{}", path.display());
    }
    // only what differs from the defaults, each with a reason
    let text = lab.text("portico.toml");
    insta::assert_snapshot!("configuration", text);
    // the directory may be moved: paths are relative to the file
    assert!(!text.contains(lab.out().to_str().unwrap()), "{text}");
}

#[test]
fn init_makes_certificates_that_openssl_verifies() {
    let lab = Lab::installed();
    let servers = lab.file("tls/ca.crt");
    let names = [
        ("tls/gateway.crt", "-verify_hostname", "portico.example.org"),
        (
            "tls/gateway.crt",
            "-verify_hostname",
            "grafana.apps.portico.example.org",
        ),
        (
            "tls/kube-auth.crt",
            "-verify_hostname",
            "portico.example.org",
        ),
        ("tls/kube-auth.crt", "-verify_ip", "127.0.0.1"),
    ];
    for (file, option, name) in names {
        verify(
            &servers,
            &lab.file(file),
            &["-purpose", "sslserver", option, name],
        );
    }
    let clients = lab.file("tls/api-servers-ca.crt");
    let client = lab.file("clusters/prod/api-server/portico-webhook.crt");
    verify(&clients, &client, &["-purpose", "sslclient"]);
    let printed = openssl(&[
        "x509",
        "-in",
        client.to_str().unwrap(),
        "-noout",
        "-ext",
        "subjectAltName",
    ]);
    assert!(
        printed.contains(&format!("URI:portico:cluster:{FIRST}")),
        "{printed}"
    );
    // a key belongs to its certificate
    for (cert, key) in [
        (lab.file("tls/gateway.crt"), lab.file("tls/gateway.key")),
        (client.clone(), client.with_extension("key")),
    ] {
        let public = openssl(&["x509", "-in", cert.to_str().unwrap(), "-noout", "-pubkey"]);
        assert_eq!(
            openssl(&["pkey", "-in", key.to_str().unwrap(), "-pubout"]),
            public
        );
    }
    // a server's certificate opens nothing at kube-auth
    let refused = Command::new("openssl")
        .args(["verify", "-CAfile"])
        .args([&clients, &lab.file("tls/gateway.crt")])
        .output()
        .unwrap();
    fails(&refused);
}

#[test]
fn init_writes_what_a_clusters_administrator_needs() {
    let lab = Lab::installed();
    let kubeconfig = lab.text("clusters/prod/api-server/webhook.kubeconfig");
    let kubeconfig: Value = serde_norway::from_str(&kubeconfig).unwrap();
    assert_eq!(
        kubeconfig["clusters"][0]["cluster"]["server"],
        format!("https://portico.example.org:9443/clusters/{FIRST}/tokenreview")
    );
    for key in ["client-certificate", "client-key"] {
        let name = kubeconfig["users"][0]["user"][key].as_str().unwrap();
        let file = lab.file("clusters/prod/api-server").join(name);
        assert!(file.is_file(), "{}", file.display());
    }
    let flags = lab.text("clusters/prod/apiserver.flags");
    insta::assert_snapshot!("flags_of_the_api_server", flags);
    let steps = lab.text("STEPS.md");
    for command in [
        "migrate",
        "systemctl enable --now",
        "kubectl apply -f",
        "portico-bootstrap-prod.service",
        "doctor",
    ] {
        assert!(steps.contains(command), "{command} in {steps}");
    }
}

#[test]
fn init_writes_units_that_systemd_accepts() {
    let lab = Lab::installed();
    let split = Lab::new();
    succeeds(&split.init(&[
        "--split-roles",
        "--store",
        "sqlite:///srv/portico/portico.db",
    ]));
    let mut units: Vec<PathBuf> = Vec::new();
    for lab in [&lab, &split] {
        for entry in std::fs::read_dir(lab.file("systemd")).unwrap() {
            units.push(entry.unwrap().path());
        }
    }
    assert_eq!(units.len(), 5, "{units:?}");
    for unit in &units {
        let checked = Command::new("systemd-analyze")
            .args(["security", "--offline=true", "--no-pager", "--threshold=30"])
            .arg(unit)
            .output()
            .unwrap();
        succeeds(&checked);
    }
    let gateway = split.text("systemd/portico-gateway.service");
    assert!(
        gateway.contains("ReadWritePaths=/srv/portico\n"),
        "{gateway}"
    );
    assert!(
        gateway.contains("PORTICO_ADMIN__LISTEN=127.0.0.1:9180\n"),
        "{gateway}"
    );
    // the roles of a split installation accept the configuration one by one
    let config = split.file("portico.toml");
    for role in ["gateway", "panel", "kube-auth"] {
        let arguments = [
            "--config",
            config.to_str().unwrap(),
            "config",
            "check",
            "--role",
            role,
        ];
        succeeds(&split.portico(&arguments));
    }
}

#[test]
fn init_never_overwrites() {
    let lab = Lab::installed();
    let before = lab.everything();
    let refused = fails(&lab.init(&[]));
    snapshot_settings().bind(|| insta::assert_snapshot!("directory_with_an_installation", refused));
    assert_eq!(lab.everything(), before);
    // not even a file that it would not write itself
    let other = Lab::new();
    std::fs::create_dir(other.out()).unwrap();
    std::fs::write(other.file("notes.txt"), "mine").unwrap();
    let refused = fails(&other.init(&[]));
    snapshot_settings().bind(|| insta::assert_snapshot!("directory_with_another_file", refused));
    assert_eq!(other.text("notes.txt"), "mine");
    assert_eq!(std::fs::read_dir(other.out()).unwrap().count(), 1);
}

#[test]
fn init_unattended_needs_yes_and_names_every_missing_option() {
    let lab = Lab::new();
    let out = lab.out();
    let out = out.to_str().unwrap();
    let refused = [
        fails(&lab.portico(&["init", "--out", out])),
        fails(&lab.portico(&["init", "--yes", "--out", out])),
        fails(&lab.init(&["--cluster", "name=prod,api-url=https://h"])),
        // what the configuration itself refuses is reported before anything is written
        fails(&lab.init(&["--store", "mysql://db/portico"])),
    ];
    let refused = refused.join("\n");
    snapshot_settings().bind(|| insta::assert_snapshot!("missing_options", refused));
    assert!(!lab.out().exists());
}

#[test]
fn init_writes_nothing_when_keystone_does_not_answer() {
    let lab = Lab::new();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v3", closed.local_addr().unwrap());
    drop(closed);
    let out = lab.out();
    let arguments = [
        "init",
        "--yes",
        "--out",
        out.to_str().unwrap(),
        "--keystone-url",
        &url,
        "--public-url",
        "https://portico.example.org",
    ];
    let refused = fails(&lab.portico(&arguments));
    snapshot_settings().bind(|| insta::assert_snapshot!("keystone_that_does_not_answer", refused));
    assert!(!out.exists());
}

#[test]
fn init_adds_a_second_cluster_later() {
    let lab = Lab::installed();
    let before = lab.everything();
    let cluster = lab.cluster("test", SECOND);
    let steps = succeeds(&lab.add(&["--cluster", &cluster]));
    assert!(steps.contains("clusters/test/cluster.toml >>"), "{steps}");
    let after = lab.everything();
    for (path, content) in &before {
        assert_eq!(after.get(path), Some(content), "{}", path.display());
    }
    // known by the same URL and authority as the first, and signed by the same authority
    let kubeconfig = |name: &str| -> Value {
        let text = lab.text(&format!("clusters/{name}/api-server/webhook.kubeconfig"));
        serde_norway::from_str(&text).unwrap()
    };
    let authority = "/clusters/0/cluster/certificate-authority-data";
    assert_eq!(
        kubeconfig("test").pointer(authority),
        kubeconfig("prod").pointer(authority)
    );
    verify(
        &lab.file("tls/api-servers-ca.crt"),
        &lab.file("clusters/test/api-server/portico-webhook.crt"),
        &["-purpose", "sslclient"],
    );
    // the administrators' role is known from the configuration
    assert!(
        lab.text("clusters/test/rbac.yaml")
            .contains("name: portico-admin")
    );
    let entry = lab.text("clusters/test/cluster.toml");
    let text = lab.text("portico.toml") + &entry;
    std::fs::write(lab.file("portico.toml"), text).unwrap();
    succeeds(&lab.check());
    let config = lab.file("portico.toml");
    let printed = lab.portico(&["--config", config.to_str().unwrap(), "config", "print"]);
    assert!(output_text(&printed).contains(SECOND));
    // the same one again, and nothing at all
    let refused = [
        fails(&lab.add(&["--cluster", &cluster])),
        fails(&lab.add(&[])),
    ];
    let refused = refused.join("\n");
    snapshot_settings().bind(|| insta::assert_snapshot!("nothing_to_add", refused));
}

#[test]
fn init_makes_a_removed_certificate_anew() {
    let lab = Lab::installed();
    let names = ["tls/kube-auth.crt", "tls/kube-auth.key"];
    let before = lab.text(names[0]);
    for name in names {
        std::fs::remove_file(lab.file(name)).unwrap();
    }
    std::fs::remove_dir_all(lab.file("clusters/prod/api-server")).unwrap();
    // kube-auth's address was known from what was removed: the public host and the usual port
    let report = succeeds(&lab.add(&[]));
    assert!(report.contains("tls/kube-auth.key"), "{report}");
    assert_ne!(lab.text(names[0]), before);
    verify(
        &lab.file("tls/ca.crt"),
        &lab.file(names[0]),
        &["-purpose", "sslserver"],
    );
    assert!(
        lab.file("clusters/prod/api-server/portico-webhook.key")
            .is_file()
    );
    // the authorities' keys may be kept elsewhere, and are needed now
    std::fs::remove_dir_all(lab.file("ca")).unwrap();
    let cluster = lab.cluster("test", SECOND);
    let refused = fails(&lab.add(&["--cluster", &cluster]));
    snapshot_settings().bind(|| insta::assert_snapshot!("missing_authority", refused));
    assert!(!lab.file("clusters/test").exists());
}

#[test]
fn init_uses_the_operators_certificates_and_authority() {
    let lab = Lab::new();
    let home = lab.home.path();
    let (ca, key) = authority("Example's authority");
    for (name, text) in [("ours.crt", &ca), ("ours.key", &key)] {
        std::fs::write(home.join(name), text).unwrap();
    }
    let certified = rcgen::generate_simple_self_signed(["portico.example.org".to_owned()]).unwrap();
    std::fs::write(home.join("gw.crt"), certified.cert.pem()).unwrap();
    std::fs::write(home.join("gw.key"), certified.signing_key.serialize_pem()).unwrap();
    succeeds(&lab.init(&[
        "--gateway-cert",
        "gw.crt",
        "--gateway-key",
        "gw.key",
        "--ca-cert",
        "ours.crt",
        "--ca-key",
        "ours.key",
    ]));
    let text = lab.text("portico.toml");
    let cert = home.join("gw.crt");
    assert!(
        text.contains(&format!("tls_cert_file = \"{}\"", cert.display())),
        "{text}"
    );
    assert!(!lab.file("tls/gateway.crt").exists());
    assert!(
        !lab.file("ca/ca.key").exists(),
        "the operator's key was copied"
    );
    verify(
        &home.join("ours.crt"),
        &lab.file("tls/kube-auth.crt"),
        &["-purpose", "sslserver"],
    );
    succeeds(&lab.check());
    // files that do not belong together
    let other = Lab::new();
    for name in ["gw.crt", "ours.key"] {
        std::fs::copy(home.join(name), other.home.path().join(name)).unwrap();
    }
    let refused = fails(&other.init(&["--gateway-cert", "gw.crt", "--gateway-key", "ours.key"]));
    snapshot_settings().bind(|| insta::assert_snapshot!("certificate_of_another_key", refused));
    assert!(!other.out().exists());
}

#[test]
fn init_reports_in_json_for_programs() {
    let lab = Lab::new();
    let cluster = lab.cluster("prod", FIRST);
    let output = lab.init(&["--cluster", &cluster, "-o", "json"]);
    succeeds(&output);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let written = report["written"].as_array().unwrap();
    assert!(
        written.iter().any(|name| name == "portico.toml"),
        "{report}"
    );
    let steps = report["steps"].as_array().unwrap();
    assert!(
        steps.iter().all(|step| step["title"].is_string()),
        "{report}"
    );
    // the roles' IDs are not known: a step says how to find them
    assert!(
        steps[0]["commands"][0]
            .as_str()
            .unwrap()
            .contains("openstack role create")
    );
}

#[test]
fn init_asks_at_a_terminal_and_repeats_a_question_that_was_answered_wrongly() {
    let lab = Lab::new();
    // Keystone (twice, without an authority), the public URL, nine defaults, and one cluster; a yes
    // or no is a single key
    let answers = [
        "https://keystone.example.org/v2\n",
        "https://keystone.example.org/v3\n\n",
        "https://portico.example.org\n",
        &"\n".repeat(9),
        "y",
        "prod\np1\nhttps://10.0.0.10:6443\n\n\n",
        "n",
    ]
    .concat();
    let out = lab.out();
    let command = format!(
        "{} init --skip-checks --out {}",
        env!("CARGO_BIN_EXE_portico"),
        out.display()
    );
    let mut script = Command::new("script")
        .args(["--quiet", "--return", "--command", &command, "/dev/null"])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", lab.home.path())
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = script.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, answers.as_bytes()).unwrap();
    let output = script.wait_with_output().unwrap();
    drop(input);
    let printed = succeeds(&output);
    assert!(printed.contains("must end with /v3"), "{printed}");
    let text = lab.text("portico.toml");
    assert!(text.contains("name = \"prod\""), "{text}");
    assert!(
        text.contains("apps_domain = \"apps.portico.example.org\""),
        "{text}"
    );
    succeeds(&lab.check());
}
