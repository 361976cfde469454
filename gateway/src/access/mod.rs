//! What decides whether a request may go on: who may open what, and who may send it there.
pub(crate) mod arrival;
pub(crate) mod client_address;
pub(crate) mod csrf;
pub(crate) mod line;
pub(crate) mod navigation;
pub(crate) mod origin;
pub(crate) mod return_path;
pub(crate) mod rounds;
pub(crate) mod rules;
pub(crate) mod unreadable_hops;
