//! Reports of the panel to the gateway for the audit log, in a response header.
//!
//! The panel has no store. The gateway, which passes each request on to it, removes the header from
//! the response and records its entries, under the user and the session that the gateway knows; it
//! accepts the header from the panel only, and never passes it on.
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The name of the response header.
pub const HEADER: &str = "portico-audit";

/// Maximum number of entries in one response. A request that changes something reports one for each
/// object; a bulk change has up to 25. Where a request has more, one entry counts those that do not fit.
pub const MAX_ENTRIES: usize = 32;
/// Maximum length of an object's name, in bytes of JSON.
const MAX_OBJECT_BYTES: usize = 256;
/// Maximum length of an action, in bytes of JSON.
const MAX_ACTION_BYTES: usize = 32;
/// Maximum length of a candidate's subject, in bytes.
pub const MAX_SUBJECT_BYTES: usize = 128;
/// Maximum length of the newest entry of a journal, in bytes.
pub const MAX_JOURNAL_BYTES: usize = 64;
/// Maximum length of a namespace's name, in bytes.
pub const MAX_NAMESPACE_BYTES: usize = 63;
/// Maximum size of the header's value, in bytes: enough for the entries above, whatever their texts
/// are. The gateway accepts response headers of the panel that are larger by its other headers.
pub const MAX_BYTES: usize = 40 * 1024;

/// The outcome of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportedOutcome {
    Succeeded,
    Denied,
    Failed,
}

/// An action of the panel for the request's user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditReport {
    /// `scale`, `delete`, `grant`, …
    pub action: String,
    /// The cluster's ID.
    pub cluster: Uuid,
    /// The object of the action; no values, no tokens.
    pub object: String,
    pub outcome: ReportedOutcome,
    /// A namespace that the action gave rights in, or that the user added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate: Option<Candidate>,
    /// The newest entry of the cluster's journal after the action, as `17:<hash>`: the audit log, whose
    /// entries are sealed, holds the journal's chain; at most [`MAX_JOURNAL_BYTES`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<String>,
}

/// A namespace of the report's cluster in which a subject may have rights. The gateway stores it
/// for users who may not list namespaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// A group, as role bindings name it; at most [`MAX_SUBJECT_BYTES`].
    pub subject: String,
    /// At most [`MAX_NAMESPACE_BYTES`].
    pub namespace: String,
}

impl Candidate {
    /// Returns whether both texts have a valid length.
    pub fn fits(&self) -> bool {
        (1..=MAX_SUBJECT_BYTES).contains(&self.subject.len())
            && (1..=MAX_NAMESPACE_BYTES).contains(&self.namespace.len())
            && [&self.subject, &self.namespace]
                .iter()
                .all(|text| text.bytes().all(|byte| byte.is_ascii_graphic()))
    }
}

/// The reason why a header cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum AuditReportError {
    #[error("the report is larger than {MAX_BYTES} bytes")]
    TooLarge,
    #[error("the report has more than {MAX_ENTRIES} entries")]
    TooMany,
    #[error("the report is not base64url of JSON")]
    Unreadable,
}

/// Returns the header's value: base64url of JSON. Texts that are too long are cut, candidates with
/// such texts are left out.
///
/// # Errors
/// [`AuditReportError::TooMany`] beyond [`MAX_ENTRIES`].
pub fn encode(reports: &[AuditReport]) -> Result<String, AuditReportError> {
    if reports.len() > MAX_ENTRIES {
        return Err(AuditReportError::TooMany);
    }
    let short: Vec<AuditReport> = reports
        .iter()
        .map(|report| AuditReport {
            action: cut(&report.action, MAX_ACTION_BYTES),
            object: cut(&report.object, MAX_OBJECT_BYTES),
            candidate: report.candidate.clone().filter(Candidate::fits),
            journal: report.journal.clone().filter(|mark| {
                mark.len() <= MAX_JOURNAL_BYTES && mark.bytes().all(|byte| byte.is_ascii_graphic())
            }),
            ..report.clone()
        })
        .collect();
    let json = serde_json::to_vec(&short).map_err(|_| AuditReportError::Unreadable)?;
    let text = URL_SAFE_NO_PAD.encode(json);
    if text.len() > MAX_BYTES {
        return Err(AuditReportError::TooLarge);
    }
    Ok(text)
}

