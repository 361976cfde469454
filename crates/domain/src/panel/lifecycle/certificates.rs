//! The certificate of a cluster's authority, its rotation, and the signing of requests.
use super::ActionOffer;
use crate::identity::Named;
use serde::{Deserialize, Serialize};

/// The content of the page of certificates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterCertificates {
    /// UUID and name. The name has to be typed for a rotation.
    pub cluster: Named,
    /// Whether the viewer created the cluster.
    pub is_own: bool,
    /// The ID of the user who created it; empty if Magnum does not report it.
    pub creator: String,
    /// The authority of Kubernetes.
    pub authority: AuthorityReading,
    /// The other authorities of the control plane; none if that of Kubernetes was not read from Magnum.
    pub other_authorities: Vec<OtherAuthority>,
    /// What a rotation does, as sentences.
    pub rotation_effects: Vec<String>,
    /// Whether the viewer may rotate the authorities: the policy, the driver, and the state.
    pub rotation: ActionOffer,
    /// Whether the viewer may have requests signed.
    pub signing: ActionOffer,
    /// The authority in the record of the enrolled cluster.
    pub record: RecordedAuthority,
    pub read_at: i64,
}

/// Where the certificate of the authority was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthorityReading {
    /// From Magnum.
    Magnum(Box<CertificateView>),
    /// From the record of the enrolled cluster, because Magnum refuses it; the reason is a sentence.
    Record {
        certificate: Box<CertificateView>,
        reason: String,
    },
    /// Nowhere, for this reason, with the next step, as sentences.
    Refused {
        reason: String,
        next_step: Option<String>,
    },
}

/// An authority beside that of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherAuthority {
    pub kind: OtherAuthorityKind,
    /// `None`: Magnum did not give it, as with drivers and versions that do not have it.
    pub certificate: Option<Box<CertificateView>>,
}

/// What an authority beside that of Kubernetes is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OtherAuthorityKind {
    /// etcd and its clients.
    Etcd,
    /// Requests of the API server to API servers that extend it.
    FrontProxy,
}

/// The authority in the record of an enrolled cluster, with which Portico reaches its API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedAuthority {
    /// The project has not enrolled the cluster.
    None,
    /// Magnum's could not be read.
    NotCompared,
    /// It is that of Magnum.
    Same,
    /// It is another one, as after a rotation: the cluster must be enrolled again.
    Differs,
}

/// A certificate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CertificateView {
    pub subject: String,
    pub issuer: String,
    pub not_before: i64,
    pub not_after: i64,
    /// Whole days; negative: it has expired.
    pub days_left: i64,
    pub expiry: Expiry,
    /// SHA-256 in hexadecimal.
    pub fingerprint: String,
    /// The certificate itself.
    pub pem: String,
}

/// How soon a certificate expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expiry {
    Distant,
    /// In at most 90 days.
    Approaching,
    /// In at most 30 days.
    Soon,
    /// In at most 7 days.
    Imminent,
    Expired,
}

impl Expiry {
    /// Returns how soon it is, from the whole days that are left.
    pub fn of_days(days: i64) -> Self {
        match days {
            ..0 => Self::Expired,
            0..=7 => Self::Imminent,
            8..=30 => Self::Soon,
            31..=90 => Self::Approaching,
            _ => Self::Distant,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Expiry;

    #[test]
    fn a_certificate_warns_90_30_and_7_days_before_its_end() {
        for (days, expected) in [
            (1_825, Expiry::Distant),
            (91, Expiry::Distant),
            (90, Expiry::Approaching),
            (31, Expiry::Approaching),
            (30, Expiry::Soon),
            (8, Expiry::Soon),
            (7, Expiry::Imminent),
            (0, Expiry::Imminent),
            (-1, Expiry::Expired),
        ] {
            assert_eq!(Expiry::of_days(days), expected, "{days}");
        }
    }
}
