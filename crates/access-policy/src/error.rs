//! Errors in rules, with their position.
use std::path::PathBuf;

/// An error in a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rule {rule:?}: {fault}")]
pub struct RuleError {
    /// The index of the rule in its list.
    pub index: usize,
    /// Its name.
    pub rule: String,
    pub fault: Fault,
}

/// Why a rule is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("a name has 1 to 64 printable characters")]
    Name,
    #[error("another rule of the app has this name; the log would not tell them apart")]
    Twice,
    #[error("methods: {0:?} is neither a method (GET, POST, in upper case) nor safe or unsafe")]
    Method(String),
    #[error("paths: {0:?}: {1}")]
    Path(String, &'static str),
    #[error("paths: {0:?} cannot be used: {1}")]
    Regex(String, String),
    #[error("{0} holds more than {1} entries")]
    Many(&'static str, usize),
    #[error(
        "who is missing: name whom the rule allows. For all signed-in users write [{{ \
         signed_in = true }}]"
    )]
    WhoMissing,
    #[error("{0}: a {1} rule has none")]
    OutOfPlace(&'static str, &'static str),
    #[error("except: it is empty; name who, networks, signed_in_within or factors")]
    EmptyException,
    #[error(
        "signed_in_within: at least 60s, so that a user who has just signed in again gets access"
    )]
    TooSoon,
    #[error("factors: {0:?} is not the name of a factor, such as totp, amr:otp or mfa")]
    Factor(String),
    #[error("who: {0}")]
    Group(String),
}

/// An invalid rule, or a failing test in a rules file.
#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    #[error("apps.rules of {app}: {source}")]
    Rule { app: String, source: RuleError },
    #[error("apps.rules of {app}: more than {max} rules")]
    Many { app: String, max: usize },
    #[error("apps.rules_file of {app}: {path}: {source}")]
    Unreadable {
        app: String,
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("apps.rules_file of {app}: {path}{}: {message}", place(*.line))]
    File {
        app: String,
        path: PathBuf,
        line: Option<usize>,
        message: String,
    },
}

fn place(line: Option<usize>) -> String {
    line.map(|line| format!(":{line}")).unwrap_or_default()
}
