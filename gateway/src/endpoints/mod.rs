//! Small endpoints for programs: health, keys, user information.
pub(crate) mod health;
pub(crate) mod userinfo;
pub(crate) mod well_known;
