//! Access control for requests: who may open an app, which origins may send requests, and the
//! access log.
pub(crate) mod access_log;
pub(crate) mod csrf;
pub(crate) mod navigation;
pub(crate) mod origin;
pub(crate) mod post_login_redirect;
pub(crate) mod redirect_loop;
pub(crate) mod return_path;
pub(crate) mod rules;
pub(crate) mod unreadable_hops;
