//! The store on SQLite and PostgreSQL, with the same statements.
mod access_tokens;
mod audit;
mod audit_filter;
mod authorization_codes;
mod changes;
mod cluster_journal;
mod cluster_protections;
mod connection;
mod creation_attempts;
mod database;
mod device_codes;
mod enrolled_clusters;
mod handovers;
mod keystone_tokens;
mod logout_marks;
mod namespace_candidates;
mod provider_flows;
mod provider_tokens;
mod saved_forms;
mod session_credentials;
mod sessions;
mod sign_in_accounts;
mod sign_in_flows;
mod sweep;
mod throttle;
mod totp_marks;

pub(crate) use connection::SqlStore;
