//! Certificate generation: an authority and the certificates that it signs. Keys are ECDSA on
//! P-256, in PKCS#8.
use super::error::InitError;
use jiff::{Timestamp, ToSpan as _, civil::Date, tz::TimeZone};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, SanType, date_time_ymd,
};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use url::{Host, Url};
use uuid::Uuid;
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer as _;

const AUTHORITY_YEARS: i32 = 10;
/// Apple's software refuses server certificates that are valid for longer than 825 days.
const LEAF_DAYS: i32 = 800;
/// The longest common name (RFC 5280).
const MAX_COMMON_NAME_CHARS: usize = 64;

/// A certificate (or chain) and its private key, both PEM.
#[derive(Clone)]
pub(super) struct Pair {
    pub cert_pem: String,
    pub key_pem: String,
}

/// A certificate authority that signs certificates.
pub(super) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Appended to signed certificates, for clients that know only the authority's own issuer.
    chain: String,
    /// The authority's own certificate and key.
    pub pair: Pair,
    /// When it signs.
    now: Timestamp,
}

impl Authority {
    /// Generates an authority.
    ///
    /// # Errors
    /// [`InitError::Certificate`].
    pub fn generate(common_name: &str, now: Timestamp) -> Result<Self, InitError> {
        let made = || -> Result<_, rcgen::Error> {
            let key = KeyPair::generate()?;
            let mut params = CertificateParams::new(Vec::new())?;
            params.distinguished_name = name(common_name);
            params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
            params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
            let ends = now.to_zoned(TimeZone::UTC).date();
            let ends = ends.saturating_add(AUTHORITY_YEARS.years());
            validity(&mut params, now, ends);
            let certificate = params.self_signed(&key)?;
            let pair = Pair {
                cert_pem: certificate.pem(),
                key_pem: key.serialize_pem(),
            };
            Ok((Issuer::new(params, key), pair))
        };
        let (issuer, pair) = made().map_err(|source| failed(common_name, source))?;
        Ok(Self {
            issuer,
            chain: String::new(),
            pair,
            now,
        })
    }

    /// Reads an existing authority.
    ///
    /// # Errors
    /// [`InitError::Certificate`] if the files are not an authority and its key.
    pub fn read(cert_pem: &str, key_pem: &str, now: Timestamp) -> Result<Self, InitError> {
        let read = || -> Result<_, rcgen::Error> {
            let key = KeyPair::from_pem(key_pem)?;
            ensure_pair(cert_pem, &key)?;
            Issuer::from_ca_cert_pem(cert_pem, key)
        };
        Ok(Self {
            issuer: read().map_err(|source| failed("your authority", source))?,
            chain: cert_pem.to_owned(),
            pair: Pair {
                cert_pem: cert_pem.to_owned(),
                key_pem: key_pem.to_owned(),
            },
            now,
        })
    }

    /// Makes a server certificate for host names, wildcards and addresses.
    ///
    /// # Errors
    /// [`InitError::Certificate`] if a name cannot be in a certificate.
    pub fn server(&self, names: &[String]) -> Result<Pair, InitError> {
        let subject = names.first().map_or("portico", String::as_str);
        let params = CertificateParams::new(names);
        self.sign(subject, params, ExtendedKeyUsagePurpose::ServerAuth)
    }

