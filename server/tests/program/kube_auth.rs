//! `portico kube-auth config` and `portico kube-auth policy`, as an operator runs them.
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::process::Command;
use tempfile::TempDir;

const PROD: &str = "6f0c1a52-0000-4000-8000-000000000001";
const POLICY: &str = "apiVersion: kube-auth.portico.dev/v1\nkind: Policy\nrules:";

/// A configuration with three clusters, two of one name; a certificate and its authority.
struct Place {
    directory: TempDir,
    authority: CertifiedIssuer<'static, KeyPair>,
    certificate: String,
}

/// What a command printed.
struct CommandOutput {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Place {
    fn listening_at(address: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let mut leaf = CertificateParams::new(vec!["kube-auth.example.org".to_owned()]).unwrap();
        leaf.distinguished_name
            .push(rcgen::DnType::CommonName, "kube-auth");
        let key = KeyPair::generate().unwrap();
        let certificate = leaf.signed_by(&key, &authority).unwrap().pem();
        let place = Self {
            directory: tempfile::tempdir().unwrap(),
            authority,
            certificate,
        };
        let cluster = |n: u32, name: &str| {
            format!(
                "[[clusters]]\nid = \"6f0c1a52-0000-4000-8000-00000000000{n}\"\nname = \"{name}\"\n\
                 owner_project = \"p{n}\"\napi_url = \"https://127.0.0.1:6443\"\n\
                 sealing_key_file = \"k.pub\"\napi_audiences = [\"a\"]\n"
            )
        };
        let text = format!(
            "[kube_auth]\nlisten = \"{address}\"\ntls_cert_file = {:?}\ntls_key_file = \"s.key\"\n\
             client_ca_file = \"ca.crt\"\nkey_files = [\"k.key\"]\n{}{}{}",
            place.file("server.crt"),
            cluster(1, "prod"),
            cluster(2, "twice"),
            cluster(3, "twice"),
        );
        place.write("portico.toml", &text);
        let chain = format!("{}{}", place.certificate, place.authority.pem());
        place.write("server.crt", &chain);
        place
    }

    fn file(&self, name: &str) -> String {
        self.directory.path().join(name).display().to_string()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.directory.path().join(name), text).unwrap();
    }

    fn kube_auth(&self, arguments: &[&str]) -> CommandOutput {
        let output = Command::new(env!("CARGO_BIN_EXE_portico"))
            .args(["kube-auth", "--config", &self.file("portico.toml")])
            .args(arguments)
            .env_clear()
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        CommandOutput {
            code: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }

    fn config(&self, arguments: &[&str]) -> CommandOutput {
        self.kube_auth(&[&["config"], arguments].concat())
    }
}

/// The certificate that a printed kubeconfig trusts.
fn trusted(message: &CommandOutput) -> String {
    let line = message
        .out
        .lines()
        .find_map(|line| line.trim().strip_prefix("certificate-authority-data: "));
    let pem = STANDARD.decode(line.expect(&message.err)).unwrap();
    String::from_utf8(pem).unwrap().replace('\r', "")
}

fn bare(pem: &str) -> String {
    pem.lines().filter(|line| !line.starts_with('-')).collect()
}

#[test]
fn finding_o9_the_url_is_required_where_the_listen_address_does_not_give_it() {
    for address in ["0.0.0.0:9443", "[::]:9443"] {
        let place = Place::listening_at(address);
        let message = place.config(&["--cluster", "prod"]);
        assert_eq!((message.code, message.out.as_str()), (Some(1), ""));
        for part in ["--url is missing", address, "--url https://NAME:9443"] {
            assert!(message.err.contains(part), "{part}: {}", message.err);
        }
        let message = place.config(&[
            "--cluster",
            "prod",
            "--url",
            "https://auth.example.org:9443",
        ]);
        assert_eq!(message.code, Some(0), "{}", message.err);
        let server =
            format!("server: \"https://auth.example.org:9443/clusters/{PROD}/tokenreview\"");
        assert!(message.out.contains(&server), "{}", message.out);
    }
    let place = Place::listening_at("192.0.2.7:9443");
    let message = place.config(&["--cluster", "prod"]);
    assert!(
        message.out.contains("https://192.0.2.7:9443/clusters/"),
        "{}",
        message.err
    );
    for wrong in [
        "http://auth.example.org:9443",
        "auth.example.org",
        "https://a/?b=c",
    ] {
        assert_eq!(
            place.config(&["--cluster", "prod", "--url", wrong]).code,
            Some(2)
        );
    }
}

#[test]
fn finding_o9_the_authority_is_trusted_and_asked_for_where_it_is_not_at_hand() {
    let place = Place::listening_at("192.0.2.7:9443");
    let authority = bare(&place.authority.pem());
    let message = place.config(&["--cluster", "prod"]);
    assert_eq!(bare(&trusted(&message)), authority);

    // the file holds the certificate only
    place.write("server.crt", &place.certificate);
    let message = place.config(&["--cluster", "prod"]);
    assert_eq!((message.code, message.out.as_str()), (Some(1), ""));
    for part in ["--ca-file is missing", "server.crt", "not its authority"] {
        assert!(message.err.contains(part), "{part}: {}", message.err);
    }
    place.write("authority.crt", &place.authority.pem());
    let message = place.config(&[
        "--cluster",
        "prod",
        "--ca-file",
        &place.file("authority.crt"),
    ]);
    assert_eq!(bare(&trusted(&message)), authority);
}

#[test]
fn finding_o9_a_cluster_is_named_by_name_or_uuid() {
    let place = Place::listening_at("192.0.2.7:9443");
    let by_name = place.config(&["--cluster", "prod"]);
    let by_id = place.config(&["--cluster", &PROD.to_uppercase()]);
    assert_eq!(by_name.code, Some(0), "{}", by_name.err);
    assert_eq!(by_name.out, by_id.out);
    let unknown = place.config(&["--cluster", "staging"]);
    assert_eq!(unknown.code, Some(64));
    assert!(
        unknown.err.contains("no cluster \"staging\"") && unknown.err.contains("(prod)"),
        "{}",
        unknown.err
    );
    let twice = place.config(&["--cluster", "twice"]);
    assert_eq!(twice.code, Some(64));
    assert!(
        twice.err.contains("give the UUID") && !twice.err.contains("(prod)"),
        "{}",
        twice.err
    );
    // sync takes names too: what is wrong here is something else
    let sync = [
        "sync",
        "--cluster",
        "prod",
        "--kubeconfig",
        "k",
        "--sync-config",
        "s",
    ];
    let message = place.kube_auth(&sync);
    assert!(message.err.contains("keystone"), "{}", message.err);
}

fn assert_tame(message: &CommandOutput) {
    for text in [&message.out, &message.err] {
        let wild = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}');
        assert!(!text.contains(wild), "{text:?}");
    }
}

