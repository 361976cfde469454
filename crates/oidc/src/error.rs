//! Errors of calls to a provider and of its tokens.

/// An error of an operation at a provider. Never holds a token, code or secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No connection, no response in time, or a server error (5xx). Try again later.
    #[error("the provider does not answer: {0}")]
    Unavailable(String),
    /// The response does not conform to OpenID Connect, or names hosts that are not configured.
    #[error("the provider's answers cannot be used: {0}")]
    Unusable(String),
    /// The code or refresh token is no longer valid (RFC 6749 5.2, `invalid_grant`).
    #[error("the provider does not accept this grant any more")]
    InvalidGrant,
    /// The provider refuses the client, not the user: a wrong secret, a scope or grant type that is
    /// not registered.
    #[error("the provider refuses this client ({0}): check client_id and client_secret_file")]
    Client(String),
    /// The response names another issuer than the provider, or none although the provider promises
    /// one (RFC 9207).
    #[error("the answer comes from another issuer")]
    OtherIssuer,
    /// The provider now returns another subject.
    #[error("the answer is about another subject")]
    OtherSubject,
    /// A token is invalid.
    #[error("the token was refused: {0}")]
    Token(#[from] TokenFault),
}

impl Error {
    /// Returns whether a retry later may succeed without any change.
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Unavailable(_))
    }
}

/// The fault of a token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenFault {
    #[error("it is longer than a token may be")]
    TooLong,
    #[error("it is not a signed JWT")]
    NotAJwt,
    #[error("its algorithm is not allowed")]
    Algorithm,
    #[error("its header contains a key, or an extension that is not supported")]
    Header,
    #[error("its type is not the one expected here")]
    Type,
    #[error("no known key has signed it")]
    UnknownKey,
    #[error("its signature is wrong")]
    Signature,
    #[error("it was issued by another issuer")]
    Issuer,
    #[error("it is for another audience")]
    Audience,
    #[error("it was issued to another party")]
    AuthorizedParty,
    #[error("the claim {0} is missing or unreadable")]
    Claim(&'static str),
    #[error("it has expired")]
    Expired,
    #[error("it is not valid yet")]
    NotYet,
    #[error("it was issued too long ago")]
    TooOld,
    #[error("its nonce does not match")]
    Nonce,
    #[error("there is none")]
    Missing,
    #[error("no bearer is accepted from this provider: it has no api_audience")]
    NoBearers,
}
