//! The JSON of the identity API: requests as values, responses as sufficiently strict types.
use super::login::{ApplicationCredential, Login, Scope, UserRef};
use portico_domain::identity::{Named, Project};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub(super) fn login(login: &Login) -> Value {
    let mut identity = Map::new();
    let mut methods = Vec::new();
    if let Some(password) = &login.password {
        methods.push("password");
        let user = user(&login.user, "password", password);
        identity.insert("password".to_owned(), json!({ "user": user }));
    }
    if let Some(passcode) = &login.passcode {
        methods.push("totp");
        let user = user(&login.user, "passcode", passcode);
        identity.insert("totp".to_owned(), json!({ "user": user }));
    }
    identity.insert("methods".to_owned(), json!(methods));
    auth(identity.into(), &login.scope)
}

pub(super) fn application_credential(credential: &ApplicationCredential) -> Value {
    let value = match credential {
        ApplicationCredential::Id { id, secret } => {
            json!({ "id": id, "secret": secret.expose_secret() })
        }
        ApplicationCredential::Name { name, user, secret } => json!({
            "name": name,
            "user": user_ref(user),
            "secret": secret.expose_secret(),
        }),
    };
    let identity =
        json!({ "methods": ["application_credential"], "application_credential": value });
    // its project is built in, and Keystone refuses a scope beside it
    auth(identity, &Scope::Default)
}

pub(super) fn rescope(token: &SecretString, scope: &Scope) -> Value {
    let identity = json!({ "methods": ["token"], "token": { "id": token.expose_secret() } });
    auth(identity, scope)
}

fn auth(identity: Value, scope: &Scope) -> Value {
    let scope = match scope {
        Scope::Default => return json!({ "auth": { "identity": identity } }),
        Scope::Unscoped => json!("unscoped"),
        Scope::Project(id) => json!({ "project": { "id": id } }),
        Scope::ProjectName { name, domain } => {
            json!({ "project": { "name": name, "domain": { "name": domain } } })
        }
        Scope::DomainName(name) => json!({ "domain": { "name": name } }),
        Scope::System => json!({ "system": { "all": true } }),
        Scope::ProjectNameInDomain { name, domain_id } => {
            json!({ "project": { "name": name, "domain": { "id": domain_id } } })
        }
    };
    json!({ "auth": { "identity": identity, "scope": scope } })
}

fn user(user: &UserRef, secret_name: &str, secret: &SecretString) -> Value {
    let mut user = user_ref(user);
    user[secret_name] = json!(secret.expose_secret());
    user
}

fn user_ref(user: &UserRef) -> Value {
    match user {
        UserRef::Id(id) => json!({ "id": id }),
        UserRef::Name { name, domain } => json!({ "name": name, "domain": { "name": domain } }),
        UserRef::NameInDomain { name, domain_id } => {
            json!({ "name": name, "domain": { "id": domain_id } })
        }
    }
}

#[derive(Deserialize)]
pub(super) struct TokenAnswer {
    pub token: Token,
}

#[derive(Deserialize)]
pub(super) struct Token {
    pub methods: Vec<String>,
    pub user: User,
    pub audit_ids: Vec<String>,
    pub issued_at: jiff::Timestamp,
    pub expires_at: jiff::Timestamp,
    pub project: Option<ScopedTo>,
    pub domain: Option<Value>,
    pub system: Option<Value>,
    #[serde(default)]
    pub roles: Vec<NamedAnswer>,
    pub application_credential: Option<CredentialAnswer>,
    #[serde(rename = "OS-TRUST:trust")]
    pub trust: Option<TrustAnswer>,
    #[serde(rename = "OS-OAUTH1")]
    pub oauth1: Option<Value>,
    pub oauth2_credential: Option<Value>,
}

#[derive(Deserialize)]
pub(super) struct User {
    pub id: String,
    pub name: String,
    pub domain: NamedAnswer,
}

#[derive(Deserialize)]
pub(super) struct ScopedTo {
    pub id: String,
    pub name: String,
    pub domain: NamedAnswer,
}

#[derive(Deserialize)]
pub(super) struct NamedAnswer {
    pub id: String,
    pub name: String,
}

#[derive(Deserialize)]
pub(super) struct CredentialAnswer {
    pub id: String,
    /// Absent: no rules. An empty list allows no call at all, so it counts as rules.
    pub access_rules: Option<Vec<RuleAnswer>>,
}

#[derive(Deserialize)]
pub(super) struct RuleAnswer {
    pub service: String,
}

#[derive(Deserialize)]
pub(super) struct TrustAnswer {
    pub id: String,
    pub impersonation: bool,
    pub trustor_user: IdAnswer,
}

#[derive(Deserialize)]
pub(super) struct IdAnswer {
    pub id: String,
}

#[derive(Deserialize)]
pub(super) struct ReceiptAnswer {
    pub required_auth_methods: Vec<Vec<String>>,
}

#[derive(Deserialize)]
pub(super) struct ProjectsAnswer {
    pub projects: Vec<ListedProject>,
}

#[derive(Deserialize)]
pub(super) struct ListedProject {
    pub id: String,
    pub name: String,
    pub domain_id: Option<String>,
    #[serde(default = "yes")]
    pub enabled: bool,
    #[serde(default)]
    pub is_domain: bool,
}

#[derive(Deserialize)]
pub(super) struct VersionAnswer {
    pub version: VersionEntry,
}

#[derive(Deserialize)]
pub(super) struct VersionEntry {
    pub id: String,
    pub status: String,
}

#[derive(Deserialize)]
pub(super) struct ErrorAnswer {
    pub error: ErrorEntry,
}

#[derive(Deserialize)]
pub(super) struct ErrorEntry {
    pub code: u16,
}

fn yes() -> bool {
    true
}

impl From<NamedAnswer> for Named {
    fn from(answer: NamedAnswer) -> Self {
        Self {
            id: answer.id,
            name: answer.name,
        }
    }
}

impl From<ScopedTo> for Project {
    fn from(answer: ScopedTo) -> Self {
        Self {
            id: answer.id,
            name: answer.name,
            domain: answer.domain.into(),
        }
    }
}