/// Reads the header's value.
///
/// # Errors
/// If it is too large, has too many entries or was not made by [`encode`].
pub fn decode(value: &[u8]) -> Result<Vec<AuditReport>, AuditReportError> {
    if value.len() > MAX_BYTES {
        return Err(AuditReportError::TooLarge);
    }
    let json = URL_SAFE_NO_PAD
        .decode(value)
        .map_err(|_| AuditReportError::Unreadable)?;
    let reports: Vec<AuditReport> =
        serde_json::from_slice(&json).map_err(|_| AuditReportError::Unreadable)?;
    if reports.len() > MAX_ENTRIES {
        return Err(AuditReportError::TooMany);
    }
    Ok(reports)
}

fn cut(text: &str, max_bytes: usize) -> String {
    let mut left = max_bytes;
    text.chars()
        .take_while(|c| {
            let length = match c {
                '"' | '\\' => 2,
                c if c.is_control() => 6,
                c => c.len_utf8(),
            };
            let fits = length <= left;
            left = left.saturating_sub(length);
            fits
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(object: &str) -> AuditReport {
        AuditReport {
            action: "scale".to_owned(),
            cluster: Uuid::from_u128(7),
            object: object.to_owned(),
            outcome: ReportedOutcome::Succeeded,
            candidate: None,
            journal: None,
        }
    }

    fn candidate(subject: &str, namespace: &str) -> Option<Candidate> {
        Some(Candidate {
            subject: subject.to_owned(),
            namespace: namespace.to_owned(),
        })
    }

    #[test]
    fn audit_report_survives_the_header() {
        let reports = [
            report("shop/deployments.apps/web to 3"),
            report("ä\r\nx: y"),
            AuditReport {
                candidate: candidate("portico:user:u1", "shop"),
                journal: Some("17:7f3a".to_owned()),
                ..report("shop")
            },
        ];
        let value = encode(&reports).unwrap();
        assert!(
            value
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        );
        assert_eq!(decode(value.as_bytes()).unwrap(), reports);
    }

    #[test]
    fn audit_report_is_bounded() {
        // also texts that JSON makes longer: a report that cannot be sent would be missing in the log
        for (text, bytes) in [("𝄞", 4), ("x", 1), ("\"", 2), ("\u{1}", 6), ("\\", 2)] {
            let long = AuditReport {
                action: text.repeat(10_000),
                candidate: candidate(&"\"".repeat(128), &"n".repeat(63)),
                journal: Some("7".repeat(MAX_JOURNAL_BYTES)),
                ..report(&text.repeat(10_000))
            };
            let value = encode(&vec![long; MAX_ENTRIES]).unwrap();
            let read = decode(value.as_bytes()).unwrap();
            assert_eq!(read[0].object.chars().count(), MAX_OBJECT_BYTES / bytes);
        }
        let unfit = AuditReport {
            candidate: candidate("a-role", &"n".repeat(64)),
            journal: Some("7".repeat(MAX_JOURNAL_BYTES + 1)),
            ..report("x")
        };
        let read = decode(encode(&[unfit]).unwrap().as_bytes()).unwrap();
        assert_eq!(read, [report("x")]);
        assert!(encode(&vec![report("x"); MAX_ENTRIES + 1]).is_err());
        assert!(decode(&vec![b'a'; MAX_BYTES + 1]).is_err());
        assert!(decode(b"not base64!").is_err());
        assert!(decode(URL_SAFE_NO_PAD.encode("{}").as_bytes()).is_err());
    }
}
