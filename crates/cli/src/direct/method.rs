//! Authentication methods, by the names that OpenStack's clients use.
use super::settings::Settings;
use crate::direct_error::DirectError;
use portico_openstack::keystone::{Scope, UserRef};
use secrecy::SecretString;

/// The domain of users and projects if none is named; every Keystone has it.
const FIRST_DOMAIN: &str = "default";

/// An authentication method. Secrets may be missing if the user can be prompted for them.
#[derive(Clone, Debug)]
pub enum Method {
    Password {
        user: UserRef,
        password: Option<SecretString>,
        passcode: Option<SecretString>,
    },
    /// A one-time passcode alone.
    Totp {
        user: UserRef,
        passcode: Option<SecretString>,
    },
    ApplicationCredential {
        id: CredentialRef,
        secret: Option<SecretString>,
    },
    Token(SecretString),
}

/// An application credential, by ID or by name and user.
#[derive(Clone, Debug)]
pub enum CredentialRef {
    Id(String),
    Name { name: String, user: UserRef },
}

impl Method {
    /// Returns the method that the settings select: `auth_type`, else the one that their values
    /// imply.
    pub fn of(settings: &Settings, cloud: &str) -> Result<Self, DirectError> {
        let asked = settings.get("auth_type").map(str::to_ascii_lowercase);
        let has = |key| settings.get(key).is_some();
        match asked.as_deref() {
            Some("password" | "v3password" | "v3multifactor") => password(settings, cloud),
            Some("v3totp") => Ok(Self::Totp {
                user: user(settings, cloud)?,
                passcode: settings.secret("passcode"),
            }),
            Some("v3applicationcredential") => application_credential(settings, cloud),
            Some("token" | "v3token") => token(settings, cloud),
            Some(other) => Err(DirectError::AuthType(other.to_owned())),
            None if has("application_credential_id") || has("application_credential_name") => {
                application_credential(settings, cloud)
            }
            None if has("token") => token(settings, cloud),
            None => password(settings, cloud),
        }
    }

    /// Returns the identity of the user, without secrets: tokens of different users never share a
    /// cache entry.
    pub fn fingerprint(&self) -> String {
        match self {
            Self::Password { user, .. } | Self::Totp { user, .. } => format!("user {user:?}"),
            Self::ApplicationCredential { id, .. } => format!("credential {id:?}"),
            Self::Token(token) => {
                use secrecy::ExposeSecret as _;
                let digest = crate::profile::file_hash(&[token.expose_secret()]);
                format!("token {digest}")
            }
        }
    }
}

/// Returns the requested scope; an application credential has its project built in.
pub fn scope(settings: &Settings) -> Scope {
    if let Some(id) = settings.project_id() {
        return Scope::Project(id.to_owned());
    }
    let Some(name) = settings.project_name().map(str::to_owned) else {
        return Scope::Default;
    };
    match domain(
        settings,
        &["project_domain", "default_domain", "user_domain"],
    ) {
        Domain::Id(domain_id) => Scope::ProjectNameInDomain { name, domain_id },
        Domain::Name(domain) => Scope::ProjectName { name, domain },
    }
}

enum Domain {
    Id(String),
    Name(String),
}

/// Returns the first of these domains that is given, by ID or by name.
fn domain(settings: &Settings, of: &[&str]) -> Domain {
    for whose in of {
        if let Some(id) = settings.get(&format!("{whose}_id")) {
            return Domain::Id(id.to_owned());
        }
        if let Some(name) = settings.get(&format!("{whose}_name")) {
            return Domain::Name(name.to_owned());
        }
    }
    Domain::Id(FIRST_DOMAIN.to_owned())
}

fn user(settings: &Settings, cloud: &str) -> Result<UserRef, DirectError> {
    if let Some(id) = settings.get("user_id") {
        return Ok(UserRef::Id(id.to_owned()));
    }
    let Some(name) = settings.get("username").map(str::to_owned) else {
        return Err(missing(settings, cloud, "user name", "OS_USERNAME"));
    };
    Ok(match domain(settings, &["user_domain", "default_domain"]) {
        Domain::Id(domain_id) => UserRef::NameInDomain { name, domain_id },
        Domain::Name(domain) => UserRef::Name { name, domain },
    })
}

fn password(settings: &Settings, cloud: &str) -> Result<Method, DirectError> {
    Ok(Method::Password {
        user: user(settings, cloud)?,
        password: settings.secret("password"),
        passcode: settings.secret("passcode"),
    })
}

fn application_credential(settings: &Settings, cloud: &str) -> Result<Method, DirectError> {
    let id = match settings.get("application_credential_id") {
        Some(id) => CredentialRef::Id(id.to_owned()),
        None => CredentialRef::Name {
            name: settings
                .get("application_credential_name")
                .ok_or_else(|| {
                    let variable = "OS_APPLICATION_CREDENTIAL_ID";
                    missing(settings, cloud, "application credential", variable)
                })?
                .to_owned(),
            user: user(settings, cloud)?,
        },
    };
    Ok(Method::ApplicationCredential {
        id,
        secret: settings.secret("application_credential_secret"),
    })
}

