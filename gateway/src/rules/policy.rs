//! The rules of one app away from any request: read, tested, asked what they would say.
use std::{fmt, net::IpAddr, path::Path, time::Duration};

use http::Method;
use portico_domain::{
    access::{GroupOfProvider, RoleInProject},
    identity::{Named, User},
};

use super::{
    error::{Fault, RulesError},
    facts::{Fit, Person, RequestFacts, SEVERAL_FACTORS},
    file::{self, Print, RulesFile},
    set::{Otherwise, RuleSet, Verdict},
};
use crate::{
    config::{
        AppConfig, ProviderConfig,
        rules::{PROJECT_OF_THE_APP, Who},
    },
    providers::config::check_group,
    proxy::path,
};

/// The rules of an app, those of its file too.
#[derive(Clone, Debug)]
pub struct Policy {
    pub(super) app: AppConfig,
    pub(super) rules: RuleSet,
    pub(super) file: RulesFile,
    pub(super) print: Option<Print>,
}

/// What becomes of a request, and which rule says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Open to whoever asks, by an `allow` or an entry of `apps.allow`.
    Open { by: String, by_list: bool },
    /// Open to everybody.
    Public { rule: String },
    /// Nobody is signed in. With the `deny` that somebody may get past.
    SignIn { rule: Option<String> },
    /// They signed in too long ago.
    SignInAgain { rule: String },
    /// By a `deny`; or because nothing opens.
    Refused { rule: Option<String> },
    /// The path can be read in two ways.
    BadRequest { why: String },
}

/// A request as it is made up for a question.
pub(super) struct Asking<'a> {
    pub method: &'a Method,
    pub path: &'a str,
    pub client: Option<IpAddr>,
    pub person: Option<&'a Somebody>,
}

/// Somebody as they are made up for a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Somebody {
    pub user: User,
    pub roles: Vec<RoleInProject>,
    pub groups: Vec<GroupOfProvider>,
    /// How long ago they signed in; `None`: nobody knows.
    pub signed_in_ago: Option<Duration>,
    /// What they signed in with, in the words of rules.
    pub factors: Vec<String>,
}

impl Policy {
    /// Reads the rules of an app and runs the tests of its file.
    ///
    /// # Errors
    /// When a rule cannot be used, or a test fails.
    pub fn load(app: &AppConfig, providers: &[ProviderConfig]) -> Result<Self, RulesError> {
        Self::read(app, providers)?.tested()
    }

    pub(super) fn tested(self) -> Result<Self, RulesError> {
        let failure = self.failures().next();
        match failure {
            Some((index, message)) => Err(self.failed_test(index, message)),
            None => Ok(self),
        }
    }

    /// The same without running the tests.
    ///
    /// # Errors
    /// When a rule cannot be used.
    pub fn read(app: &AppConfig, providers: &[ProviderConfig]) -> Result<Self, RulesError> {
        match &app.rules_file {
            None => Self::of(app, providers, None),
            Some(path) => Self::of(app, providers, Some((path, file::read(app, path)?))),
        }
    }

    pub(crate) fn of(
        app: &AppConfig,
        providers: &[ProviderConfig],
        file: Option<(&Path, Vec<u8>)>,
    ) -> Result<Self, RulesError> {
        let (path, parsed, print) = match file {
            None => (None, RulesFile::default(), None),
            Some((path, bytes)) => (
                Some(path),
                RulesFile::parse(app, path, &bytes)?,
                Some(file::print(&bytes)),
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
            print,
        })
    }

    /// The app's ID.
    pub fn app(&self) -> &str {
        &self.app.id
    }

    /// How many rules there are.
    pub fn len(&self) -> usize {
        self.rules.rules.len()
    }

    /// Whether `apps.allow` decides alone.
    pub fn is_empty(&self) -> bool {
        self.rules.rules.is_empty()
    }

    /// How many tests the file holds.
    pub fn tests(&self) -> usize {
        self.file.tests.len()
    }

    /// The tests that fail: which, counted from zero, and what happens in place of what is expected.
    pub fn failures(&self) -> impl Iterator<Item = (usize, String)> {
        let tests = self.file.tests.iter().enumerate();
        tests.filter_map(|(index, test)| {
            let why = test.fails(self)?;
            let (name, expected) = (&test.name, test.expect);
            let expected = match &test.rule {
                Some(rule) => format!("{expected:?} by the rule {rule:?}"),
                None => format!("{expected:?}"),
            };
            Some((
                index,
                format!("test {name:?}: expected {expected}, but {why}"),
            ))
        })
    }

