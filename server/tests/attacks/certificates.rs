//! An authority of a test's own, and certificates of it.
use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::<String>::new()).expect("params");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("key");
        Self(CertifiedIssuer::self_signed(params, key).expect("authority"))
    }

    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// Writes a certificate for some names, and its key.
    pub fn write(&self, directory: &Path, file: &str, names: &[&str]) -> (PathBuf, PathBuf) {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let key = KeyPair::generate().expect("key");
        let params = CertificateParams::new(names).expect("params");
        let certificate = params.signed_by(&key, &self.0).expect("certificate");
        let certificate_file = directory.join(format!("{file}.crt"));
        let key_file = directory.join(format!("{file}.key"));
        std::fs::write(&certificate_file, certificate.pem()).expect("written");
        std::fs::write(&key_file, key.serialize_pem()).expect("written");
        (certificate_file, key_file)
    }
}
