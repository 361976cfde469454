//! Authorities of client certificates besides the configured one, which change while a listener
//! runs.
//!
//! A certificate of the configured authority and one of another authority never look alike to a
//! service: the first is in [`crate::listener::PeerCertificates`], the second in
//! [`crate::listener::OtherPeerCertificates`].
use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::UnixTime;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use std::fmt;
use std::sync::Arc;

/// Decides whether a client may connect whose certificate the configured authority did not issue.
pub trait ClientAuthorities: fmt::Debug + Send + Sync {
    /// Returns whether the handshake may complete. The chain is the client's, its own certificate
    /// first; the client has yet to prove that it has the key. Called on a worker: must not block.
    fn admit(&self, chain: &[CertificateDer<'_>]) -> bool;
}

/// One authority, which may have several certificates during its rotation.
#[derive(Clone, Debug)]
pub struct ClientAuthority {
    verifier: Arc<dyn ClientCertVerifier>,
    certificates: Arc<[CertificateDer<'static>]>,
}

/// A text that does not hold the certificates of an authority.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAuthority {
    #[error("it holds no certificate in PEM form")]
    NoPem,
    #[error("a certificate cannot be used: {0}")]
    Unusable(String),
}

impl ClientAuthority {
    /// Reads certificates in PEM.
    ///
    /// # Errors
    /// If there is none, or one cannot be used.
    pub fn from_pem(pem: &[u8]) -> Result<Self, InvalidAuthority> {
        let certificates: Vec<_> = CertificateDer::pem_slice_iter(pem)
            .collect::<Result<_, _>>()
            .map_err(|_| InvalidAuthority::NoPem)?;
        if certificates.is_empty() {
            return Err(InvalidAuthority::NoPem);
        }
        let mut roots = RootCertStore::empty();
        for certificate in &certificates {
            roots
                .add(certificate.clone())
                .map_err(|error| InvalidAuthority::Unusable(error.to_string()))?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .map_err(|error| InvalidAuthority::Unusable(error.to_string()))?;
        Ok(Self {
            verifier,
            certificates: certificates.into(),
        })
    }

    /// Returns the authority's own certificates.
    pub fn certificates(&self) -> &[CertificateDer<'static>] {
        &self.certificates
    }

    /// Returns whether this authority issued the first certificate of a chain, itself or through
    /// the others, for clients and for the current time. Says nothing about the key.
    pub fn issued(&self, chain: &[CertificateDer<'_>]) -> bool {
        is_issued(&*self.verifier, chain)
    }
}

pub(super) fn is_issued(verifier: &dyn ClientCertVerifier, chain: &[CertificateDer<'_>]) -> bool {
    let Some((own, intermediates)) = chain.split_first() else {
        return false;
    };
    verifier
        .verify_client_cert(own, intermediates, UnixTime::now())
        .is_ok()
}

/// The verifier of a listener with further authorities.
#[derive(Debug)]
pub(super) struct WithOthers {
    pub configured: Arc<dyn ClientCertVerifier>,
    pub others: Arc<dyn ClientAuthorities>,
}

impl ClientCertVerifier for WithOthers {
    fn offer_client_auth(&self) -> bool {
        self.configured.offer_client_auth()
    }

    fn client_auth_mandatory(&self) -> bool {
        self.configured.client_auth_mandatory()
    }

    /// Names no authority: clients in Go send a certificate only if its authority is among those
    /// named, and thousands would not fit into the message.
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        // the configured one first and alone: no number of other authorities with its name can
        // exhaust the number of signatures that one verification may check
        let configured = self
            .configured
            .verify_client_cert(end_entity, intermediates, now);
        configured.or_else(|error| {
            let mut chain = vec![end_entity.clone()];
            chain.extend(intermediates.iter().cloned());
            if self.others.admit(&chain) {
                Ok(ClientCertVerified::assertion())
            } else {
                Err(error)
            }
        })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.configured
            .verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.configured
            .verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.configured.supported_verify_schemes()
    }
}
