//! Why a provider's word cannot be had, or does not count.

/// Why something at a provider did not succeed. Never holds a token, code or secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No connection, no answer in time, or a failure of its own (5xx). Try again later.
    #[error("the provider does not answer: {0}")]
    Unavailable(String),
    /// It answers, but not as OpenID Connect says, or names hosts that are not configured.
    #[error("the provider's answers cannot be used: {0}")]
    Unusable(String),
    /// The code or refresh token is no good any more (RFC 6749 5.2, `invalid_grant`).
    #[error("the provider does not accept this grant any more")]
    InvalidGrant,
    /// The provider refuses the client, not the person: a wrong secret, a scope or grant type
    /// that is not registered.
    #[error("the provider refuses this client ({0}): check client_id and client_secret_file")]
    Client(String),
    /// The answer names another issuer than the one that was asked, or none where one is promised
    /// (RFC 9207).
    #[error("the answer comes from another issuer")]
    OtherIssuer,
    /// The provider now speaks of somebody else.
    #[error("the answer is about another subject")]
    OtherSubject,
    /// A token is not what it should be.
    #[error("the token was refused: {0}")]
    Token(#[from] TokenFault),
}

impl Error {
    /// Whether trying again later may help, without anybody's doing.
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Unavailable(_))
    }
}

/// What is wrong with a token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenFault {
    #[error("it is longer than a token may be")]
    TooLong,
    #[error("it is not a signed JWT")]
    NotAJwt,
    #[error("its algorithm is not allowed")]
    Algorithm,
    #[error("its header brings a key of its own or asks for what is not understood")]
    Header,
    #[error("its type is not the one expected here")]
    Type,
    #[error("no known key has signed it")]
    UnknownKey,
    #[error("its signature is wrong")]
    Signature,
    #[error("it was issued by somebody else")]
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
    #[error("its nonce is another one")]
    Nonce,
    #[error("there is none")]
    Missing,
    #[error("no bearer is accepted from this provider: it has no api_audience")]
    NoBearers,
}
