//! A certificate as it is printed.
use super::error::ClusterError;
use crate::output::TableRow;
use jiff::Timestamp;
use portico_cluster_operations::certificate::Certificate;
use serde::Serialize;

/// A certificate.
#[derive(Debug, Serialize)]
pub struct CertificateView {
    pub subject: String,
    pub issuer: String,
    pub not_before: Option<Timestamp>,
    pub not_after: Option<Timestamp>,
    pub days_left: i64,
    /// SHA-256 of the certificate, in hexadecimal.
    pub fingerprint: String,
}

/// Returns the certificate as lines for users.
pub fn text(view: &CertificateView) -> String {
    let time =
        |time: Option<Timestamp>| time.map_or_else(|| "-".to_owned(), |time| time.to_string());
    format!(
        "Subject      {}\nIssuer       {}\nValid from   {}\nValid until  {} ({} days left)\nSHA-256      {}\n",
        crate::one_line(&view.subject),
        crate::one_line(&view.issuer),
        time(view.not_before),
        time(view.not_after),
        view.days_left,
        view.fingerprint
    )
}

/// Reads the first certificate of a text in PEM.
///
/// # Errors
/// [`ClusterError::Usage`] if it has none, or one that cannot be read.
pub fn view(pem: &str, now: Timestamp) -> Result<CertificateView, ClusterError> {
    let certificate =
        Certificate::read(pem).map_err(|error| ClusterError::Usage(error.to_string()))?;
    Ok(CertificateView {
        not_before: Timestamp::from_second(certificate.not_before).ok(),
        not_after: Timestamp::from_second(certificate.not_after).ok(),
        days_left: certificate.days_left(now.as_second()),
        subject: certificate.subject,
        issuer: certificate.issuer,
        fingerprint: certificate.fingerprint,
    })
}

/// An authority of a cluster, as a row of a list.
#[derive(Debug, Serialize)]
pub struct AuthorityRow {
    pub authority: &'static str,
    /// `None`: Magnum did not give it, or it cannot be read.
    pub certificate: Option<CertificateView>,
}

impl AuthorityRow {
    /// Returns the row of an authority with this certificate in PEM.
    pub fn new(authority: &'static str, pem: Option<&str>, now: Timestamp) -> Self {
        Self {
            authority,
            certificate: pem.and_then(|pem| view(pem, now).ok()),
        }
    }
}

impl TableRow for AuthorityRow {
    const HEADINGS: &'static [&'static str] = &["AUTHORITY", "DAYS LEFT", "VALID UNTIL", "SHA-256"];

    fn cells(&self) -> Vec<String> {
        let certificate = self.certificate.as_ref();
        let cell = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        vec![
            self.authority.to_owned(),
            cell(certificate.map(|one| one.days_left.to_string())),
            cell(certificate.and_then(|one| one.not_after.map(|time| time.to_string()))),
            cell(certificate.map(|one| one.fingerprint.clone())),
        ]
    }
}
