//! Certificates of a cluster's authorities, and requests for new ones.
use sha2::{Digest as _, Sha256};
use x509_parser::pem::Pem;

const SECONDS_OF_DAY: i64 = 86_400;

/// A certificate, as far as users see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    pub subject: String,
    pub issuer: String,
    /// In Unix seconds.
    pub not_before: i64,
    /// In Unix seconds.
    pub not_after: i64,
    /// SHA-256 of the certificate, in hexadecimal.
    pub fingerprint: String,
}

/// A text without a certificate that can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the certificate cannot be read: {0}")]
pub struct CertificateError(String);

impl Certificate {
    /// Reads the first certificate of a text in PEM.
    ///
    /// # Errors
    /// [`CertificateError`] if there is none, or it is not one of X.509.
    pub fn read(pem: &str) -> Result<Self, CertificateError> {
        let first = Pem::iter_from_buffer(pem.as_bytes()).next();
        let first = first.ok_or_else(|| CertificateError("it is empty".to_owned()))?;
        let first = first.map_err(|error| CertificateError(error.to_string()))?;
        let certificate = first
            .parse_x509()
            .map_err(|error| CertificateError(error.to_string()))?;
        let fingerprint = Sha256::digest(&first.contents);
        let fingerprint = fingerprint.iter().map(|byte| format!("{byte:02x}"));
        Ok(Self {
            subject: certificate.subject().to_string(),
            issuer: certificate.issuer().to_string(),
            not_before: certificate.validity().not_before.timestamp(),
            not_after: certificate.validity().not_after.timestamp(),
            fingerprint: fingerprint.collect(),
        })
    }

    /// Returns the whole days that are left at a time in Unix seconds; negative: it has expired.
    pub fn days_left(&self, now: i64) -> i64 {
        self.not_after
            .saturating_sub(now)
            .div_euclid(SECONDS_OF_DAY)
    }
}

/// Why a text is not sent as a certificate request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    #[error("it has a private key, which is never sent")]
    PrivateKey,
    #[error("it is not a certificate request in PEM")]
    NotARequest,
}

/// Checks that a text is a certificate request in PEM, without a private key.
///
/// # Errors
/// [`RequestError`].
pub fn check_request(text: &str) -> Result<(), RequestError> {
    if text.contains("PRIVATE KEY-----") {
        return Err(RequestError::PrivateKey);
    }
    if !text.contains("-----BEGIN CERTIFICATE REQUEST-----") {
        return Err(RequestError::NotARequest);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(not_after: i64) -> Certificate {
        Certificate {
            subject: "CN=shop".to_owned(),
            issuer: "CN=shop".to_owned(),
            not_before: 0,
            not_after,
            fingerprint: String::new(),
        }
    }

    #[test]
    fn days_are_whole_and_negative_after_the_end() {
        let end = 10 * SECONDS_OF_DAY;
        assert_eq!(of(end).days_left(0), 10);
        assert_eq!(of(end).days_left(1), 9);
        assert_eq!(of(end).days_left(end), 0);
        assert_eq!(of(end).days_left(end + 1), -1);
    }

    #[test]
    fn a_text_without_a_certificate_is_an_error() {
        for text in [
            "",
            "shop",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        ] {
            assert!(Certificate::read(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_private_key_is_not_a_request() {
        let request =
            "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n";
        let key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
        assert_eq!(check_request(request), Ok(()));
        assert_eq!(check_request("shop"), Err(RequestError::NotARequest));
        let both = format!("{request}{key}");
        assert_eq!(check_request(&both), Err(RequestError::PrivateKey));
    }
}
