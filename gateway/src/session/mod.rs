//! Sessions in the gateway: finds the session of a cookie, manages its Keystone tokens, validates
//! and ends it.
pub(crate) mod assertion;
pub(crate) mod cookie;
pub(crate) mod end;
pub(crate) mod feed;
pub(crate) mod live;
pub(crate) mod registry;
pub(crate) mod signing;
pub(crate) mod stay;
pub(crate) mod tokens;
pub(crate) mod validate;
