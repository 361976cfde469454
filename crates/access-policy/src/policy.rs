//! The rules of one app apart from any request: to parse, test and explain them.
use std::{fmt, net::IpAddr, path::Path, time::Duration};

use http::Method;
use portico_domain::{
    access::{GroupOfProvider, RoleInProject},
    identity::{Named, User},
};

use portico_request::path;

use super::{
    app::{AppPolicy, GroupSource, check_group},
    error::{Fault, RulesError},
    file::{self, FileHash, RulesFile},
    model::{PROJECT_OF_THE_APP, Who},
    request_context::{Fit, MULTI_FACTOR, Person, RequestContext},
    set::{Fallback, RuleDecision, RuleSet},
};

/// The rules of an app, including those of its file.
#[derive(Clone, Debug)]
pub struct Policy {
    pub(super) app: AppPolicy,
    pub(super) rules: RuleSet,
    pub(super) file: RulesFile,
    pub(super) hash: Option<FileHash>,
}

/// The decision about a request, and its rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Permitted for the user, by an `allow` or an entry of `apps.allow`.
    Open { by: String, by_list: bool },
    /// Permitted for every client.
    Public { rule: String },
    /// No user is signed in. With the `deny` that a user may be excepted from.
    SignIn { rule: Option<String> },
    /// The user signed in too long ago.
    SignInAgain { rule: String },
    /// By a `deny`, or because no rule permits the request.
    Refused { rule: Option<String> },
    /// The path is ambiguous.
    BadRequest { why: String },
}

/// A request to evaluate.
pub(super) struct Asking<'a> {
    pub method: &'a Method,
    pub path: &'a str,
    pub client: Option<IpAddr>,
    pub person: Option<&'a Subject>,
}

/// A user to evaluate rules for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub user: User,
    pub roles: Vec<RoleInProject>,
    pub groups: Vec<GroupOfProvider>,
    /// How long ago the user signed in; `None` if unknown.
    pub signed_in_ago: Option<Duration>,
    /// What the user signed in with, as rules name it.
    pub factors: Vec<String>,
}

impl Policy {
    /// Reads the rules of an app without running the tests.
    ///
    /// # Errors
    /// [`RulesError::Rule`] and [`RulesError::Many`] for rules of the configuration,
    /// [`RulesError::Unreadable`] and [`RulesError::File`] for those of a file.
    pub fn read(app: &AppPolicy, providers: &[GroupSource]) -> Result<Self, RulesError> {
        match &app.rules_file {
            None => Self::parse(app, providers, None),
            Some(path) => Self::parse(app, providers, Some((path, file::read(app, path)?))),
        }
    }

    /// Reads the rules of an app with those of the given contents of its file, without running the
    /// tests.
    ///
    /// # Errors
    /// Like [`Self::read`].
    pub fn parse(
        app: &AppPolicy,
        providers: &[GroupSource],
        file: Option<(&Path, Vec<u8>)>,
    ) -> Result<Self, RulesError> {
        let (path, parsed, hash) = match file {
            None => (None, RulesFile::default(), None),
            Some((path, bytes)) => (
                Some(path),
                RulesFile::parse(app, path, &bytes)?,
                Some(file::hash(&bytes)),
            ),
        };
        let fault = |index: usize, message: String| RulesError::File {
            app: app.id.clone(),
            path: path.unwrap_or(Path::new("")).to_owned(),
            line: parsed.line_of_rule(index),
            message,
        };
        let rules = RuleSet::compile(app, &parsed.rules)?
            .map_err(|error| fault(error.index, error.to_string()))?;
        for (index, rule) in parsed.rules.iter().enumerate() {
            for who in rule.named() {
                if let Who::Group(group) = who {
                    check_group(&app.id, group, providers).map_err(|error| {
                        let error = Fault::Group(error.to_string());
                        fault(index, format!("rule {:?}: {error}", rule.name))
                    })?;
                }
            }
        }
        Ok(Self {
            app: app.clone(),
            rules,
            file: parsed,
            hash,
        })
    }

    /// Returns the rules, and the hash of the file that some of them are from.
    pub fn into_rules(self) -> (RuleSet, Option<FileHash>) {
        (self.rules, self.hash)
    }

    /// Returns the app's ID.
    pub fn app(&self) -> &str {
        &self.app.id
    }

    /// Returns the number of rules.
    pub fn len(&self) -> usize {
        self.rules.rules.len()
    }

    /// Returns whether there are no rules, so that `apps.allow` decides alone.
    pub fn is_empty(&self) -> bool {
        self.rules.rules.is_empty()
    }

    /// Returns the number of tests in the file.
    pub fn tests(&self) -> usize {
        self.file.tests.len()
    }

    /// Returns the line of a test in the file.
    pub fn line_of_test(&self, index: usize) -> Option<usize> {
        self.file.line_of_test(index)
    }

    /// Returns a project's ID, with `$app` replaced by the app's project.
    pub fn project(&self, text: &str) -> String {
        if text == PROJECT_OF_THE_APP {
            self.app.project.clone()
        } else {
            text.to_owned()
        }
    }

