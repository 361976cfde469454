//! Small endpoints for programs: health, keys, who am I.
pub(crate) mod health;
pub(crate) mod userinfo;
pub(crate) mod well_known;
