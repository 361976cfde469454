//! The streaming reverse proxy: it passes on what has been decided, and adds who is asking.
pub(crate) mod address;
mod backend;
pub(crate) mod connections;
mod connector;
mod event_stream;
pub(crate) mod forward;
pub(crate) mod headers;
pub(crate) mod health;
pub(crate) mod path;
mod path_route;
mod relay;
mod request_body;
pub(crate) mod rewrite;
pub(crate) mod routes;
mod send;
pub(crate) mod upgrade;
pub(crate) mod upstream;
mod upstream_tls;
