//! Measures the gateway beside widely used proxies, all in front of the same upstream.
mod apache;
mod callgrind;
mod contender;
mod instructions;
mod load;
pub mod measure;
mod nginx;
mod portico;
mod report;
mod revocation;
mod rounds;
pub mod soak;
pub mod sockets;
mod storm;
mod upstream;
mod wire;
mod wrk;
