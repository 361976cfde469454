//! The streaming reverse proxy: it passes on what has been decided, and adds who is asking.
pub(crate) mod connections;
mod event_stream;
pub(crate) mod forward;
pub(crate) mod headers;
pub(crate) mod path;
mod private;
mod relay;
pub(crate) mod routes;
pub(crate) mod upgrade;
pub(crate) mod upstream;