    /// Returns the decision about a request.
    pub(super) fn decide(&self, asking: &Asking<'_>) -> Outcome {
        if let Err(fault) = path::check(asking.path) {
            let why = fault.to_string();
            return Outcome::BadRequest { why };
        }
        let request = RequestContext {
            method: asking.method,
            path: self.rules.readings(asking.path),
            client: asking.client.into(),
        };
        let matched = self.rules.matching(&request);
        let person = asking.person.map(|person| person as &dyn Person);
        let name = |index: usize| {
            let rule = self.rules.rules.get(index);
            rule.map(|rule| rule.name.to_string()).unwrap_or_default()
        };
        match self.rules.decision(&request, matched, person) {
            RuleDecision::Refused(index) => Outcome::Refused {
                rule: Some(name(index)),
            },
            // the roles of a test's user are always known
            RuleDecision::SignInAgain(index) | RuleDecision::Unknown(index) => {
                Outcome::SignInAgain { rule: name(index) }
            }
            RuleDecision::SignIn(index) => Outcome::SignIn {
                rule: index.map(name),
            },
            RuleDecision::Public(index) => Outcome::Public { rule: name(index) },
            RuleDecision::Open(index, _) => Outcome::Open {
                by: name(index),
                by_list: false,
            },
            RuleDecision::List(fallback) => self.by_list(asking.person, fallback, name),
        }
    }

    fn by_list(
        &self,
        person: Option<&Subject>,
        fallback: Fallback,
        name: impl Fn(usize) -> String,
    ) -> Outcome {
        let lets_in = |rule: &portico_domain::access::Rule| {
            person.is_some_and(|person| match rule {
                portico_domain::access::Rule::Role(role) => person.holds(role) == Fit::Yes,
                portico_domain::access::Rule::Group(group) => person.is_in(group),
            })
        };
        let mut list = self.rules.list.iter();
        match (list.find(|one| lets_in(&one.rule)), fallback) {
            (Some(one), _) => Outcome::Open {
                by: one.label.to_string(),
                by_list: true,
            },
            (None, Fallback::SignInAgain(index)) => Outcome::SignInAgain { rule: name(index) },
            (None, _) => Outcome::Refused { rule: None },
        }
    }
}

impl Outcome {
    /// Returns the rule that decides, if there is one.
    pub fn rule(&self) -> Option<&str> {
        match self {
            Self::Open { by_list: true, .. } | Self::BadRequest { .. } => None,
            Self::Open { by: rule, .. } | Self::Public { rule } | Self::SignInAgain { rule } => {
                Some(rule)
            }
            Self::SignIn { rule } | Self::Refused { rule } => rule.as_deref(),
        }
    }

    /// Returns whether no rule decides, so that `apps.allow` does.
    pub fn is_of_the_list(&self) -> bool {
        matches!(
            self,
            Self::Open { by_list: true, .. } | Self::Refused { rule: None }
        )
    }

    /// Returns whether the request is forwarded to the app.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Open { .. } | Self::Public { .. })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open { by, by_list: true } => {
                write!(f, "no rule decides; open by apps.allow ({by})")
            }
            Self::Open { by, .. } => write!(f, "open by the rule {by:?}"),
            Self::Public { rule } => write!(f, "open to everyone by the rule {rule:?}"),
            Self::SignIn { rule: None } => f.write_str("not signed in: redirected to sign-in"),
            Self::SignIn { rule: Some(rule) } => {
                write!(
                    f,
                    "not signed in: redirected to sign-in by the rule {rule:?}"
                )
            }
            Self::SignInAgain { rule } => {
                write!(
                    f,
                    "signed in too long ago for the rule {rule:?}: must sign in again"
                )
            }
            Self::Refused { rule: Some(rule) } => write!(f, "refused by the rule {rule:?}"),
            Self::Refused { rule: None } => {
                f.write_str("no rule decides, and apps.allow does not let them in: refused")
            }
            Self::BadRequest { why } => write!(f, "400, before any rule is asked: {why}"),
        }
    }
}

impl Subject {
    /// Returns a user without roles or groups.
    pub fn named(id: &str, name: &str, domain: &str) -> Self {
        Self {
            user: User {
                id: id.to_owned(),
                name: name.to_owned(),
                domain: Named {
                    id: domain.to_owned(),
                    name: domain.to_owned(),
                },
            },
            roles: Vec::new(),
            groups: Vec::new(),
            signed_in_ago: Some(Duration::ZERO),
            factors: Vec::new(),
        }
    }
}

impl Person for Subject {
    fn user(&self) -> &User {
        &self.user
    }

    fn holds(&self, role: &RoleInProject) -> Fit {
        Fit::of(self.roles.contains(role))
    }

    fn is_in(&self, group: &GroupOfProvider) -> bool {
        self.groups.contains(group)
    }

    fn signed_in_for(&self) -> Option<Duration> {
        self.signed_in_ago
    }

    fn has_factor(&self, factor: &str) -> bool {
        let used = |word: &str| self.factors.iter().any(|used| used == word);
        used(factor)
            || (factor == MULTI_FACTOR && (used("amr:mfa") || (used("password") && used("totp"))))
    }
}
