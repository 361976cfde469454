//! Rules as they are applied: parsed, validated, and described as text.
use std::{collections::HashSet, fmt::Write as _, sync::Arc, time::Duration};

use http::Method;
use ipnet::IpNet;
use portico_domain::access::RoleInProject;

use portico_request::client_address::{ClientAddress, is_trusted};

use super::{
    app::AppPolicy,
    error::{Fault, RuleError},
    methods::Methods,
    model::{Effect, Except, PROJECT_OF_THE_APP, RuleConfig, Who},
    pattern::PathPattern,
    request_context::{
        Fit, MULTI_FACTOR, Names, PROVIDER_FACTOR_PREFIX, Person, RequestContext, has_proved,
        is_among,
    },
};

/// Bounds the entries of one list of a rule.
const MAX_ENTRIES: usize = 256;
const MAX_NAME_CHARS: usize = 64;
/// The shortest `signed_in_within`: with less, a reauthentication could take longer than it is
/// valid.
const MIN_SIGNED_IN_WITHIN: Duration = Duration::from_secs(60);
/// Keystone's names of authentication methods, and Portico's own.
pub(super) const KNOWN_FACTORS: [&str; 11] = [
    "password",
    "totp",
    "token",
    "application_credential",
    "external",
    "mapped",
    "saml2",
    "openid",
    "oauth1",
    "oidc",
    MULTI_FACTOR,
];

/// One rule.
#[derive(Clone, Debug)]
pub struct Rule {
    pub name: Arc<str>,
    pub effect: Effect,
    pub methods: Methods,
    pub paths: Vec<PathPattern>,
    pub networks: Vec<IpNet>,
    pub who: Vec<Who>,
    pub signed_in_within: Option<Duration>,
    pub factors: Vec<String>,
    pub except: Option<Except>,
    pub preflight: bool,
}

impl Rule {
    fn compile(config: &RuleConfig, app: &AppPolicy) -> Result<Self, Fault> {
        let name = config.name.trim();
        let plain = name == config.name && !name.chars().any(char::is_control);
        if !plain || !(1..=MAX_NAME_CHARS).contains(&name.chars().count()) {
            return Err(Fault::Name);
        }
        check_sizes(config)?;
        check_places(config)?;
        let paths = config.paths.iter().map(|text| PathPattern::parse(text));
        let mut except = config.except.clone();
        let mut who = config.who.clone();
        let excepted = except.iter_mut().flat_map(|except| &mut except.who);
        for one in who.iter_mut().chain(excepted) {
            if let Who::Role(role) = one
                && role.project == PROJECT_OF_THE_APP
            {
                role.project.clone_from(&app.project);
            }
        }
        Ok(Self {
            name: name.into(),
            effect: config.effect,
            methods: Methods::parse(&config.methods)?,
            paths: paths.collect::<Result<_, _>>()?,
            networks: config.networks.iter().map(IpNet::trunc).collect(),
            who,
            signed_in_within: config.signed_in_within,
            factors: config.factors.clone(),
            except,
            preflight: config.preflight,
        })
    }

    /// Returns whether the rule applies to the request, regardless of the user.
    pub fn names(&self, request: &RequestContext<'_>) -> bool {
        self.about_method(request.method) && self.about_path(request) && self.about_client(request)
    }

    pub fn about_method(&self, method: &Method) -> bool {
        match self.effect {
            Effect::Deny => self.methods.perhaps(method),
            Effect::Public | Effect::Allow => self.methods.surely(method),
        }
    }

    pub fn about_path(&self, request: &RequestContext<'_>) -> bool {
        self.paths.is_empty()
            || match self.effect {
                Effect::Deny => self
                    .paths
                    .iter()
                    .any(|pattern| pattern.perhaps(&request.path)),
                // every reading of the path must match
                Effect::Public | Effect::Allow => request
                    .path
                    .all(|text| self.paths.iter().any(|pattern| pattern.names(text))),
            }
    }

    pub fn about_client(&self, request: &RequestContext<'_>) -> bool {
        self.networks.is_empty()
            || match request.client {
                ClientAddress::Known(client) => is_trusted(client, &self.networks),
                // it may be in any network: rules that refuse apply, rules that permit do not
                ClientAddress::Unknown | ClientAddress::Internal => self.effect == Effect::Deny,
            }
    }