#[test]
fn attack_a_policy_cannot_drive_the_terminal_or_forge_a_line() {
    let place = Place::listening_at("192.0.2.7:9443");
    // ESC, OSC with BEL, CSI of C1, a change of direction, a line break
    let name = r"a\e]0;owned\a\e[2J\x9B31m\u202Eb\nrule 9 (x) allows it";
    let rules = format!(
        "{POLICY}\n- name: \"{name}\"\n  subjects: {{roleIDs: [r1]}}\n  resources:\n  \
         - {{groups: [''], resources: [secrets], namespaces: [\"n\\e[2J\\u202E\\nx\"], verbs: [get]}}\n"
    );
    place.write("policy.yaml", &rules);
    let policy = &place.file("policy.yaml");
    let lint = place.kube_auth(&["policy", "lint", policy]);
    assert!(
        lint.out
            .starts_with("warning: rule 1: allows get secrets in n[2Jx"),
        "{}",
        lint.out
    );
    assert_eq!(lint.out.lines().count(), 2, "{}", lint.out);
    let explain = place.kube_auth(&[
        "policy",
        "explain",
        policy,
        "get",
        "pods",
        "--role-id",
        "r1",
    ]);
    assert_eq!(explain.out.lines().count(), 2, "{}", explain.out);
    assert!(explain.out.contains("a]0;owned[2J31mb"), "{}", explain.out);
    let cases = format!("- {{name: \"{name}\", verb: get, resource: pods, allowed: true}}\n");
    place.write("cases.yaml", &cases);
    let test = place.kube_auth(&["policy", "test", policy, &place.file("cases.yaml")]);
    assert_eq!(
        (test.code, test.out.lines().count()),
        (Some(1), 2),
        "{}",
        test.out
    );
    // what is refused is quoted
    place.write("broken.yaml", &format!("{POLICY}\n- {{\"{name}\": 1}}\n"));
    let broken = place.kube_auth(&["policy", "lint", &place.file("broken.yaml")]);
    assert_eq!(
        (broken.code, broken.err.lines().count()),
        (Some(1), 1),
        "{}",
        broken.err
    );
    place.write(
        "broken.json",
        &format!("[{{\"{}\": 1}}]", r"a\u001b[2J\u009b31m\u202e\nb"),
    );
    let json = place.kube_auth(&["policy", "lint", &place.file("broken.json")]);
    assert_eq!(
        (json.code, json.err.lines().count()),
        (Some(1), 1),
        "{}",
        json.err
    );
    for message in [&lint, &explain, &test, &broken, &json] {
        assert_tame(message);
    }
    // names of clusters, and paths on the command line
    let config = std::fs::read_to_string(place.directory.path().join("portico.toml")).unwrap();
    let config = config.replace("\"prod\"", r#""p\u001b[2J\u009b31m\u202e\nd""#);
    place.write("portico.toml", &config);
    let printed = place.config(&[
        "--cluster",
        PROD,
        "--client-key-file",
        "/k\u{1b}[2J\u{9b}\u{202e}",
    ]);
    assert_eq!(printed.code, Some(0), "{}", printed.err);
    assert!(
        printed
            .out
            .contains(r#"client-key: "/k\u001b[2J\u009b\u202e""#),
        "{}",
        printed.out
    );
    assert_tame(&printed);
    assert_tame(&place.config(&["--cluster", "p\u{1b}[2J\u{202e}"]));
}

#[test]
fn finding_s1_the_command_line_refuses_what_kube_auth_refuses() {
    let place = Place::listening_at("192.0.2.7:9443");
    let lint = |text: &str| {
        place.write("policy.yaml", text);
        place.kube_auth(&["policy", "lint", &place.file("policy.yaml")])
    };
    for (text, reason) in [
        (format!("{POLICY} {}", "[".repeat(200_000)), "16 levels"),
        (format!("{POLICY} [&a {{name: x}}, *a]"), "aliases"),
        ("x".repeat(1024 * 1024 + 1), "larger than"),
        (
            r#"[{"resource_permissions": {"*/*": ["get"]}}]"#.to_owned(),
            "without users",
        ),
    ] {
        let message = lint(&text);
        assert_eq!(message.code, Some(1));
        assert!(message.err.contains(reason), "{reason}: {}", message.err);
    }
}
