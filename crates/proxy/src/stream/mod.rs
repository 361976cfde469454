//! Bodies and connections that stay open: until they end, or the gateway closes them.
pub mod connections;
pub mod event_stream;
pub mod upgrade;
mod websocket_tunnel;