fn token(settings: &Settings, cloud: &str) -> Result<Method, DirectError> {
    let token = settings.secret("token");
    let token = token.ok_or_else(|| missing(settings, cloud, "token", "OS_TOKEN"))?;
    Ok(Method::Token(token))
}

/// Returns the error for a missing setting, and where to set it.
pub fn missing(
    settings: &Settings,
    cloud: &str,
    what: &'static str,
    variable: &'static str,
) -> DirectError {
    DirectError::Missing {
        source_name: settings.source.clone(),
        what,
        variable,
        cloud: cloud.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::ENVIRONMENT;
    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> Settings {
        let variables = pairs
            .iter()
            .map(|(name, value)| (format!("OS_{name}"), (*value).to_owned()))
            .collect();
        Settings::load(ENVIRONMENT, variables).unwrap()
    }

    fn method(pairs: &[(&str, &str)]) -> Result<Method, DirectError> {
        Method::of(&settings(pairs), ENVIRONMENT)
    }

    #[test]
    fn the_way_to_sign_in_is_what_is_given() {
        let password = method(&[("USERNAME", "ada"), ("PASSWORD", "p")]).unwrap();
        assert!(matches!(
            password,
            Method::Password { user: UserRef::NameInDomain { domain_id, .. }, .. } if domain_id == "default"
        ));
        let credential = [
            ("APPLICATION_CREDENTIAL_ID", "i"),
            ("APPLICATION_CREDENTIAL_SECRET", "s"),
            ("USERNAME", "ada"),
        ];
        assert!(matches!(
            method(&credential).unwrap(),
            Method::ApplicationCredential {
                id: CredentialRef::Id(_),
                ..
            }
        ));
        assert!(matches!(
            method(&[("TOKEN", "t")]).unwrap(),
            Method::Token(_)
        ));
        let totp = [("AUTH_TYPE", "v3totp"), ("USER_ID", "u"), ("PASSCODE", "1")];
        assert!(matches!(method(&totp).unwrap(), Method::Totp { .. }));
        // an explicit `auth_type` takes precedence over the values present
        let variables = [credential.as_slice(), &[("AUTH_TYPE", "v3password")]].concat();
        assert!(matches!(
            method(&variables).unwrap(),
            Method::Password { .. }
        ));
    }

    #[test]
    fn missing_and_unsupported_methods_are_reported() {
        let error = |pairs: &[(&str, &str)]| method(pairs).unwrap_err().to_string();
        assert!(error(&[]).contains("OS_USERNAME"));
        assert!(error(&[("AUTH_TYPE", "v3token")]).contains("OS_TOKEN"));
        assert!(error(&[("AUTH_TYPE", "v3oidcpassword")]).contains("portico login"));
        let nameless = [("AUTH_TYPE", "v3applicationcredential")];
        assert!(error(&nameless).contains("OS_APPLICATION_CREDENTIAL_ID"));
    }

    #[test]
    fn a_project_is_found_by_id_or_in_its_domain() {
        let of = |pairs: &[(&str, &str)]| scope(&settings(pairs));
        assert_eq!(of(&[]), Scope::Default);
        let by_id = of(&[("PROJECT_ID", "p"), ("PROJECT_NAME", "n")]);
        assert_eq!(by_id, Scope::Project("p".to_owned()));
        let in_domain = |name: &str, domain_id: &str| Scope::ProjectNameInDomain {
            name: name.to_owned(),
            domain_id: domain_id.to_owned(),
        };
        assert_eq!(of(&[("PROJECT_NAME", "n")]), in_domain("n", "default"));
        assert_eq!(
            of(&[("TENANT_NAME", "n"), ("PROJECT_DOMAIN_ID", "d")]),
            in_domain("n", "d")
        );
        let named = of(&[("PROJECT_NAME", "n"), ("USER_DOMAIN_NAME", "D")]);
        let expected = Scope::ProjectName {
            name: "n".to_owned(),
            domain: "D".to_owned(),
        };
        assert_eq!(named, expected);
    }

    #[test]
    fn a_fingerprint_distinguishes_users_and_holds_no_secret() {
        let of = |pairs: &[(&str, &str)]| method(pairs).unwrap().fingerprint();
        assert_ne!(of(&[("TOKEN", "one")]), of(&[("TOKEN", "two")]));
        assert_ne!(
            of(&[("USERNAME", "a"), ("USER_DOMAIN_ID", "x")]),
            of(&[("USERNAME", "a"), ("USER_DOMAIN_ID", "y")])
        );
        let text = of(&[("USERNAME", "a"), ("PASSWORD", "s3cret")]);
        assert!(!text.contains("s3cret"));
    }
}
