//! Against the running stack's real Keystone (`PORTICO_TEST_ENV`).
#[path = "../webhook/api_server.rs"]
mod api_server;
mod delegated;
mod endings;
mod identities;
mod keystone;
mod load;
mod proxy;
