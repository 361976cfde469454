//! Sign-in with OIDC providers.
//!
//! `start` redirects a browser to a provider, `callback` handles the response, `federate` exchanges
//! the identity for a Keystone token, `establish` creates the session, `reauthentication` continues
//! one, and `backchannel_logout` ends it when the provider reports its end.
pub(crate) mod backchannel_logout;
pub(crate) mod callback;
mod establish;
mod federate;
mod reauthentication;
pub(crate) mod start;
