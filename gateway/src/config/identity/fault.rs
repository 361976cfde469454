//! Errors in `[apps.identity]`.
use super::IdentityKind;

/// Why an app's identity is not valid, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentityFault {
    #[error("{setting} cannot be used with kind = \"{}\": remove it", kind.word())]
    NotOfKind {
        setting: &'static str,
        kind: IdentityKind,
    },
    #[error("kind = \"{}\" needs {setting}", kind.word())]
    Missing {
        setting: &'static str,
        kind: IdentityKind,
    },
    #[error("user and user_file: name one of them")]
    TwoUsers,
    #[error("user must be one value, not a list")]
    ListAsUser,
    #[error("{0} has more than 32 entries")]
    TooMany(&'static str),
    #[error(
        "{0:?} cannot be used as a header name here: letters, digits and hyphens, at most 64 of \
         them"
    )]
    HeaderName(String),
    #[error(
        "the header {0:?} has a meaning of its own in HTTP, Kubernetes or Portico and cannot carry an \
         identity; for credentials there are the kinds jwt, basic, bearer and cluster"
    )]
    HeaderTaken(String),
    #[error("the header {0:?} is named twice; letters count the same in either case")]
    HeaderTwice(String),
    #[error(
        "the header {0:?}: separator, lines and only are for lists (roles, role_ids, groups), and \
         separator and lines exclude each other"
    )]
    NotAList(String),
    #[error("the header {0:?}: a separator is one punctuation character, not % or a quote")]
    Separator(String),
    #[error("the header {0:?}: a text is visible ASCII, at most 1024 characters")]
    Text(String),
    #[error(
        "{0:?} cannot be used as a claim name here: letters, digits and any of _ - . : /, and none \
         of those that Portico sets itself (iss, aud, exp, iat, nbf, jti)"
    )]
    ClaimName(String),
    #[error(
        "a value is \"role\", and there are no roles: define the roles of the app and who has each"
    )]
    NoRoles,
    #[error("roles are given, and no header or claim has the value \"role\"")]
    UnusedRoles,
    #[error("a role of the app has no name")]
    EmptyRole,
    #[error(
        "the role {0:?} matches no user: name a role in a project, or a group and its provider"
    )]
    RoleWithoutHolders(String),
    #[error("there is no cluster {0:?}, or several: name the ID of an entry of clusters")]
    Cluster(String),
    #[error("the credential in the files cannot be used in a header: {0}")]
    Credential(&'static str),
}

impl IdentityKind {
    /// Returns the value in the configuration.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Assertion => "assertion",
            Self::None => "none",
            Self::Headers => "headers",
            Self::Jwt => "jwt",
            Self::Basic => "basic",
            Self::Bearer => "bearer",
            Self::Cluster => "cluster",
        }
    }
}