    /// Returns whether the rule applies to the user.
    pub fn about(&self, person: &dyn Person) -> Fit {
        match self.effect {
            Effect::Public => Fit::Yes,
            Effect::Deny if self.who.is_empty() => Fit::Yes,
            Effect::Deny => is_among(&self.who, person, Names::Folded),
            Effect::Allow => is_among(&self.who, person, Names::Exactly)
                .and(|| has_proved(person, &self.factors, self.signed_in_within)),
        }
    }

    /// Returns whether the rule excepts the user.
    pub fn excepts(&self, request: &RequestContext<'_>, person: &dyn Person) -> Fit {
        let Some(except) = &self.except else {
            return Fit::No;
        };
        Fit::of(except.covers_client(request))
            .and(|| match except.who.as_slice() {
                [] => Fit::Yes,
                who => is_among(who, person, Names::Exactly),
            })
            .and(|| has_proved(person, &except.factors, except.signed_in_within))
    }

    /// Returns the roles that must be known before the rule can be applied.
    pub fn roles(&self) -> impl Iterator<Item = &RoleInProject> {
        let excepted = self.except.iter().flat_map(|except| &except.who);
        self.who.iter().chain(excepted).filter_map(|who| match who {
            Who::Role(role) => Some(role),
            _ => None,
        })
    }

    /// Returns whether it matches every path.
    pub fn is_about_every_path(&self) -> bool {
        self.paths.is_empty() || self.paths.iter().any(PathPattern::is_everything)
    }

    /// Returns the requests that it applies to, as text.
    pub fn requests_in_words(&self) -> String {
        let mut text = format!("{} on ", self.methods);
        if self.paths.is_empty() {
            text.push_str("every path");
        }
        for (at, path) in self.paths.iter().enumerate() {
            // writing to a String cannot fail
            let _ = write!(text, "{}{path}", if at > 0 { ", " } else { "" });
        }
        if !self.networks.is_empty() {
            let _ = write!(text, " from {}", networks_in_words(&self.networks));
        }
        text
    }
}

impl Except {
    /// Returns whether the exception includes the client's address.
    pub fn covers_client(&self, request: &RequestContext<'_>) -> bool {
        self.networks.is_empty() || request.client.is_in(&self.networks)
    }

    /// Returns whether only signed-in users can be excepted.
    pub fn requires_user(&self) -> bool {
        !self.who.is_empty() || self.signed_in_within.is_some() || !self.factors.is_empty()
    }
}

pub fn networks_in_words(networks: &[IpNet]) -> String {
    let words: Vec<String> = networks.iter().map(ToString::to_string).collect();
    words.join(", ")
}

fn check_sizes(config: &RuleConfig) -> Result<(), Fault> {
    let except = config.except.clone().unwrap_or_default();
    for (list, length) in [
        ("methods", config.methods.len()),
        ("paths", config.paths.len()),
        ("networks", config.networks.len()),
        ("who", config.who.len()),
        ("factors", config.factors.len()),
        ("except.who", except.who.len()),
        ("except.networks", except.networks.len()),
        ("except.factors", except.factors.len()),
    ] {
        if length > MAX_ENTRIES {
            return Err(Fault::Many(list, MAX_ENTRIES));
        }
    }
    let times = [config.signed_in_within, except.signed_in_within];
    if times
        .into_iter()
        .flatten()
        .any(|time| time < MIN_SIGNED_IN_WITHIN)
    {
        return Err(Fault::TooSoon);
    }
    for factor in config.factors.iter().chain(&except.factors) {
        let word = factor
            .strip_prefix(PROVIDER_FACTOR_PREFIX)
            .unwrap_or(factor);
        if word.is_empty()
            || word.len() > MAX_NAME_CHARS
            || !word.bytes().all(|b| b.is_ascii_graphic())
        {
            return Err(Fault::Factor(factor.clone()));
        }
    }
    Ok(())
}

