//! The store on Redis: the same answers as on a SQL database.
//!
//! What would be a row is a hash at `<prefix><kind>:<id>`, what would be an index is a set. Several
//! keys change together in Lua scripts (`scripts/`, one file a group) only, so that each step is
//! seen as a whole or not at all. Keys are named by IDs and keyed hashes, never by a secret; what
//! must be shown again is sealed, and [`binding`] ties each entry that leads to a session to its
//! place. Every entry that ends has a time to live as well, a day later than the sweep.
//!
//! One server, or one address that always leads to the primary: scripts reach keys that they find
//! on the way, so Redis Cluster is refused at the start (see ADR 0009).
mod access_tokens;
mod address;
mod advice;
mod audit;
mod authorization_codes;
mod binding;
mod changes;
mod connection;
mod device_codes;
mod entry;
mod flows;
mod handovers;
mod kept_forms;
mod keystone_tokens;
mod labels;
mod provider_flows;
mod provider_tokens;
mod schema;
mod scripts;
mod session_credentials;
mod session_entry;
mod sessions;
mod sweep;
mod throttle;
mod totp_marks;

pub(crate) use connection::Redis;
