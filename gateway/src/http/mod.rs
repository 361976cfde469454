//! What handlers are made of: reading requests, cookies, forms and return paths, and writing errors,
//! redirects, security headers and the access log.
pub(crate) mod access_log;
pub(crate) mod cookies;
pub(crate) mod csrf;
pub(crate) mod destination;
pub(crate) mod error_response;
pub(crate) mod forms;
pub(crate) mod interrupt;
pub(crate) mod origin;
pub(crate) mod redirect;
pub(crate) mod return_path;
pub(crate) mod security_headers;
