//! OpenID Connect as a relying party: who an OpenID Provider says somebody is.
//!
//! [`Provider`] is one provider: it discovers the endpoints when they are first needed, builds the
//! authorization URL ([`Provider::begin`]), redeems the code ([`Provider::finish`]), refreshes
//! ([`Provider::refresh`]), and verifies what arrives from outside: ID tokens, logout tokens
//! ([`Provider::verify_logout_token`]) and bearers of API callers ([`Provider::verify_bearer`]).
//!
//! Nothing here keeps a session, knows a browser or decides who may do what. Every answer is
//! bounded in size and time, redirects are never followed, and only the configured hosts are asked.
//! All three kinds of tokens go through one verifier ([`TokenFault`] says why one is refused).
mod authorization;
mod bearer;
mod claims;
mod error;
mod http;
mod jwt;
mod keys;
mod logout;
mod metadata;
mod oauth;
mod provider;
mod refresh;
mod settings;
mod userinfo;

pub use authorization::{Authorization, Flow, Redemption, Tokens};
pub use bearer::BearerIdentity;
pub use claims::{Email, Identity};
pub use error::{Error, TokenFault};
pub use logout::LogoutToken;
pub use provider::{Outage, Provider};
pub use refresh::Refreshed;
pub use settings::{Algorithm, ClaimPointers, InvalidSettings, Settings};
