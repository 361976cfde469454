//! The settings of a new installation, from the options: complete, and checked as far as possible
//! without network.
use super::arguments::InitArgs;
use super::cluster_spec::ClusterSpec;
use super::directory::group_id;
use super::error::InitError;
use super::roles::Roles;
use ipnet::IpNet;
use portico_runtime::tls::{ReloadingTls, TlsFiles};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use std::collections::HashSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use url::{Host, Url};

pub(super) const DEFAULT_STORE: &str = "sqlite:///var/lib/portico/portico.db";
/// User and group of the systemd units.
const SERVICE: &str = "portico";
const KUBE_AUTH_PORT: u16 = 9443;
/// The gateway's default port if a proxy terminates TLS.
const PLAIN_PORT: u16 = 8080;

/// Keystone's address for every role.
#[derive(Clone, Debug)]
pub(super) struct Keystone {
    pub url: Url,
    pub ca_pem: Option<String>,
    pub allow_plain_http: bool,
}

/// A cluster, and the name of its directory.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    pub spec: ClusterSpec,
    pub ca_pem: Option<String>,
    pub directory: String,
}

/// What terminates TLS in front of the gateway, and with which certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GatewayTls {
    /// A certificate is generated.
    Made,
    /// The operator's files are used in place.
    Files { cert: PathBuf, key: PathBuf },
    /// Plain HTTP behind proxies in these networks; none if the public URL is of this machine only.
    Plain(Vec<IpNet>),
}

/// kube-auth's certificate.
#[derive(Clone, Debug)]
pub(super) enum KubeAuthTls {
    /// A certificate is generated.
    Made,
    /// The operator's files are used in place.
    Files {
        cert: PathBuf,
        key: PathBuf,
        ca_pem: String,
    },
}

/// The operator's certificate authority.
#[derive(Clone, Debug)]
pub(super) struct OwnAuthority {
    pub cert_pem: String,
    pub key_pem: String,
}

/// All settings of a new installation.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub out: PathBuf,
    pub keystone: Keystone,
    pub public_url: Url,
    pub apps_domain: String,
    pub store: String,
    pub clusters: Vec<Cluster>,
    pub kube_auth_url: Url,
    pub listen: SocketAddr,
    pub panel_listen: SocketAddr,
    pub kube_auth_listen: SocketAddr,
    pub admin_listen: SocketAddr,
    pub gateway_tls: GatewayTls,
    pub kube_auth_tls: KubeAuthTls,
    pub authority: Option<OwnAuthority>,
    pub roles: Roles,
    pub api_server_dir: String,
    pub split_roles: bool,
    /// The service's group, which may read the files.
    pub group: Option<u32>,
}

