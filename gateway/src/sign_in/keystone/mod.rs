//! Sign-in with Keystone: passwords, one-time codes, application credentials, existing tokens and
//! WebSSO.
pub(crate) mod application_credential;
pub(crate) mod attempt;
pub(crate) mod existing_token;
pub(crate) mod password;
pub(crate) mod totp;
pub(crate) mod websso;
