//! What the rules of an app depend on, besides the rules themselves.
use std::path::PathBuf;

use portico_domain::access::{self, GroupOfProvider};
use portico_request::rewrite::Rewrite;

use super::model::RuleConfig;

/// The settings of an app that decide about requests to it.
#[derive(Clone, Debug, Default)]
pub struct AppPolicy {
    /// `apps.id`.
    pub id: String,
    /// The ID of the project that owns the app.
    pub project: String,
    /// `apps.allow`: decides where no rule does.
    pub allow: Vec<access::Rule>,
    /// `apps.rules`.
    pub rules: Vec<RuleConfig>,
    /// `apps.rules_file`.
    pub rules_file: Option<PathBuf>,
    /// `apps.preflight`.
    pub preflight: bool,
    /// How paths are rewritten for the app: rules apply to both forms.
    pub rewrite: Rewrite,
}

/// An OIDC provider, as far as rules about its groups depend on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupSource {
    /// `gateway.providers.id`.
    pub id: String,
    /// Whether groups are read from its claims.
    pub groups: bool,
    /// Whether roles are read from its claims.
    pub roles: bool,
}

/// Why a rule about a group cannot be evaluated.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum GroupError {
    #[error(
        "apps.allow of {app}: there is no provider {provider:?} of kind oidc in gateway.providers"
    )]
    NoSuchProvider { app: String, provider: String },
    #[error(
        "apps.allow of {app}: provider {provider} reads no {what}: set gateway.providers.claims.{what}"
    )]
    NotRead {
        app: String,
        provider: String,
        what: &'static str,
    },
}

/// Checks that an app's rule about a group can be evaluated: a restriction that cannot must not look
/// effective.
///
/// # Errors
/// [`GroupError::NoSuchProvider`] and [`GroupError::NotRead`].
pub fn check_group(
    app: &str,
    group: &GroupOfProvider,
    providers: &[GroupSource],
) -> Result<(), GroupError> {
    let named = || (app.to_owned(), group.provider.clone());
    let Some(provider) = providers.iter().find(|one| one.id == group.provider) else {
        let (app, provider) = named();
        return Err(GroupError::NoSuchProvider { app, provider });
    };
    let (is_read, what) = if group.group.starts_with("role:") {
        (provider.roles, "roles")
    } else {
        (provider.groups, "groups")
    };
    if !is_read {
        let (app, provider) = named();
        return Err(GroupError::NotRead {
            app,
            provider,
            what,
        });
    }
    Ok(())
}
