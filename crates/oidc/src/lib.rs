//! An OpenID Connect relying party: authenticates users with OpenID Providers.
//!
//! [`Provider`] is one provider: it discovers the endpoints when they are first needed, builds the
//! authorization URL ([`Provider::begin`]), redeems the code ([`Provider::finish`]), refreshes
//! ([`Provider::refresh`]), and verifies untrusted input: ID tokens, logout tokens
//! ([`Provider::verify_logout_token`]) and bearer tokens of API callers
//! ([`Provider::verify_bearer`]).
//!
//! It holds no sessions, knows no browsers and makes no access decisions. Every response is bounded
//! in size and time, redirects are never followed, and requests go to the configured hosts only.
//! The protocol is the `openidconnect` crate's: metadata, key sets, authorization requests, token
//! and userinfo requests, through our HTTP client. It judges no token: ID tokens, logout tokens,
//! bearer tokens and signed userinfo responses are checked by one verifier of ours ([`TokenFault`]
//! is the reason for a refusal).
mod authorization;
mod bearer;
mod claims;
mod client;
mod discovery;
mod error;
mod http;
mod jwt;
mod keys;
mod logout;
mod metadata;
mod provider;
mod refresh;
mod revocation;
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
