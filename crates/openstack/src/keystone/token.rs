//! What Keystone says about a token.
use jiff::Timestamp;
use portico_domain::identity::Identity;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

/// The result of a sign-in step that was not refused.
#[derive(Clone, Debug)]
pub enum AuthOutcome {
    Token(Box<IssuedToken>),
    /// What was given is right but not enough.
    ReceiptRequired {
        /// Stands for the methods passed so far; lives for minutes.
        receipt: SecretString,
        /// Sets of methods, each of which would do, in Keystone's words (`password`, `totp`).
        required: Vec<Vec<String>>,
    },
}

/// A token that Keystone has just made.
#[derive(Clone, Debug)]
pub struct IssuedToken {
    pub token: SecretString,
    pub details: TokenDetails,
}

/// What a token is, as of the answer. Serialized it is smaller, for those who keep many; it is no
/// format of Keystone's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenDetails {
    /// User, project and roles; no project and no roles unless `scope` is `Project`.
    pub identity: Identity,
    pub scope: TokenScope,
    pub issued_at: Timestamp,
    pub expires_at: Timestamp,
    /// How it was come by (`password`, `totp`, `token`, `application_credential`, …).
    pub methods: Vec<String>,
    /// Public IDs: the token's own first, then that of the one it was made from.
    pub audit_ids: Vec<String>,
    /// The application credential it was made with.
    pub application_credential: Option<UsedApplicationCredential>,
    /// The trust by which it acts.
    pub trust: Option<Trust>,
    /// Whether it was delegated by OAuth 1 or bound to a client certificate (OAuth 2).
    pub is_oauth: bool,
}

/// The application credential behind a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedApplicationCredential {
    pub id: String,
    /// The service types of its access rules, where it has rules: it is good for those calls only.
    pub access_rules: Option<Vec<String>>,
}

impl UsedApplicationCredential {
    /// Whether it may be used at services of this type: without access rules at any, else where one
    /// names it.
    pub fn is_for(&self, service_type: &str) -> bool {
        let rules = self.access_rules.as_ref();
        rules.is_none_or(|rules| rules.iter().any(|one| one == service_type))
    }
}

/// A trust: rights that one user (the trustor) has lent to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trust {
    pub id: String,
    pub trustor_id: String,
    /// Whether the token's user is the trustor, though somebody else holds it.
    pub impersonation: bool,
}

/// What a token is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TokenScope {
    Unscoped,
    Project,
    Domain,
    System,
}

impl TokenScope {
    /// The scope's name in logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unscoped => "unscoped",
            Self::Project => "project",
            Self::Domain => "domain",
            Self::System => "system",
        }
    }
}

/// How a revocation ended. Both mean that the token is dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revoked {
    Now,
    /// It had ended before.
    Already,
}

/// The identity API's version, as it announces itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    pub id: String,
    pub status: String,
}
