//! Decides about each request for the panel or an app, and forwards it with [`portico_proxy`].
mod panel_audit;
mod pass_on;
mod project;
pub(crate) mod routes;
