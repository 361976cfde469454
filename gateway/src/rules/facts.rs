//! What is known about a request and about whoever sends it.
use std::time::Duration;

use http::Method;
use portico_domain::{
    access::{GroupOfProvider, RoleInProject},
    identity::User,
};

use super::reading::Readings;
use crate::{access::client_address::ClientAddress, config::rules::Who};

/// A request as rules see it: never its query, its fragment or its headers.
#[derive(Clone, Debug)]
pub(crate) struct RequestFacts<'r> {
    pub method: &'r Method,
    pub path: Readings<'r>,
    pub client: ClientAddress,
}

/// How far a condition holds, from wholly to not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    Yes,
    /// All but the time since the sign-in.
    Stale,
    /// Nobody can say: Keystone does not answer.
    Unknown,
    No,
}

impl Fit {
    pub fn of(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }

    /// Both.
    pub fn and(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::No => Self::No,
            fit => fit.max(other()),
        }
    }
}

/// What is known about somebody who is signed in.
pub(crate) trait Person {
    fn user(&self) -> &User;

    /// Whether they hold a role in a project, as far as that is known.
    fn holds(&self, role: &RoleInProject) -> Fit;

    fn is_in(&self, group: &GroupOfProvider) -> bool;

    /// How long ago they signed in; `None`: nobody knows.
    fn signed_in_for(&self) -> Option<Duration>;

    /// Whether they signed in with this.
    fn has_factor(&self, factor: &str) -> bool;
}

/// How names are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// As they are: for what opens.
    Exactly,
    /// However they are spelled: for what closes.
    Folded,
}

/// Whether somebody is meant by one of the entries.
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
    crate::login::account::folded(name)
}

/// Whether they have signed in with all of it, lately enough.
pub(super) fn has_proved(person: &dyn Person, factors: &[String], within: Option<Duration>) -> Fit {
    let proved = Fit::of(factors.iter().all(|factor| person.has_factor(factor)));
    proved.and(|| match (within, person.signed_in_for()) {
        (None, _) => Fit::Yes,
        (Some(most), Some(ago)) if ago <= most => Fit::Yes,
        _ => Fit::Stale,
    })
}

/// Two factors, in Keystone's words or a provider's (RFC 8176).
pub(crate) const SEVERAL_FACTORS: &str = "mfa";
/// Before a provider's own word for a factor.
pub(crate) const OF_PROVIDER: &str = "amr:";

/// Whether a sign-in with these methods counts as a factor. What a provider calls its methods is
/// never taken for Keystone's words.
pub(crate) fn proves(methods: &[String], of_provider: bool, factor: &str) -> bool {
    let used = |word: &str| methods.iter().any(|method| method == word);
    match factor.strip_prefix(OF_PROVIDER) {
        Some(word) => of_provider && used(word),
        None if of_provider => match factor {
            "oidc" => true,
            SEVERAL_FACTORS => used(SEVERAL_FACTORS),
            _ => false,
        },
        None if factor == SEVERAL_FACTORS => used("totp") && used("password"),
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
