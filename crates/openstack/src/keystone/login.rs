//! Credentials for a sign-in, and the requested scope.
use secrecy::SecretString;

/// A user, by ID or by name within a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserRef {
    Id(String),
    /// In the domain of this name.
    Name {
        name: String,
        domain: String,
    },
    /// In the domain with this ID.
    NameInDomain {
        name: String,
        domain_id: String,
    },
}

/// The requested scope of a token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Not specified: Keystone scopes to the user's default project if there is one.
    #[default]
    Default,
    /// Explicitly none, whatever the user's default project.
    Unscoped,
    /// The project with this ID.
    Project(String),
    /// The project with this name in this domain.
    ProjectName { name: String, domain: String },
    /// The domain with this name.
    DomainName(String),
    /// The whole cloud.
    System,
    /// The project with this name in the domain with this ID.
    ProjectNameInDomain { name: String, domain_id: String },
}

/// A sign-in with the user's input. The methods are those that are present.
#[derive(Clone, Debug)]
pub struct Login {
    pub user: UserRef,
    pub password: Option<SecretString>,
    /// The current one-time passcode.
    pub passcode: Option<SecretString>,
    /// The receipt of an earlier step ([`super::AuthOutcome::ReceiptRequired`]); it covers the
    /// methods already passed, so the password is not needed again.
    pub receipt: Option<SecretString>,
    pub scope: Scope,
}

impl Login {
    /// Makes the first step, with a password.
    pub fn with_password(user: UserRef, password: SecretString, scope: Scope) -> Self {
        Self {
            user,
            password: Some(password),
            passcode: None,
            receipt: None,
            scope,
        }
    }

    /// Makes the second step: the passcode, with the receipt of the first.
    pub fn with_passcode(
        user: UserRef,
        passcode: SecretString,
        receipt: SecretString,
        scope: Scope,
    ) -> Self {
        Self {
            user,
            password: None,
            passcode: Some(passcode),
            receipt: Some(receipt),
            scope,
        }
    }
}

/// An application credential. It has its project built in.
#[derive(Clone, Debug)]
pub enum ApplicationCredential {
    Id {
        id: String,
        secret: SecretString,
    },
    Name {
        name: String,
        user: UserRef,
        secret: SecretString,
    },
}
