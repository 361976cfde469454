//! The apps behind the gateway: who may open them, how they learn who is asking, and how requests
//! reach them, through the gateway's own proxy or through another one.
pub(crate) mod authorization;
pub(crate) mod bearer;
pub(crate) mod forward_auth;
pub(crate) mod handover;
pub(crate) mod identity;
pub(crate) mod proxy;
pub(crate) mod saved_form;
