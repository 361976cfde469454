//! Who may vouch for people beside Keystone's own form: OIDC providers, several at once.
pub(crate) mod config;
