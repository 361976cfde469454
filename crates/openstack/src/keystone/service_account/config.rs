//! The configuration section `[keystone.service_account]`.
use crate::keystone::login::{Scope, UserRef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// `[keystone.service_account]`: either an application credential (`application_credential_id`
/// and `secret_file`) or a user (`user`, `password_file`, and one scope: `project`, `domain` or
/// `system`). The secret is read again at each sign-in, so that a new one needs no restart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ServiceAccountConfig {
    /// ID of the application credential.
    pub application_credential_id: Option<String>,
    /// File with its secret, readable by Portico alone.
    #[schemars(extend("x-portico-takes-effect" = "file"))]
    pub secret_file: Option<PathBuf>,
    /// Name of the user.
    pub user: Option<String>,
    /// Name of the user's domain (default: `keystone.default_domain`).
    pub user_domain: Option<String>,
    /// File with the user's password, readable by Portico alone.
    #[schemars(extend("x-portico-takes-effect" = "file"))]
    pub password_file: Option<PathBuf>,
    /// Name of the project to which the account's token is scoped.
    pub project: Option<String>,
    /// Name of the project's domain (default: the user's).
    pub project_domain: Option<String>,
    /// Name of the domain to which the account's token is scoped: with the role `reader` there it
    /// may read that domain's projects and their role assignments.
    pub domain: Option<String>,
    /// Whether the account's token is scoped to the whole cloud: with the role `reader` there it
    /// may read every project and every role assignment.
    pub system: bool,
}

/// The reason why the section cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidServiceAccount {
    #[error("give either application_credential_id or user")]
    Kind,
    #[error("application_credential_id needs secret_file, and no password_file or scope beside it")]
    ApplicationCredential,
    #[error("user needs password_file, and no secret_file")]
    Password,
    #[error("user needs exactly one scope: project, domain or system = true")]
    Scope,
    #[error("a name or an ID must not be empty")]
    Empty,
}

/// The account's identity; the secret stays in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Credentials {
    ApplicationCredential {
        id: String,
        secret_file: PathBuf,
    },
    User {
        user: UserRef,
        password_file: PathBuf,
        scope: Scope,
    },
}

impl Credentials {
    pub fn secret_file(&self) -> &Path {
        match self {
            Self::ApplicationCredential { secret_file, .. } => secret_file,
            Self::User { password_file, .. } => password_file,
        }
    }
}

impl ServiceAccountConfig {
    /// Returns the account that the keys describe.
    pub(crate) fn credentials(
        &self,
        default_domain: &str,
    ) -> Result<Credentials, InvalidServiceAccount> {
        let texts = [
            &self.application_credential_id,
            &self.user,
            &self.user_domain,
            &self.project,
            &self.project_domain,
            &self.domain,
        ];
        if texts
            .into_iter()
            .flatten()
            .any(|text| text.trim().is_empty())
        {
            return Err(InvalidServiceAccount::Empty);
        }
        let scopes = [self.project.is_some(), self.domain.is_some(), self.system];
        let scopes = scopes.into_iter().filter(|given| *given).count();
        match (&self.application_credential_id, &self.user) {
            (Some(id), None) => match &self.secret_file {
                Some(secret_file)
                    if scopes == 0
                        && self.password_file.is_none()
                        && self.user_domain.is_none()
                        && self.project_domain.is_none() =>
                {
                    Ok(Credentials::ApplicationCredential {
                        id: id.clone(),
                        secret_file: secret_file.clone(),
                    })
                }
                _ => Err(InvalidServiceAccount::ApplicationCredential),
            },
            (None, Some(name)) => {
                let password_file = self
                    .password_file
                    .clone()
                    .filter(|_| self.secret_file.is_none())
                    .ok_or(InvalidServiceAccount::Password)?;
                if scopes != 1 || (self.project_domain.is_some() && self.project.is_none()) {
                    return Err(InvalidServiceAccount::Scope);
                }
                let domain = self.user_domain.as_deref().unwrap_or(default_domain);
                let scope = match (&self.project, &self.domain) {
                    (Some(name), _) => Scope::ProjectName {
                        name: name.clone(),
                        domain: self.project_domain.as_deref().unwrap_or(domain).to_owned(),
                    },
                    (None, Some(name)) => Scope::DomainName(name.clone()),
                    (None, None) => Scope::System,
                };
                Ok(Credentials::User {
                    user: UserRef::Name {
                        name: name.clone(),
                        domain: domain.to_owned(),
                    },
                    password_file,
                    scope,
                })
            }
            _ => Err(InvalidServiceAccount::Kind),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use InvalidServiceAccount::{ApplicationCredential, Empty, Kind, Password, Scope as OneScope};

    #[test]
    fn it_is_an_application_credential_or_a_user_in_one_scope() {
        for (keys, expected) in [
            (
                r#"{"application_credential_id": "a", "secret_file": "s"}"#,
                None,
            ),
            (
                r#"{"user": "u", "password_file": "p", "project": "service"}"#,
                None,
            ),
            (
                r#"{"user": "u", "password_file": "p", "domain": "Default"}"#,
                None,
            ),
            (
                r#"{"user": "u", "password_file": "p", "system": true}"#,
                None,
            ),
            ("{}", Some(Kind)),
            (
                r#"{"application_credential_id": "a", "user": "u"}"#,
                Some(Kind),
            ),
            (
                r#"{"application_credential_id": "a"}"#,
                Some(ApplicationCredential),
            ),
            (
                r#"{"application_credential_id": "a", "secret_file": "s", "project": "p"}"#,
                Some(ApplicationCredential),
            ),
            (r#"{"user": "u", "project": "service"}"#, Some(Password)),
            (
                r#"{"user": "u", "password_file": "p", "secret_file": "s", "system": true}"#,
                Some(Password),
            ),
            (r#"{"user": "u", "password_file": "p"}"#, Some(OneScope)),
            (
                r#"{"user": "u", "password_file": "p", "project": "x", "system": true}"#,
                Some(OneScope),
            ),
            (
                r#"{"user": " ", "password_file": "p", "system": true}"#,
                Some(Empty),
            ),
        ] {
            let config: ServiceAccountConfig = serde_json::from_str(keys).unwrap();
            assert_eq!(config.credentials("Default").err(), expected, "{keys}");
        }
    }

    #[test]
    fn domains_default_to_the_nearest_one_named() {
        let keys =
            r#"{"user": "u", "user_domain": "ops", "password_file": "p", "project": "service"}"#;
        let config: ServiceAccountConfig = serde_json::from_str(keys).unwrap();
        let Ok(Credentials::User { user, scope, .. }) = config.credentials("Default") else {
            panic!("a user");
        };
        let name = "u".to_owned();
        let domain = "ops".to_owned();
        assert_eq!(
            user,
            UserRef::Name {
                name,
                domain: domain.clone()
            }
        );
        let name = "service".to_owned();
        assert_eq!(scope, Scope::ProjectName { name, domain });
    }
}
