//! The certificate authority that an API server should trust to authenticate kube-auth.
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use x509_parser::prelude::{FromDer as _, X509Certificate};

/// The reason why a file of certificates does not determine the authority.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthorityError {
    /// There is no certificate in PEM form, or one that cannot be read.
    #[error("it holds no readable certificate in PEM form")]
    NoCertificate,
    /// The chain ends with a certificate that another authority has issued.
    #[error(
        "it holds the certificate but not its authority ({issuer}); a kubeconfig that trusts the \
         certificate itself would stop working when it is renewed"
    )]
    NotIncluded { issuer: String },
}

/// Returns the authority at the end of a certificate chain (PEM, the server's certificate first),
/// in PEM form and without the file's other contents. A single self-signed certificate is its own
/// authority.
///
/// # Errors
/// Returns [`AuthorityError`] if the chain does not end with an authority.
pub fn authority_of_chain(pem: &[u8]) -> Result<Vec<u8>, AuthorityError> {
    let chain: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|_| AuthorityError::NoCertificate)?;
    let last = chain.last().ok_or(AuthorityError::NoCertificate)?;
    let (_, parsed) = X509Certificate::from_der(last).map_err(|_| AuthorityError::NoCertificate)?;
    let self_issued = parsed.issuer() == parsed.subject();
    // a kubeconfig may trust an intermediate authority: Go's verifier does not need its root
    if self_issued || (chain.len() > 1 && parsed.is_ca()) {
        return Ok(to_pem(last).into_bytes());
    }
    Err(AuthorityError::NotIncluded {
        issuer: parsed.issuer().to_string(),
    })
}

/// Returns the certificates of a PEM file, without its other contents.
///
/// # Errors
/// Returns [`AuthorityError::NoCertificate`] if there is none.
pub fn only_certificates(pem: &[u8]) -> Result<Vec<u8>, AuthorityError> {
    let found: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|_| AuthorityError::NoCertificate)?;
    if found.is_empty() {
        return Err(AuthorityError::NoCertificate);
    }
    let pem: String = found.iter().map(|one| to_pem(one)).collect();
    Ok(pem.into_bytes())
}

/// Encodes a certificate as PEM (RFC 7468: lines of 64 characters).
fn to_pem(certificate: &[u8]) -> String {
    let encoded = STANDARD.encode(certificate);
    let mut pem = "-----BEGIN CERTIFICATE-----\n".to_owned();
    let mut rest = encoded.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(64));
        pem.push_str(line);
        pem.push('\n');
        rest = after;
    }
    pem.push_str("-----END CERTIFICATE-----\n");
    pem
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

    fn authority() -> CertifiedIssuer<'static, KeyPair> {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let name = &mut params.distinguished_name;
        name.push(DnType::CommonName, "the authority");
        CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
    }

    #[test]
    fn finding_o9_the_authority_is_trusted_and_not_the_certificate() {
        let authority = authority();
        let key = KeyPair::generate().unwrap();
        let names = vec!["kube-auth.example.org".to_owned()];
        let params = CertificateParams::new(names).unwrap();
        let leaf = params.signed_by(&key, &authority).unwrap();
        let own = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let self_signed = own.self_signed(&KeyPair::generate().unwrap()).unwrap();
        let found = |pem: &str| {
            authority_of_chain(pem.as_bytes())
                .map(|pem| CertificateDer::from_pem_slice(&pem).unwrap())
        };
        let chain = format!("{}{}", leaf.pem(), authority.pem());
        assert_eq!(found(&chain).as_ref(), Ok(authority.der()));
        // a file with the key at its end: no part of the key may reach a kubeconfig
        let with_key = format!("{chain}{}", key.serialize_pem());
        let pem = authority_of_chain(with_key.as_bytes()).unwrap();
        let pem = String::from_utf8(pem).unwrap();
        assert!(!pem.contains("PRIVATE") && pem.lines().all(|line| line.len() <= 64));
        assert_eq!(found(&with_key).as_ref(), Ok(authority.der()));
        assert_eq!(found(&self_signed.pem()).as_ref(), Ok(self_signed.der()));
        let alone = found(&leaf.pem()).unwrap_err();
        assert!(alone.to_string().contains("the authority"), "{alone}");
        // the wrong order, or two server certificates
        assert!(found(&format!("{}{}", authority.pem(), leaf.pem())).is_err());
        let both = only_certificates(with_key.as_bytes()).unwrap();
        assert_eq!(CertificateDer::pem_slice_iter(&both).count(), 2);
        assert!(!String::from_utf8(both).unwrap().contains("PRIVATE"));
        for nothing in ["", "nonsense", &key.serialize_pem()] {
            assert_eq!(found(nothing), Err(AuthorityError::NoCertificate));
            assert!(only_certificates(nothing.as_bytes()).is_err());
        }
    }
}
