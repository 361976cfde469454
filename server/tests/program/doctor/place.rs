//! A set-up in which nothing is broken, to break one thing in.
use super::stand_ins::{StandIn, api_server, keystone};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair,
    date_time_ymd,
};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A private authority.
pub struct Authority(pub CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name = called(name);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// A certificate for names, valid between two years, and its key; both in PEM.
    pub fn issue(&self, names: &[&str], years: (i32, i32)) -> (String, String) {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name = called("server");
        params.not_before = date_time_ymd(years.0, 1, 1);
        params.not_after = date_time_ymd(years.1, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        (certificate.pem(), key.serialize_pem())
    }
}

fn called(name: &str) -> DistinguishedName {
    let mut all = DistinguishedName::new();
    all.push(DnType::CommonName, name);
    all
}

/// Years in which a certificate is valid for any test.
pub const VALID_YEARS: (i32, i32) = (2020, 2120);

/// Directory, configuration and the servers that it names.
pub struct Place {
    directory: TempDir,
    pub config: Value,
    pub authority: Authority,
    pub keystone: StandIn,
    /// Ends with the value.
    _api_server: StandIn,
}

/// What a run printed.
pub struct Report {
    pub code: i32,
    pub findings: Vec<Value>,
}

impl Place {
    pub async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let keys = directory.path().join("keys");
        let made = portico(&["keys", "generate", "--out"], &[&keys]);
        assert!(made.status.success(), "{made:?}");
        let authority = Authority::new("authority of the test");
        let (certificate, key) = authority.issue(&["127.0.0.1", "localhost"], VALID_YEARS);
        let file = |name: &str| directory.path().join(name);
        std::fs::write(file("ca.crt"), authority.0.pem()).unwrap();
        std::fs::write(file("tls.crt"), &certificate).unwrap();
        secret(&file("tls.key"), &key);
        let site = file("site/pkg");
        std::fs::create_dir_all(&site).unwrap();
        for name in ["app.wasm", "app.js", "app.css"] {
            std::fs::write(site.join(name), "").unwrap();
        }
        let keystone = StandIn::start(keystone("v3.14")).await;
        let api_server = StandIn::start_tls(api_server(), &file("tls.crt"), &file("tls.key")).await;
        let config = json!({
            "admin": { "listen": free_address() },
            "store": {
                "url": format!("sqlite://{}", file("portico.db").display()),
                "key_files": [keys.join("store-1.key")],
            },
            "keystone": { "url": format!("http://{}/v3", keystone.address) },
            "gateway": {
                "listen": free_address(),
                "public_url": format!("http://localhost:{}", free_port()),
                "apps_domain": "apps.localhost",
                "assertion_key_file": keys.join("assertion.pem"),
                "panel_url": "http://127.0.0.1:9",
                "panel_sealing_key_file": keys.join("panel.pub"),
            },
            "panel": {
                "listen": free_address(),
                "private_key_file": keys.join("panel.key"),
                "assertion_public_key_files": [keys.join("assertion.pub")],
                "site_root": file("site"),
            },
            "kube_auth": {
                "listen": free_address(),
                "tls_cert_file": file("tls.crt"),
                "tls_key_file": file("tls.key"),
                "client_ca_file": file("ca.crt"),
                "key_files": [keys.join("kube-auth-1.key")],
            },
            "clusters": [{
                "id": "6f0c1a52-0000-4000-8000-000000000001",
                "name": "prod",
                "owner_project": "p1",
                "accepted_projects": ["p1"],
                "api_url": format!("https://{}", api_server.address),
                "ca_file": file("ca.crt"),
                "sealing_key_file": keys.join("kube-auth-1.pub"),
            }],
        });
        Self {
            directory,
            config,
            authority,
            keystone,
            _api_server: api_server,
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    pub fn secret(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        secret(&path, text);
        path
    }

    /// Writes a certificate and its key, for `tls_cert_file` and `tls_key_file`.
    pub fn certificate(&self, name: &str, names: &[&str], years: (i32, i32)) -> (PathBuf, PathBuf) {
        let (certificate, key) = self.authority.issue(names, years);
        (
            self.write(&format!("{name}.crt"), &certificate),
            self.secret(&format!("{name}.key"), &key),
        )
    }

    pub fn config_file(&self) -> PathBuf {
        let text = toml::to_string(&self.config).unwrap();
        self.secret("portico.toml", &text)
    }

    /// `portico doctor --json`, with more arguments.
    pub async fn doctor(&self, more: &[&str]) -> Report {
        let file = self.config_file();
        let more: Vec<String> = more.iter().map(ToString::to_string).collect();
        // the servers of the test answer on the runtime meanwhile
        let output = tokio::task::spawn_blocking(move || {
            let more: Vec<&str> = more.iter().map(String::as_str).collect();
            let arguments = [&["doctor", "--json"][..], &more[..], &["--config"][..]].concat();
            portico(&arguments, &[&file])
        });
        Report::of(&output.await.unwrap())
    }

    /// Makes sure that nothing is broken yet.
    pub async fn is_sound(&self) {
        let report = self.doctor(&[]).await;
        let errors: Vec<&Value> = report
            .findings
            .iter()
            .filter(|finding| finding["status"] == "error")
            .collect();
        assert_eq!(report.code, 0, "{errors:#?}");
    }

    /// Looks for a fault that was just made; the set-up without it was sound.
    pub async fn finds(&self, id: &str) -> Value {
        let report = self.doctor(&[]).await;
        let found = report.find(id);
        if found["status"] == "error" {
            assert_ne!(report.code, 0, "{id}");
        } else {
            assert_eq!(report.code, 0, "{:#?}", report.findings);
        }
        found
    }
}

impl Report {
    pub fn of(output: &Output) -> Self {
        let text = String::from_utf8_lossy(&output.stdout);
        let json: Value = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{error}: {text} {output:?}"));
        Self {
            code: output.status.code().unwrap(),
            findings: json["findings"].as_array().unwrap().clone(),
        }
    }

    pub fn has(&self, id: &str) -> bool {
        self.findings.iter().any(|finding| finding["id"] == id)
    }

    /// The finding of a fault, with everything that each has.
    pub fn find(&self, id: &str) -> Value {
        let found = self.findings.iter().find(|finding| finding["id"] == id);
        let found = found.unwrap_or_else(|| panic!("{id} in {:#?}", self.findings));
        assert!(
            found["docs"]
                .as_str()
                .unwrap()
                .ends_with(&format!("doctor.md#{id}"))
        );
        assert!(!found["remedy"].as_str().unwrap().is_empty());
        assert!(!found["subject"].as_str().unwrap().is_empty());
        found.clone()
    }
}

/// Returns findings as texts: severity, subject and message, then the remedy.
pub fn in_words(findings: &[Value]) -> String {
    let of = |finding: &Value, field: &str| finding[field].as_str().unwrap().to_owned();
    findings
        .iter()
        .map(|finding| {
            let [status, subject, message, remedy] =
                ["status", "subject", "message", "remedy"].map(|field| of(finding, field));
            format!("{status} {subject}: {message}\n  {remedy}\n")
        })
        .collect()
}

/// Runs the program without the test's environment.
pub fn portico(arguments: &[&str], files: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_portico"))
        .args(arguments)
        .args(files)
        .env_clear()
        .current_dir("/")
        .output()
        .unwrap()
}

pub fn secret(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    mode(path, 0o600);
}

pub fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Returns a port of loopback at which nothing listens. It stays reserved: a test that runs at the
/// same time and binds to any port does not get it, and a server may still listen at it.
pub fn free_port() -> u16 {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    // a socket that is bound and does not listen refuses connections
    Box::leak(Box::new(socket)).local_addr().unwrap().port()
}

pub fn free_address() -> String {
    format!("127.0.0.1:{}", free_port())
}
