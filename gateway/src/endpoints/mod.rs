//! Small endpoints for programs: health, keys, forward auth, who am I.
pub(crate) mod auth;
pub(crate) mod health;
pub(crate) mod userinfo;
pub(crate) mod well_known;
