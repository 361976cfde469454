//! Facts about a request on which decisions rest, read so that no other reading is possible: the path
//! ([`path`], [`rewrite`]) and the client's address ([`client_address`]).
pub mod client_address;
pub mod path;
pub mod rewrite;
