//! The binding of client certificates to clusters.
//!
//! Every API server of every tenant has a certificate of the same authority, so the certificate's
//! validity is not enough: it must name the cluster, or be pinned in the cluster's record.
use portico_domain::cluster::ClusterRecord;
use rustls_pki_types::CertificateDer;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use uuid::Uuid;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer as _, X509Certificate};

const URI_PREFIX: &str = "portico:cluster:";

/// A SHA-256 fingerprint that is pinned in a cluster's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Parses 64 hex digits, with or without colons between bytes.
    pub fn parse(text: &str) -> Option<Self> {
        let digits: String = text.chars().filter(|&c| c != ':').collect();
        if digits.len() != 64 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let mut bytes = [0; 32];
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// Returns the fingerprint of a certificate.
    pub fn of(certificate: &CertificateDer<'_>) -> Self {
        Self(Sha256::digest(certificate.as_ref()).into())
    }
}

/// How a cluster's API servers prove that they belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Binding {
    /// By the certificate's only URI `portico:cluster:<id>`.
    Uri,
    /// By one of these certificates.
    Pinned(Vec<Fingerprint>),
    /// By any certificate of the cluster's own authority; see [`crate::listed`]. Nothing in a
    /// certificate counts.
    Authority,
}

impl Binding {
    /// Returns the record's binding, or the invalid fingerprint.
    pub fn of(record: &ClusterRecord) -> Result<Self, String> {
        if record.client_fingerprints.is_empty() {
            return Ok(Self::Uri);
        }
        record
            .client_fingerprints
            .iter()
            .map(|text| Fingerprint::parse(text).ok_or_else(|| text.clone()))
            .collect::<Result<_, _>>()
            .map(Self::Pinned)
    }

    /// Returns whether the owner of this certificate may send reviews for the cluster.
    pub fn allows(&self, cluster: Uuid, shown: &Shown) -> bool {
        match self {
            Self::Uri => shown.named == Some(cluster),
            Self::Pinned(_) => self.pins(&shown.fingerprint),
            Self::Authority => false,
        }
    }

    /// Returns whether the cluster's record names this certificate.
    pub fn pins(&self, fingerprint: &Fingerprint) -> bool {
        matches!(self, Self::Pinned(fingerprints) if fingerprints.contains(fingerprint))
    }
}

/// The relevant parts of a client certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The only cluster that it names.
    pub named: Option<Uuid>,
    pub fingerprint: Fingerprint,
}

impl Shown {
    /// Reads a certificate.
    pub fn by(certificate: &CertificateDer<'_>) -> Self {
        Self {
            named: named_cluster(certificate),
            fingerprint: Fingerprint::of(certificate),
        }
    }
}

/// Maximum number of cached certificates: more than one Portico has API servers.
const MAX_CERTIFICATES: usize = 1024;

/// A cache of parsed certificates: connections are reused, and parsing takes longer than a lookup.
/// The listener has verified each of them.
#[derive(Default)]
pub(crate) struct Certificates(RwLock<HashMap<CertificateDer<'static>, Shown>>);

impl Certificates {
    /// Returns the relevant parts of this certificate.
    pub fn shown(&self, certificate: &CertificateDer<'_>) -> Shown {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(shown) = known.get(certificate) {
            return *shown;
        }
        drop(known);
        let shown = Shown::by(certificate);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_CERTIFICATES {
            known.clear();
        }
        known.insert(certificate.clone().into_owned(), shown);
        shown
    }
}

/// Returns the cluster that a certificate names; `None` if it names several.
fn named_cluster(certificate: &CertificateDer<'_>) -> Option<Uuid> {
    let (rest, certificate) = X509Certificate::from_der(certificate).ok()?;
    if !rest.is_empty() {
        return None;
    }
    let names = certificate.subject_alternative_name().ok()??;
    let mut uris = names
        .value
        .general_names
        .iter()
        .filter_map(|name| match name {
            GeneralName::URI(uri) => uri.strip_prefix(URI_PREFIX),
            _ => None,
        });
    let (first, second) = (uris.next()?, uris.next());
    if second.is_some() {
        return None;
    }
    canonical(first)
}

