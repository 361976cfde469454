//! Pages on which users look after their own account: their sessions and their activity.
pub(crate) mod activity;
pub(crate) mod sessions;

use std::sync::Arc;

use portico_clock::Clock;
use portico_domain::access::RoleInProject;
use portico_store::Store;

use crate::{
    audit::AuditLog, clusters::Clusters, hosts::Hosts, identity_providers::Providers,
    sessions::Sessions,
};

/// Lists and ends sessions, and shows entries of the audit log.
#[derive(Debug)]
pub(crate) struct Account {
    /// `gateway.session.admins`.
    pub admins: Vec<RoleInProject>,
    /// `gateway.audit.project_admin_roles`.
    pub project_admin_roles: Vec<String>,
    pub store: Store,
    pub clock: Clock,
    pub clusters: Arc<Clusters>,
    pub hosts: Arc<Hosts>,
    pub providers: Arc<Providers>,
    pub sessions: Arc<Sessions>,
    pub audit: AuditLog,
}
