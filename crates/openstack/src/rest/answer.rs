//! Interpretation of answers: from status, headers and body to a result; no I/O.
use super::error::ErrorKind;
use super::fault;
use super::microversion::{Microversion, VersionRange};
use crate::keystone::error::Unavailable;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};
use serde::de::DeserializeOwned;

/// Headers with the service's ID of a request; Nova once had its own.
const REQUEST_IDS: [&str; 2] = ["x-openstack-request-id", "x-compute-request-id"];
/// Maximum length of an ID of a request, in bytes; they are `req-` and a UUID.
const MAX_REQUEST_ID_BYTES: usize = 80;
/// What services write, in lower case, when a quota is used up; the status differs.
const QUOTA_TEXTS: [&str; 5] = [
    "resource limit exceeded",
    "quota exceeded",
    "overquota",
    "exceeds allowed",
    "quota has been met",
];

/// A complete answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub status: StatusCode,
    pub request_id: Option<String>,
    /// The versions that the headers announce.
    pub versions: Option<VersionRange>,
    /// Whether the answer is that of Keystone's middleware, which names Keystone in a 401.
    is_challenge: bool,
    pub body: Vec<u8>,
}

impl Answer {
    /// Returns an answer with what is needed of its headers.
    pub fn new(status: StatusCode, headers: &HeaderMap, body: Vec<u8>) -> Self {
        let text = |name: &str| headers.get(name)?.to_str().ok();
        // `container-infrastructure-management 1.14`
        let version =
            |name: &str| -> Option<Microversion> { text(name)?.rsplit(' ').next()?.parse().ok() };
        let versions = || {
            Some(VersionRange {
                min: version("openstack-api-minimum-version")?,
                max: version("openstack-api-maximum-version")?,
            })
        };
        let request_id = REQUEST_IDS.iter().find_map(|name| text(name));
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let request_id = request_id
            .filter(|id| id.len() <= MAX_REQUEST_ID_BYTES && id.bytes().all(plain))
            .map(str::to_owned);
        let challenge = headers.get(WWW_AUTHENTICATE);
        Self {
            status,
            request_id,
            versions: versions(),
            is_challenge: challenge.is_some_and(|value| value.as_bytes().starts_with(b"Keystone")),
            body,
        }
    }

    /// Returns the content of an answer with one of the statuses of success.
    ///
    /// # Errors
    /// The error that the status means, or [`ErrorKind::Malformed`].
    pub fn json<T: DeserializeOwned>(&self, success: &[StatusCode]) -> Result<T, ErrorKind> {
        self.expect(success)?;
        // serde_json's message may quote the body, so it is dropped
        serde_json::from_slice(&self.body).map_err(|_| ErrorKind::Malformed("unexpected content"))
    }

    /// Checks the status. A 401 or 404 counts only in a service's own format: a proxy's 404 page
    /// must not make a cluster disappear.
    ///
    /// # Errors
    /// The error that the status means.
    pub fn expect(&self, success: &[StatusCode]) -> Result<(), ErrorKind> {
        let status = self.status;
        if success.contains(&status) {
            return Ok(());
        }
        let code = status.as_u16();
        if matches!(code, 429 | 502..=504) {
            return Err(ErrorKind::Unavailable(Unavailable::Status(code)));
        }
        let fault = fault::read(&self.body);
        let is_own = fault.is_some();
        let fault = fault.unwrap_or_default();
        let message = fault.message;
        let is_quota = {
            let message = message.to_lowercase();
            QUOTA_TEXTS.iter().any(|text| message.contains(text))
        };
        Err(match code {
            401 if is_own || self.is_challenge => ErrorKind::InvalidToken,
            404 if is_own => ErrorKind::NotFound(message),
            401 | 404 => ErrorKind::Malformed("an error that is not the service's"),
            403 | 409 | 413 if is_quota => ErrorKind::QuotaExceeded(message),
            403 => ErrorKind::Forbidden(message),
            406 => match fault.versions {
                Some(offered) => ErrorKind::Incompatible(offered),
                // Magnum's answer to a call that the requested version does not have
                None => ErrorKind::Invalid("this version does not have the call".to_owned()),
            },
            409 => ErrorKind::Conflict(message),
            400 | 405 | 411..=415 | 422 | 431 => ErrorKind::Invalid(message),
            500..=599 if is_own => ErrorKind::Fault {
                status: code,
                message,
            },
            500..=599 => ErrorKind::Unavailable(Unavailable::Status(code)),
            _ => ErrorKind::Malformed("unexpected status"),
        })
    }
}