/// Refuses settings that have no meaning for the rule's effect.
fn check_places(config: &RuleConfig) -> Result<(), Fault> {
    let of_people = [
        ("signed_in_within", config.signed_in_within.is_some()),
        ("factors", !config.factors.is_empty()),
    ];
    let out_of_place = |given: &[(&'static str, bool)]| {
        given
            .iter()
            .find(|(_, given)| *given)
            .map(|(what, _)| Fault::OutOfPlace(what, config.effect.as_str()))
    };
    let except = ("except", config.except.is_some());
    let fault = match config.effect {
        Effect::Public => out_of_place(&[
            of_people[0],
            of_people[1],
            ("who", !config.who.is_empty()),
            except,
        ]),
        Effect::Deny => {
            if config
                .except
                .as_ref()
                .is_some_and(|except| !except.requires_user() && except.networks.is_empty())
            {
                Some(Fault::EmptyException)
            } else {
                out_of_place(&[of_people[0], of_people[1], ("preflight", config.preflight)])
            }
        }
        Effect::Allow if config.who.is_empty() => Some(Fault::WhoMissing),
        Effect::Allow => out_of_place(&[except]),
    };
    fault.map_or(Ok(()), Err)
}

/// Compiles rules of one list, in the order in which they are written.
pub(super) fn compile<'c>(
    configs: impl IntoIterator<Item = &'c RuleConfig>,
    app: &AppPolicy,
    taken: &mut HashSet<String>,
) -> Result<Vec<Rule>, RuleError> {
    let rules = configs.into_iter().enumerate().map(|(index, config)| {
        let at = |fault| RuleError {
            index,
            rule: config.name.chars().take(MAX_NAME_CHARS).collect(),
            fault,
        };
        let rule = Rule::compile(config, app).map_err(at)?;
        if !taken.insert(config.name.clone()) {
            return Err(at(Fault::Twice));
        }
        Ok(rule)
    });
    rules.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{app, rule};
    use serde_json::json;

    fn fault(text: serde_json::Value) -> Option<Fault> {
        let rule = rule(text);
        compile([&rule], &app(json!([]), json!([])), &mut HashSet::new())
            .err()
            .map(|error| error.fault)
    }

    #[test]
    fn what_an_effect_has_no_use_for_is_an_error() {
        let admin = json!([{ "role": "r", "project": "p" }]);
        assert_eq!(fault(json!({ "effect": "allow", "who": admin })), None);
        assert_eq!(fault(json!({ "effect": "allow" })), Some(Fault::WhoMissing));
        for (wrong, what) in [
            (json!({ "effect": "public", "who": admin }), "who"),
            (
                json!({ "effect": "public", "factors": ["totp"] }),
                "factors",
            ),
            (
                json!({ "effect": "public", "signed_in_within": "5m" }),
                "signed_in_within",
            ),
            (json!({ "effect": "deny", "factors": ["totp"] }), "factors"),
            (json!({ "effect": "deny", "preflight": true }), "preflight"),
            (
                json!({ "effect": "allow", "who": admin, "except": { "who": admin } }),
                "except",
            ),
        ] {
            assert!(
                matches!(fault(wrong.clone()), Some(Fault::OutOfPlace(found, _)) if found == what),
                "{wrong}"
            );
        }
        assert_eq!(
            fault(json!({ "effect": "deny", "except": {} })),
            Some(Fault::EmptyException)
        );
        assert_eq!(
            fault(json!({ "effect": "allow", "who": admin, "signed_in_within": "10s" })),
            Some(Fault::TooSoon)
        );
    }

    #[test]
    fn names_are_there_printable_and_once() {
        for name in ["", " x", "x\ny", &"x".repeat(65)] {
            assert_eq!(
                fault(json!({ "effect": "deny", "name": name })),
                Some(Fault::Name)
            );
        }
        let same = rule(json!({ "effect": "deny", "name": "x" }));
        let app = app(json!([]), json!([]));
        let error = compile([&same, &same], &app, &mut HashSet::new()).expect_err("twice");
        assert_eq!((error.index, error.fault), (1, Fault::Twice));
    }

    #[test]
    fn the_project_of_the_app_may_be_meant_without_its_id() {
        let own = rule(json!({
            "effect": "deny", "except": { "who": [{ "role": "r", "project": "$app" }] },
        }));
        let rules = compile([&own], &app(json!([]), json!([])), &mut HashSet::new());
        let rules = rules.expect("rules");
        assert!(rules[0].roles().all(|role| role.project == "p1"));
    }

    #[test]
    fn a_rule_describes_what_it_applies_to() {
        let rule = rule(json!({
            "effect": "deny", "methods": ["GET", "unsafe"], "networks": ["10.0.0.7/8"],
            "paths": ["/x", "/y/", "prefix:/z", "regex:^/[ab]$"],
        }));
        let rules = compile([&rule], &app(json!([]), json!([])), &mut HashSet::new());
        assert_eq!(
            rules.expect("rules")[0].requests_in_words(),
            "GET and HEAD, unsafe methods on /x, everything below /y/, every path that begins with /z, \
             what matches ^/[ab]$ as a whole from 10.0.0.0/8"
        );
    }
}