/// Parses a UUID in its canonical form; other forms would be a second name for the same cluster.
pub(crate) fn canonical(text: &str) -> Option<Uuid> {
    let id = Uuid::try_parse(text).ok()?;
    let mut buffer = Uuid::encode_buffer();
    (id.hyphenated().encode_lower(&mut buffer) == text).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, KeyPair, SanType};

    const ID: &str = "83ab8582-1ab4-4215-9840-cd487218fdd3";
    const OTHER: &str = "a34ceb18-2e1f-43ae-876a-bd948a7e04f9";

    fn certificate(uris: &[String]) -> CertificateDer<'static> {
        let mut params = CertificateParams::new(vec!["api.example.org".to_owned()]).unwrap();
        for uri in uris {
            let uri = uri.as_str().try_into().unwrap();
            params.subject_alt_names.push(SanType::URI(uri));
        }
        let key = KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().der().clone()
    }

    fn named(id: &str) -> String {
        format!("{URI_PREFIX}{id}")
    }

    #[test]
    fn a_certificate_speaks_for_the_one_cluster_that_it_names() {
        let id = Uuid::parse_str(ID).unwrap();
        for (uris, allowed) in [
            (vec![named(ID)], true),
            (vec![named(ID), "spiffe://x/y".to_owned()], true),
            (vec![], false),
            (vec![named(OTHER)], false),
            (vec![named(ID), named(OTHER)], false),
            (vec![named(ID), named(ID)], false),
            (vec![named(&ID.to_uppercase())], false),
            (vec![named(&ID.replace('-', ""))], false),
            (vec![format!("Portico:cluster:{ID}")], false),
            (vec![format!("portico:cluster:{ID}/x")], false),
            (vec![format!("https://x/portico:cluster:{ID}")], false),
        ] {
            let certificate = certificate(&uris);
            let shown = Shown::by(&certificate);
            assert_eq!(Binding::Uri.allows(id, &shown), allowed, "{uris:?}");
        }
        let broken = CertificateDer::from(b"not a certificate".to_vec());
        assert!(!Binding::Uri.allows(id, &Shown::by(&broken)));
    }

    #[test]
    fn where_certificates_are_pinned_no_other_counts() {
        let id = Uuid::parse_str(ID).unwrap();
        let (pinned, named) = (certificate(&[]), certificate(&[named(ID)]));
        let binding = Binding::Pinned(vec![Fingerprint::of(&pinned)]);
        assert!(binding.allows(id, &Shown::by(&pinned)));
        assert!(!binding.allows(id, &Shown::by(&named)));
    }

    #[test]
    fn what_is_remembered_of_a_certificate_is_its_own_and_bounded() {
        let certificates = Certificates::default();
        let (first, second) = (certificate(&[named(ID)]), certificate(&[named(OTHER)]));
        for _ in 0..2 {
            assert_eq!(certificates.shown(&first), Shown::by(&first));
            assert_eq!(certificates.shown(&second), Shown::by(&second));
        }
        assert_eq!(certificates.0.read().unwrap().len(), 2);
        for number in 0..2 * MAX_CERTIFICATES {
            certificates.shown(&CertificateDer::from(number.to_be_bytes().to_vec()));
        }
        assert!(certificates.0.read().unwrap().len() <= MAX_CERTIFICATES);
        assert_eq!(certificates.shown(&first), Shown::by(&first));
    }

    #[test]
    fn fingerprints_are_read_as_openssl_prints_them() {
        let plain = "ab".repeat(32);
        let colons = vec!["AB"; 32].join(":");
        assert_eq!(Fingerprint::parse(&plain), Fingerprint::parse(&colons));
        assert!(Fingerprint::parse(&plain).is_some());
        for wrong in [
            "",
            "ab",
            &"zz".repeat(32),
            &"é".repeat(32),
            &"ab".repeat(33),
        ] {
            assert_eq!(Fingerprint::parse(wrong), None, "{wrong}");
        }
    }
}
