//! What is known about a request and its user when rules are evaluated.
use std::time::Duration;

use http::Method;
use portico_domain::{
    access::{GroupOfProvider, RoleInProject},
    identity::User,
};

use portico_request::client_address::ClientAddress;

use super::{model::Who, reading::Readings};

/// A request as rules see it: never its query, its fragment or its headers.
#[derive(Clone, Debug)]
pub struct RequestContext<'r> {
    pub method: &'r Method,
    pub path: Readings<'r>,
    pub client: ClientAddress,
}

/// To what degree a condition holds, from fully to not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    Yes,
    /// Everything holds but the time since the sign-in.
    Stale,
    /// Unknown, as Keystone does not respond.
    Unknown,
    No,
}

impl Fit {
    pub fn of(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }

    /// Returns the degree to which both conditions hold.
    pub fn and(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::No => Self::No,
            fit => fit.max(other()),
        }
    }
}

/// What is known about a signed-in user.
pub trait Person {
    fn user(&self) -> &User;

    /// Returns whether the user holds a role in a project, as far as is known.
    fn holds(&self, role: &RoleInProject) -> Fit;

    fn is_in(&self, group: &GroupOfProvider) -> bool;

    /// Returns how long ago the user signed in; `None` if unknown.
    fn signed_in_for(&self) -> Option<Duration>;

    /// Returns whether the user signed in with this factor.
    fn has_factor(&self, factor: &str) -> bool;
}

/// How names are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// Exactly, for rules that permit.
    Exactly,
    /// Normalized, for rules that refuse.
    Folded,
}

/// Returns whether one of the entries matches the user.
pub(super) fn is_among(who: &[Who], person: &dyn Person, names: Names) -> Fit {
    who.iter()
        .map(|one| is_meant(one, person, names))
        .min()
        .unwrap_or(Fit::No)
}

pub(super) fn is_meant(who: &Who, person: &dyn Person, names: Names) -> Fit {
    let user = person.user();
    match who {
        Who::Role(role) => person.holds(role),
        Who::Group(group) => Fit::of(person.is_in(group)),
        Who::UserId(id) => Fit::of(user.id == *id),
        Who::UserName { name, domain } => {
            let same = |one: &str, other: &str| match names {
                Names::Exactly => one == other,
                Names::Folded => one == other || folded(one) == folded(other),
            };
            let in_domain = user.domain.id == *domain || same(&user.domain.name, domain);
            Fit::of(in_domain && same(&user.name, name))
        }
        Who::SignedIn => Fit::Yes,
    }
}

fn folded(name: &str) -> String {
    portico_domain::account_name::folded(name)
}

/// Returns whether the user has signed in with all of the factors, and recently enough.
pub(super) fn has_proved(person: &dyn Person, factors: &[String], within: Option<Duration>) -> Fit {
    let proved = Fit::of(factors.iter().all(|factor| person.has_factor(factor)));
    proved.and(|| {
        let Some(most) = within else {
            return Fit::Yes;
        };
        match person.signed_in_for() {
            Some(ago) if ago <= most => Fit::Yes,
            _ => Fit::Stale,
        }
    })
}

/// Multi-factor authentication, as Keystone and providers call it (RFC 8176).
pub const MULTI_FACTOR: &str = "mfa";
/// Prefixes a provider's own name of an authentication method.
pub const PROVIDER_FACTOR_PREFIX: &str = "amr:";

/// Returns whether a sign-in with these methods counts as a factor. A provider's names of methods
/// are never taken for Keystone's.
pub fn proves(methods: &[String], of_provider: bool, factor: &str) -> bool {
    let used = |word: &str| methods.iter().any(|method| method == word);
    match factor.strip_prefix(PROVIDER_FACTOR_PREFIX) {
        Some(word) => of_provider && used(word),
        None if of_provider => match factor {
            "oidc" => true,
            MULTI_FACTOR => used(MULTI_FACTOR),
            _ => false,
        },
        None if factor == MULTI_FACTOR => used("totp") && used("password"),
        None => used(factor),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_providers_words_are_never_keystones() {
        let methods = |words: &[&str]| -> Vec<String> {
            words.iter().map(|word| (*word).to_owned()).collect()
        };
        let both = methods(&["password", "totp"]);
        assert!(proves(&both, false, "totp") && proves(&both, false, "mfa"));
        assert!(!proves(&both, true, "totp") && !proves(&both, true, "mfa"));
        assert!(proves(&both, true, "amr:totp") && !proves(&both, false, "amr:totp"));
        assert!(!proves(&methods(&["totp"]), false, "mfa"));
        let mfa = methods(&["pwd", "mfa"]);
        assert!(proves(&mfa, true, "mfa") && proves(&mfa, true, "oidc"));
        assert!(!proves(&mfa, false, "oidc"));
    }

    #[test]
    fn a_condition_is_as_good_as_its_worst_part() {
        assert_eq!(Fit::Yes.and(|| Fit::Stale), Fit::Stale);
        assert_eq!(Fit::Unknown.and(|| Fit::Stale), Fit::Unknown);
        assert_eq!(Fit::No.and(|| panic!("not asked")), Fit::No);
    }
}
