//! Tokens and their details, as returned by Keystone.
use jiff::Timestamp;
use portico_domain::identity::Identity;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

/// The result of a sign-in step that was not refused.
#[derive(Clone, Debug)]
pub enum AuthOutcome {
    Token(Box<IssuedToken>),
    /// The credentials are correct but not sufficient.
    ReceiptRequired {
        /// Covers the methods passed so far; valid for minutes.
        receipt: SecretString,
        /// Sets of methods, each of which would be sufficient, in Keystone's words (`password`,
        /// `totp`).
        required: Vec<Vec<String>>,
    },
}

/// A token that Keystone has just issued.
#[derive(Clone, Debug)]
pub struct IssuedToken {
    pub token: SecretString,
    pub details: TokenDetails,
}

/// The details of a token at the time of the response. Serialised, it is smaller, for large caches;
/// it is not a format of Keystone's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenDetails {
    /// User, project and roles; no project and no roles unless `scope` is `Project`.
    pub identity: Identity,
    pub scope: TokenScope,
    pub issued_at: Timestamp,
    pub expires_at: Timestamp,
    /// How it was obtained (`password`, `totp`, `token`, `application_credential`, …).
    pub methods: Vec<String>,
    /// Public IDs: the token's own first, then that of the token from which it was made.
    pub audit_ids: Vec<String>,
    /// The application credential it was made with.
    pub application_credential: Option<UsedApplicationCredential>,
    /// The trust under which it acts.
    pub trust: Option<Trust>,
    /// Whether it was delegated by OAuth 1 or bound to a client certificate (OAuth 2).
    pub is_oauth: bool,
}

/// The application credential behind a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedApplicationCredential {
    pub id: String,
    /// The service types of its access rules, if it has rules: it is valid for those calls only.
    pub access_rules: Option<Vec<String>>,
}

impl UsedApplicationCredential {
    /// Returns whether it may be used at services of this type: without access rules at any,
    /// otherwise if a rule names it.
    pub fn is_for(&self, service_type: &str) -> bool {
        let rules = self.access_rules.as_ref();
        rules.is_none_or(|rules| rules.iter().any(|one| one == service_type))
    }
}

/// A trust: rights that one user (the trustor) has delegated to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trust {
    pub id: String,
    pub trustor_id: String,
    /// Whether the token's user is the trustor, though another user holds it.
    pub impersonation: bool,
}

/// The scope of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TokenScope {
    Unscoped,
    Project,
    Domain,
    System,
}

impl TokenScope {
    /// Returns the scope's name in logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unscoped => "unscoped",
            Self::Project => "project",
            Self::Domain => "domain",
            Self::System => "system",
        }
    }
}

/// The result of a revocation. With both variants the token is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revoked {
    Now,
    /// It was invalid before.
    Already,
}

/// The identity API's version, as announced by Keystone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    pub id: String,
    pub status: String,
}
