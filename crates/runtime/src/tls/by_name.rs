//! Which certificate a client sees: by the name that it asks for (RFC 6066, 3).
use rustls::client::verify_server_name;
use rustls::server::{ClientHello, ParsedCertificate, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls_pki_types::ServerName;
use std::sync::Arc;

/// The first certificate that is good for the name, else the first of all.
#[derive(Debug)]
pub(super) struct ByName(pub Vec<Arc<CertifiedKey>>);

impl ResolvesServerCert for ByName {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let by_name = match (self.0.len(), hello.server_name()) {
            // whoever does not like the only one says so
            (..=1, _) | (_, None) => None,
            (_, Some(name)) => ServerName::try_from(name)
                .ok()
                .and_then(|name| self.0.iter().find(|one| is_good_for(one, &name))),
        };
        by_name.or(self.0.first()).cloned()
    }
}

fn is_good_for(key: &CertifiedKey, name: &ServerName<'_>) -> bool {
    key.end_entity_cert()
        .and_then(ParsedCertificate::try_from)
        .and_then(|certificate| verify_server_name(&certificate, name))
        .is_ok()
}
