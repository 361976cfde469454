//! The attributes of the signed-in user.
use portico_store::{ProviderProfile, Session};

use super::escape::account;
use crate::{config::Fact, sessions::live::ProjectToken};

/// The session's user, the token that gave access to the app, and the app's own role.
#[derive(Clone, Copy, Debug)]
pub(super) struct IdentityAttributes<'f> {
    pub session: &'f Session,
    pub token: Option<&'f ProjectToken>,
    pub role: Option<&'f str>,
}

/// An attribute's value, before it is encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value<'f> {
    One(&'f str),
    /// User and domain, which are escaped together.
    Account(&'f str, &'f str),
    Many(Vec<&'f str>),
    /// The value is unknown, or the list is empty.
    Unknown,
}

impl<'f> IdentityAttributes<'f> {
    pub fn get(&self, fact: Fact) -> Value<'f> {
        let user = &self.session.user;
        let project = self.token.map(|token| &token.project);
        let one = |text: Option<&'f str>| text.map_or(Value::Unknown, Value::One);
        match fact {
            Fact::User => Value::Account(&user.name, &user.domain.name),
            Fact::UserName => Value::One(&user.name),
            Fact::DisplayName => {
                let profile = self.profile();
                let name = profile.and_then(|profile| profile.display_name.as_deref());
                Value::One(name.unwrap_or(&user.name))
            }
            Fact::UserId => Value::One(&user.id),
            Fact::Email => one(self
                .profile()
                .filter(|profile| profile.email_verified)
                .and_then(|profile| profile.email.as_deref())),
            Fact::ProjectId => one(project.map(|project| project.id.as_str())),
            Fact::ProjectName => one(project.map(|project| project.name.as_str())),
            Fact::Roles => many(self.roles().map(|role| role.name.as_str())),
            Fact::RoleIds => many(self.roles().map(|role| role.id.as_str())),
            Fact::Groups => many(
                self.profile()
                    .into_iter()
                    .flat_map(|profile| profile.groups.iter().map(String::as_str)),
            ),
            Fact::Role => one(self.role),
        }
    }

    fn profile(&self) -> Option<&'f ProviderProfile> {
        self.session
            .provider
            .as_ref()
            .map(|provider| &provider.profile)
    }

    fn roles(&self) -> impl Iterator<Item = &'f portico_domain::identity::Named> + use<'f> {
        self.token.into_iter().flat_map(|token| token.roles.iter())
    }
}

impl Value<'_> {
    /// Returns a single value unescaped, for places where any character is permitted.
    pub fn text(&self) -> Option<String> {
        match self {
            Value::One("") | Value::Many(_) | Value::Unknown => None,
            Value::One(text) => Some((*text).to_owned()),
            Value::Account(name, domain) => Some(account(name, domain)),
        }
    }
}

fn many<'f>(values: impl Iterator<Item = &'f str>) -> Value<'f> {
    let values: Vec<&str> = values.filter(|value| !value.is_empty()).collect();
    if values.is_empty() {
        Value::Unknown
    } else {
        Value::Many(values)
    }
}
