//! The OIDC provider of a session, which vouches for its user.
use super::Session;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The OIDC provider behind a session. A session without one is based on Keystone alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionProvider {
    /// The provider's ID in the configuration.
    pub id: String,
    /// `sub` of its tokens.
    pub subject: String,
    /// The provider's own session (`sid`), where it names one.
    pub sid: Option<String>,
    pub profile: ProviderProfile,
    /// When the provider's tokens expire and must have been refreshed; `None`: they cannot be
    /// refreshed.
    pub expires_at: Option<Timestamp>,
}

/// The provider's claims about its subject, renewed with each refresh.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderProfile {
    #[serde(default)]
    pub email: Option<String>,
    #[serde(default)]
    pub email_verified: bool,
    /// The display name.
    #[serde(default)]
    pub display_name: Option<String>,
    #[serde(default)]
    pub groups: Vec<String>,
    #[serde(default)]
    pub roles: Vec<String>,
    /// Whether the session has Keystone tokens too. Without, it reaches apps but no clusters.
    #[serde(default)]
    pub keystone: bool,
}

impl Session {
    /// Returns whether the session has, or had, Keystone tokens.
    pub fn has_keystone(&self) -> bool {
        self.provider
            .as_ref()
            .is_none_or(|provider| provider.profile.keystone)
    }

    /// Returns whether a logout token of the session's provider that names `subject` and `sid` is
    /// for this session.
    pub(crate) fn is_meant(&self, subject: Option<&str>, sid: Option<&str>) -> bool {
        let Some(provider) = &self.provider else {
            return false;
        };
        let same_subject = subject.is_none_or(|subject| subject == provider.subject);
        match (sid, &provider.sid) {
            (Some(sid), Some(own)) => sid == own && same_subject,
            // the provider never named which of its sessions this is
            (Some(_), None) | (None, _) => subject.is_some() && same_subject,
        }
    }
}