impl Settings {
    /// Completes the options with the defaults.
    ///
    /// # Errors
    /// [`InitError::Options`] with every option that is missing or cannot be used.
    pub fn new(args: &InitArgs) -> Result<Self, InitError> {
        let mut problems = Problems::default();
        let keystone = problems.required(args.keystone_url.clone(), "--keystone-url");
        let public_url = problems.required(args.public_url.clone(), "--public-url");
        let keystone_ca = problems.pem("--keystone-ca-file", args.keystone_ca_file.as_deref());
        let clusters = clusters(&args.clusters, &[], &mut problems);
        let gateway_tls = gateway_tls(args, public_url.as_ref(), &mut problems);
        let kube_auth_tls = kube_auth_tls(args, &mut problems);
        let authority = authority(args, &mut problems);
        let apps_domain = args
            .apps_domain
            .clone()
            .or_else(|| default_apps_domain(public_url.as_ref()?));
        if apps_domain.is_none() && public_url.is_some() {
            problems.add("--apps-domain is missing: the public URL's host is an address");
        }
        let kube_auth_url = args
            .kube_auth_url
            .clone()
            .or_else(|| default_kube_auth_url(public_url.as_ref()?));
        if let Some(url) = &kube_auth_url {
            problems.check(kube_auth_url_problem(url));
        }
        let group = group(args, &mut problems);
        let out = problems.take(absolute(&args.out));
        if !args.api_server_dir.starts_with('/') {
            problems.add("--api-server-dir must be an absolute path");
        }
        match (keystone, public_url, apps_domain, kube_auth_url, out) {
            (
                Some(keystone),
                Some(public_url),
                Some(apps_domain),
                Some(kube_auth_url),
                Some(out),
            ) if problems.0.is_empty() => Ok(Self {
                listen: args
                    .listen
                    .unwrap_or_else(|| default_listen(&public_url, &gateway_tls)),
                kube_auth_listen: args
                    .kube_auth_listen
                    .unwrap_or_else(|| everywhere(&kube_auth_url, KUBE_AUTH_PORT)),
                out,
                keystone: Keystone {
                    url: keystone,
                    ca_pem: keystone_ca,
                    allow_plain_http: args.allow_plain_http,
                },
                public_url,
                apps_domain,
                store: args
                    .store
                    .clone()
                    .unwrap_or_else(|| DEFAULT_STORE.to_owned()),
                clusters,
                kube_auth_url,
                panel_listen: args.panel_listen,
                admin_listen: args.admin_listen,
                gateway_tls,
                kube_auth_tls,
                authority,
                roles: roles(args),
                api_server_dir: args.api_server_dir.trim_end_matches('/').to_owned(),
                split_roles: args.split_roles,
                group,
            }),
            _ => Err(InitError::Options(problems.0)),
        }
    }
}

/// The problems of the options, one per line.
#[derive(Default)]
pub(super) struct Problems(pub Vec<String>);

impl Problems {
    fn add(&mut self, text: impl Into<String>) {
        self.0.push(text.into());
    }

    fn check(&mut self, problem: Option<String>) {
        self.0.extend(problem);
    }

    fn take<T>(&mut self, result: Result<T, String>) -> Option<T> {
        result.map_err(|problem| self.0.push(problem)).ok()
    }

    fn required<T>(&mut self, value: Option<T>, option: &str) -> Option<T> {
        if value.is_none() {
            self.add(format!("{option} is missing"));
        }
        value
    }

    /// Returns the text of a file of certificates.
    fn pem(&mut self, option: &str, path: Option<&Path>) -> Option<String> {
        let read = certificates(path?).map_err(|problem| format!("{option}: {problem}"));
        self.take(read)
    }
}

/// Returns the clusters with their authorities; `taken` names directories of earlier ones.
pub(super) fn clusters(
    specs: &[ClusterSpec],
    taken: &[String],
    problems: &mut Problems,
) -> Vec<Cluster> {
    let mut directories: HashSet<String> = taken.iter().cloned().collect();
    let mut clusters = Vec::new();
    for spec in specs {
        let option = format!("--cluster name={}: ca-file", spec.name);
        let ca_pem = problems.pem(&option, spec.ca_file.as_deref());
        // several projects may use the same name
        let mut directory = spec.name.clone();
        if !directories.insert(directory.clone()) {
            let id = spec.id.simple().to_string();
            directory = format!("{}-{}", spec.name, &id[..8]);
            directories.insert(directory.clone());
        }
        clusters.push(Cluster {
            spec: spec.clone(),
            ca_pem,
            directory,
        });
    }
    clusters
}

pub(super) fn roles(args: &InitArgs) -> Roles {
    Roles {
        admin: args.admin_role.clone(),
        developer: args.developer_role.clone(),
        viewer: args.viewer_role.clone(),
    }
}

/// Returns the named group; else the service's default one, if root can give files to it.
fn group(args: &InitArgs, problems: &mut Problems) -> Option<u32> {
    match &args.group {
        Some(name) => {
            let found = group_id(name);
            if found.is_none() {
                problems.add(format!("--group {name}: there is no such group"));
            }
            found
        }
        None if rustix::process::geteuid().is_root() => group_id(SERVICE),
        None => None,
    }
}

