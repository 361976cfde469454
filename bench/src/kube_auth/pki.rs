//! Certificates of one run: an authority, the servers', and the API server's.
use anyhow::{Context as _, Result};
use portico_runtime::tls::{ClientAuth, TlsFiles};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    SanType,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;
use std::sync::Arc;
use uuid::Uuid;

/// The name in the servers' certificate.
pub const SERVER_NAME: &str = "localhost";

/// The certificates that the client presents and trusts.
pub struct Pki {
    authority: CertifiedIssuer<'static, KeyPair>,
}

impl Pki {
    /// Returns a new authority; the servers' files are written to `dir`.
    pub fn create(dir: &Path) -> Result<Self> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pki = Self {
            authority: CertifiedIssuer::self_signed(params, KeyPair::generate()?)?,
        };
        let (certificate, key) = pki.issue(ExtendedKeyUsagePurpose::ServerAuth, None)?;
        let files = server_files(dir);
        std::fs::write(&files.cert_file, certificate)?;
        std::fs::write(&files.key_file, key)?;
        let authority = files.client_ca_file.context("no file for the authority")?;
        std::fs::write(authority, pki.authority.pem())?;
        Ok(pki)
    }

    /// Returns the TLS configuration of the API server of `cluster`, with these protocols.
    pub fn api_server(&self, cluster: Uuid, protocol: &[u8]) -> Result<Arc<rustls::ClientConfig>> {
        let uri = format!("portico:cluster:{cluster}");
        let (certificate, key) = self.issue(ExtendedKeyUsagePurpose::ClientAuth, Some(&uri))?;
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(
            self.authority.pem().as_bytes(),
        )?)?;
        let mut config = rustls::ClientConfig::builder()
            .with_root_certificates(roots)
            .with_client_auth_cert(
                vec![CertificateDer::from_pem_slice(certificate.as_bytes())?],
                PrivateKeyDer::from_pem_slice(key.as_bytes())?,
            )?;
        config.alpn_protocols = vec![protocol.to_vec()];
        Ok(Arc::new(config))
    }

    fn issue(&self, usage: ExtendedKeyUsagePurpose, uri: Option<&str>) -> Result<(String, String)> {
        let mut params = CertificateParams::new(vec![SERVER_NAME.to_owned()])?;
        params.extended_key_usages = vec![usage];
        if let Some(uri) = uri {
            params.subject_alt_names.push(SanType::URI(uri.try_into()?));
        }
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.authority)?;
        Ok((certificate.pem(), key.serialize_pem()))
    }
}

/// Returns the files of both servers' listeners.
pub fn server_files(dir: &Path) -> TlsFiles {
    TlsFiles {
        cert_file: dir.join("server.crt"),
        key_file: dir.join("server.key"),
        client_ca_file: Some(dir.join("ca.crt")),
        client_auth: ClientAuth::Required,
        ..TlsFiles::default()
    }
}