    fn failed_test(&self, index: usize, message: String) -> RulesError {
        RulesError::File {
            app: self.app.id.clone(),
            path: self.app.rules_file.clone().unwrap_or_default(),
            line: self.file.line_of_test(index),
            message,
        }
    }

    /// The line of a failing test.
    pub fn line_of_test(&self, index: usize) -> Option<usize> {
        self.file.line_of_test(index)
    }

    /// A project, where it may be the app's.
    pub fn project(&self, text: &str) -> String {
        if text == PROJECT_OF_THE_APP {
            self.app.project.clone()
        } else {
            text.to_owned()
        }
    }

    /// What would become of a request.
    pub(super) fn decide(&self, asking: &Asking<'_>) -> Outcome {
        if let Err(fault) = path::check(asking.path) {
            let why = fault.to_string();
            return Outcome::BadRequest { why };
        }
        let request = RequestFacts {
            method: asking.method,
            path: self.rules.readings(asking.path),
            client: asking.client.into(),
        };
        let naming = self.rules.naming(&request);
        let person = asking.person.map(|person| person as &dyn Person);
        let name = |index: usize| {
            let rule = self.rules.rules.get(index);
            rule.map(|rule| rule.name.to_string()).unwrap_or_default()
        };
        match self.rules.verdict(&request, naming, person) {
            Verdict::Refused(index) => Outcome::Refused {
                rule: Some(name(index)),
            },
            // somebody made up holds a role or does not
            Verdict::SignInAgain(index) | Verdict::Unknown(index) => {
                Outcome::SignInAgain { rule: name(index) }
            }
            Verdict::SignIn(index) => Outcome::SignIn {
                rule: index.map(name),
            },
            Verdict::Public(index) => Outcome::Public { rule: name(index) },
            Verdict::Open(index, _) => Outcome::Open {
                by: name(index),
                by_list: false,
            },
            Verdict::List(otherwise) => self.by_list(asking.person, otherwise, name),
        }
    }

    fn by_list(
        &self,
        person: Option<&Somebody>,
        otherwise: Otherwise,
        name: impl Fn(usize) -> String,
    ) -> Outcome {
        let lets_in = |rule: &portico_domain::access::Rule| {
            person.is_some_and(|person| match rule {
                portico_domain::access::Rule::Role(role) => person.holds(role) == Fit::Yes,
                portico_domain::access::Rule::Group(group) => person.is_in(group),
            })
        };
        let mut list = self.rules.list.iter();
        match (list.find(|one| lets_in(&one.rule)), otherwise) {
            (Some(one), _) => Outcome::Open {
                by: one.label.to_string(),
                by_list: true,
            },
            (None, Otherwise::SignInAgain(index)) => Outcome::SignInAgain { rule: name(index) },
            (None, _) => Outcome::Refused { rule: None },
        }
    }
}

impl Outcome {
    /// The rule that decides, where one does.
    pub fn rule(&self) -> Option<&str> {
        match self {
            Self::Open { by_list: true, .. } | Self::BadRequest { .. } => None,
            Self::Open { by: rule, .. } | Self::Public { rule } | Self::SignInAgain { rule } => {
                Some(rule)
            }
            Self::SignIn { rule } | Self::Refused { rule } => rule.as_deref(),
        }
    }

    /// Whether no rule decides, so that `apps.allow` does.
    pub fn is_of_the_list(&self) -> bool {
        matches!(
            self,
            Self::Open { by_list: true, .. } | Self::Refused { rule: None }
        )
    }

    /// Whether the request goes on to the app.
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
            Self::Public { rule } => write!(f, "open to everybody by the rule {rule:?}"),
            Self::SignIn { rule: None } => f.write_str("nobody is signed in: led to sign-in"),
            Self::SignIn { rule: Some(rule) } => {
                write!(
                    f,
                    "nobody is signed in: led to sign-in by the rule {rule:?}"
                )
            }
            Self::SignInAgain { rule } => {
                write!(
                    f,
                    "signed in too long ago for the rule {rule:?}: must confirm who it is"
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

impl Somebody {
    /// Somebody without any right.
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

impl Person for Somebody {
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
            || (factor == SEVERAL_FACTORS
                && (used("amr:mfa") || (used("password") && used("totp"))))
    }
}