    /// Makes the client certificate with which one cluster's API server identifies itself to
    /// kube-auth.
    ///
    /// # Errors
    /// [`InitError::Certificate`].
    pub fn api_server(&self, cluster: &str, id: Uuid) -> Result<Pair, InitError> {
        let params = CertificateParams::new(Vec::new()).and_then(|mut params| {
            let uri = format!("portico:cluster:{id}").as_str().try_into()?;
            params.subject_alt_names.push(SanType::URI(uri));
            Ok(params)
        });
        let subject = format!("kube-apiserver {cluster}");
        self.sign(&subject, params, ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn sign(
        &self,
        subject: &str,
        params: Result<CertificateParams, rcgen::Error>,
        usage: ExtendedKeyUsagePurpose,
    ) -> Result<Pair, InitError> {
        let signed = || -> Result<_, rcgen::Error> {
            let mut params = params?;
            params.distinguished_name = name(subject);
            params.is_ca = IsCa::ExplicitNoCa;
            params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
            params.extended_key_usages = vec![usage];
            params.use_authority_key_identifier_extension = true;
            let ends = self.now.to_zoned(TimeZone::UTC).date();
            validity(&mut params, self.now, ends.saturating_add(LEAF_DAYS.days()));
            let key = KeyPair::generate()?;
            let certificate = params.signed_by(&key, &self.issuer)?;
            Ok(Pair {
                cert_pem: certificate.pem() + &self.chain,
                key_pem: key.serialize_pem(),
            })
        };
        signed().map_err(|source| failed(subject, source))
    }
}

/// Returns the names of the gateway's certificate: its own, and the apps'.
pub(super) fn gateway_names(public_url: &Url, apps_domain: &str) -> Vec<String> {
    let mut names = host(public_url);
    names.push(format!("*.{apps_domain}"));
    names
}

/// Returns the names of kube-auth's certificate: the one that API servers use, and this machine's
/// own.
pub(super) fn kube_auth_names(url: &Url) -> Vec<String> {
    let mut names = host(url);
    for local in ["localhost", "127.0.0.1", "::1"] {
        if !names.iter().any(|name| name == local) {
            names.push(local.to_owned());
        }
    }
    names
}

fn host(url: &Url) -> Vec<String> {
    let host = match url.host() {
        Some(Host::Domain(name)) => Some(name.to_owned()),
        Some(Host::Ipv4(address)) => Some(address.to_string()),
        Some(Host::Ipv6(address)) => Some(address.to_string()),
        None => None,
    };
    host.into_iter().collect()
}

/// Verifies that the key belongs to the certificate: clients accept no certificate signed with
/// another key.
fn ensure_pair(cert_pem: &str, key: &KeyPair) -> Result<(), rcgen::Error> {
    let der = CertificateDer::from_pem_slice(cert_pem.as_bytes())
        .map_err(|_| rcgen::Error::CouldNotParseCertificate)?;
    let (_, certificate) =
        X509Certificate::from_der(&der).map_err(|_| rcgen::Error::CouldNotParseCertificate)?;
    if !certificate.is_ca() {
        return Err(rcgen::Error::CouldNotParseCertificate);
    }
    let public = &certificate.public_key().subject_public_key.data;
    if **public != *key.public_key_raw() {
        return Err(rcgen::Error::CouldNotParseKeyPair);
    }
    Ok(())
}

/// Sets the validity, from yesterday on, for clocks that are behind.
fn validity(params: &mut CertificateParams, now: Timestamp, ends: Date) {
    let starts = now.to_zoned(TimeZone::UTC).date();
    let starts = starts.saturating_sub(1.day());
    let day = |date: Date| {
        let [month, day] = [date.month(), date.day()].map(|part| part.unsigned_abs());
        date_time_ymd(date.year().into(), month, day)
    };
    params.not_before = day(starts);
    params.not_after = day(ends);
}

fn name(common_name: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    let short: String = common_name.chars().take(MAX_COMMON_NAME_CHARS).collect();
    name.push(DnType::CommonName, short);
    name
}

fn failed(subject: &str, source: rcgen::Error) -> InitError {
    InitError::Certificate {
        subject: subject.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

    #[test]
    fn the_names_cover_the_apps_and_this_machine() {
        let public = Url::parse("https://portico.example.org").unwrap();
        assert_eq!(
            gateway_names(&public, "apps.portico.example.org"),
            ["portico.example.org", "*.apps.portico.example.org"]
        );
        let address = Url::parse("https://[2001:db8::1]:9443").unwrap();
        assert_eq!(
            kube_auth_names(&address),
            ["2001:db8::1", "localhost", "127.0.0.1", "::1"]
        );
        let local = Url::parse("https://127.0.0.1:9443").unwrap();
        assert_eq!(kube_auth_names(&local), ["127.0.0.1", "localhost", "::1"]);
    }

    #[test]
    fn an_authority_signs_again_after_it_was_read_from_its_files() {
        let made = Authority::generate("Portico, a test", NOW).unwrap();
        let read = Authority::read(&made.pair.cert_pem, &made.pair.key_pem, NOW).unwrap();
        let server = read.server(&["portico.example.org".to_owned()]).unwrap();
        assert_eq!(server.cert_pem.matches("BEGIN CERTIFICATE").count(), 2);
        let other = Authority::generate("Another", NOW).unwrap();
        assert!(Authority::read(&made.pair.cert_pem, &other.pair.key_pem, NOW).is_err());
        assert!(Authority::read(&server.cert_pem, &server.key_pem, NOW).is_err());
        assert!(Authority::read("not a certificate", &other.pair.key_pem, NOW).is_err());
    }
}