fn gateway_tls(args: &InitArgs, public_url: Option<&Url>, problems: &mut Problems) -> GatewayTls {
    if !args.behind_proxy.is_empty() {
        return GatewayTls::Plain(args.behind_proxy.clone());
    }
    if public_url.is_some_and(|url| url.scheme() == "http") {
        return GatewayTls::Plain(Vec::new());
    }
    match (&args.gateway_cert, &args.gateway_key) {
        (Some(cert), Some(key)) => match problems.take(pair("--gateway-cert", cert, key)) {
            Some((cert, key)) => GatewayTls::Files { cert, key },
            None => GatewayTls::Made,
        },
        _ => GatewayTls::Made,
    }
}

fn kube_auth_tls(args: &InitArgs, problems: &mut Problems) -> KubeAuthTls {
    let ca_pem = problems.pem("--kube-auth-ca-file", args.kube_auth_ca_file.as_deref());
    let (Some(cert), Some(key), Some(ca_pem)) = (&args.kube_auth_cert, &args.kube_auth_key, ca_pem)
    else {
        return KubeAuthTls::Made;
    };
    match problems.take(pair("--kube-auth-cert", cert, key)) {
        Some((cert, key)) => KubeAuthTls::Files { cert, key, ca_pem },
        None => KubeAuthTls::Made,
    }
}

fn authority(args: &InitArgs, problems: &mut Problems) -> Option<OwnAuthority> {
    let cert_pem = problems.pem("--ca-cert", args.ca_cert.as_deref());
    let key = args.ca_key.as_deref()?;
    let key_pem = problems.take(read(key).map_err(|problem| format!("--ca-key: {problem}")));
    Some(OwnAuthority {
        cert_pem: cert_pem?,
        key_pem: key_pem?,
    })
}

/// Returns a certificate and its key as absolute paths, after a check that they match.
fn pair(option: &str, cert: &Path, key: &Path) -> Result<(PathBuf, PathBuf), String> {
    let (cert, key) = (absolute(cert)?, absolute(key)?);
    let files = TlsFiles {
        cert_file: cert.clone(),
        key_file: key.clone(),
        ..TlsFiles::default()
    };
    ReloadingTls::load(files).map_err(|error| format!("{option}: {error}"))?;
    Ok((cert, key))
}

