//! Certificates for upstreams, in a temporary directory.
use std::path::{Path, PathBuf};

use portico_runtime::tls::{ClientAuth, TlsFiles, TlsVersion};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

pub struct Pki {
    dir: tempfile::TempDir,
}

impl Pki {
    /// Makes an authority `ca`, and a server certificate of it for these names.
    pub fn new(names: &[&str]) -> Self {
        let pki = Self {
            dir: tempfile::tempdir().expect("directory"),
        };
        let authority = pki.authority("ca");
        pki.leaf("server", names, &authority);
        pki.leaf("client", &["portico"], &authority);
        let stranger = pki.authority("stranger-ca");
        pki.leaf("stranger", &["portico"], &stranger);
        pki
    }

    fn authority(&self, name: &str) -> CertifiedIssuer<'static, KeyPair> {
        let mut params = CertificateParams::new(Vec::<String>::new()).expect("params");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params
            .distinguished_name
            .push(rcgen::DnType::CommonName, name);
        let key = KeyPair::generate().expect("key");
        let authority = CertifiedIssuer::self_signed(params, key).expect("authority");
        std::fs::write(self.cert(name), authority.pem()).expect("written");
        authority
    }

    fn leaf(&self, name: &str, names: &[&str], authority: &CertifiedIssuer<'static, KeyPair>) {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let key = KeyPair::generate().expect("key");
        let params = CertificateParams::new(names).expect("params");
        let leaf = params.signed_by(&key, authority).expect("certificate");
        std::fs::write(self.cert(name), leaf.pem()).expect("written");
        std::fs::write(self.key(name), key.serialize_pem()).expect("written");
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn cert(&self, name: &str) -> PathBuf {
        self.path().join(format!("{name}.crt"))
    }

    pub fn key(&self, name: &str) -> PathBuf {
        self.path().join(format!("{name}.key"))
    }

    /// Returns the server's certificate; with `clients`, client certificates are required.
    pub fn server(&self, clients: bool) -> TlsFiles {
        TlsFiles {
            cert_file: self.cert("server"),
            key_file: self.key("server"),
            more: Vec::new(),
            min_version: TlsVersion::default(),
            client_ca_file: clients.then(|| self.cert("ca")),
            client_auth: ClientAuth::default(),
        }
    }
}
