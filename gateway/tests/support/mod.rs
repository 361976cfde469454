//! A gateway on a real socket, upstreams that tell what they got, and a browser with a jar.
pub mod browser;
pub mod collector;
pub mod database;
pub mod echo;
pub mod form;
pub mod forwarded;
pub mod fronts;
pub mod handover;
pub mod log;
pub mod pki;
pub mod raw;
pub mod stack;
pub mod told;
pub mod wire;
