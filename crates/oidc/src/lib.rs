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
//! All three kinds of tokens are checked by one verifier ([`TokenFault`] is the reason for a
//! refusal).
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
