//! Small endpoints for programs: health, keys, user information.
pub(crate) mod cluster_list;
pub(crate) mod health;
pub(crate) mod userinfo;
pub(crate) mod well_known;
