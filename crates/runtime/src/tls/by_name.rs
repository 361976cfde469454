//! Selection of the server certificate by the requested name (SNI; RFC 6066, 3).
use rustls::client::verify_server_name;
use rustls::server::{ClientHello, ParsedCertificate, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls_pki_types::ServerName;
use std::sync::Arc;

/// Selects the first certificate that is valid for the name, else the first of all.
#[derive(Debug)]
pub(super) struct ByName(pub Vec<Arc<CertifiedKey>>);

impl ResolvesServerCert for ByName {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let by_name = match (self.0.len(), hello.server_name()) {
            // a client that does not accept the only certificate reports that itself
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