fn absolute(path: &Path) -> Result<PathBuf, String> {
    std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns the text of a file with one certificate or more.
///
/// # Errors
/// If it cannot be read, or holds none.
pub(super) fn certificates(path: &Path) -> Result<String, String> {
    let pem = read(path)?;
    let mut found = CertificateDer::pem_slice_iter(pem.as_bytes()).peekable();
    if found.peek().is_none() || !found.all(|one| one.is_ok()) {
        return Err(format!(
            "{} does not hold a certificate (PEM)",
            path.display()
        ));
    }
    Ok(pem)
}

/// Returns `apps.` and the public host, unless that is an address.
pub(super) fn default_apps_domain(public_url: &Url) -> Option<String> {
    public_url.domain().map(|host| format!("apps.{host}"))
}

/// Returns the public host at kube-auth's own port.
pub(super) fn default_kube_auth_url(public_url: &Url) -> Option<Url> {
    let host = public_url.host_str()?;
    Url::parse(&format!("https://{host}:{KUBE_AUTH_PORT}")).ok()
}

/// Returns the reason why an API server could not use the URL.
pub(super) fn kube_auth_url_problem(url: &Url) -> Option<String> {
    let good = url.scheme() == "https"
        && url.host_str().is_some()
        && url.path() == "/"
        && url.query().is_none()
        && url.username().is_empty();
    (!good).then(|| format!("--kube-auth-url {url} must be https://HOST:PORT"))
}

fn default_listen(public_url: &Url, tls: &GatewayTls) -> SocketAddr {
    match tls {
        GatewayTls::Plain(proxies) if !proxies.is_empty() => {
            (Ipv4Addr::UNSPECIFIED, PLAIN_PORT).into()
        }
        _ => everywhere(public_url, 443),
    }
}

/// Returns all IPv4 addresses at a URL's port; only this machine's if the URL is.
fn everywhere(url: &Url, default: u16) -> SocketAddr {
    let address = if is_this_machine(url) {
        Ipv4Addr::LOCALHOST
    } else {
        Ipv4Addr::UNSPECIFIED
    };
    (address, url.port_or_known_default().unwrap_or(default)).into()
}

fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: InitArgs,
    }

    fn settings(options: &[&str]) -> Result<Settings, InitError> {
        let line = [&["init", "--yes"], options].concat();
        Settings::new(&Line::try_parse_from(line).unwrap().args)
    }

    const MANDATORY: [&str; 4] = [
        "--keystone-url",
        "https://keystone.example.org/v3",
        "--public-url",
        "https://portico.example.org",
    ];

    #[test]
    fn init_unattended_names_everything_that_is_missing_at_once() {
        let options = [
            "--ca-cert",
            "/nonexistent/ca.crt",
            "--ca-key",
            "/nonexistent/ca.key",
        ];
        let error = settings(&options).unwrap_err().to_string();
        for word in [
            "--keystone-url is missing",
            "--public-url is missing",
            "--ca-cert",
            "--ca-key",
        ] {
            assert!(error.contains(word), "{word} in {error}");
        }
    }

    #[test]
    fn the_rest_follows_from_the_public_url() {
        let found = settings(&MANDATORY).unwrap();
        assert_eq!(found.apps_domain, "apps.portico.example.org");
        assert_eq!(
            found.kube_auth_url.as_str(),
            "https://portico.example.org:9443/"
        );
        assert_eq!(found.listen, "0.0.0.0:443".parse().unwrap());
        assert_eq!(found.kube_auth_listen, "0.0.0.0:9443".parse().unwrap());
        assert_eq!(found.store, DEFAULT_STORE);
        let local = settings(&[
            "--keystone-url",
            "http://127.0.0.1:5000/v3",
            "--public-url",
            "http://localhost:8080",
        ]);
        let local = local.unwrap();
        assert_eq!(local.listen, "127.0.0.1:8080".parse().unwrap());
        assert_eq!(local.gateway_tls, GatewayTls::Plain(Vec::new()));
    }

    #[test]
    fn behind_a_proxy_the_gateway_speaks_http_on_its_own_port() {
        let behind = [&MANDATORY[..], &["--behind-proxy", "10.1.2.0/24"]].concat();
        let found = settings(&behind).unwrap();
        assert_eq!(found.listen, "0.0.0.0:8080".parse().unwrap());
        assert!(matches!(found.gateway_tls, GatewayTls::Plain(proxies) if proxies.len() == 1));
    }

    #[test]
    fn clusters_of_one_name_have_directories_of_their_own() {
        let one = "name=prod,project=p1,api-url=https://10.0.0.1:6443";
        let two = "name=prod,project=p2,api-url=https://10.0.0.2:6443,id=6f0c1a52-0000-4000-8000-000000000001";
        let options = [&MANDATORY[..], &["--cluster", one, "--cluster", two]].concat();
        let found = settings(&options).unwrap();
        let directories: Vec<_> = found.clusters.iter().map(|one| &*one.directory).collect();
        assert_eq!(directories, ["prod", "prod-6f0c1a52"]);
    }

    #[test]
    fn an_address_has_no_domain_for_apps() {
        let mut options = MANDATORY;
        options[3] = "https://10.0.0.5";
        let error = settings(&options).unwrap_err().to_string();
        assert!(error.contains("--apps-domain"), "{error}");
    }
}
