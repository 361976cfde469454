//! Authorization policies: those of k8s-keystone-auth, with its semantics, and a strict format of
//! Portico's own.
//!
//! Every policy is a list of rules that allow requests; none denies, and what no rule allows is
//! left to the API server's other authorizers. Start with [`Policy::parse`]. Pure: no I/O, no
//! clock.
//!
//! The author of a policy may be the administrator of one cluster among many, so [`bounds`] limits
//! what a text may hold before it is deserialised, and [`membership`] keeps the cost of one
//! decision proportional to the sizes of policy and user.
mod attributes;
mod bounds;
mod cases;
mod lint;
mod membership;
mod reference;
mod strict;

pub use attributes::{Attributes, ResourceAttributes, Target, User, extra};
pub use bounds::MAX_BYTES;
pub use cases::{Case, CaseError, CaseRole, CaseUser};
pub use lint::{Finding, Severity};

use membership::Membership;
use portico_runtime::yaml::YamlError;

/// A valid policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Policy {
    /// A JSON list of entries in versions 1 and 2 of k8s-keystone-auth.
    Reference(reference::Rules),
    /// `apiVersion: kube-auth.portico.dev/v1`, as YAML or JSON.
    Strict(strict::Rules),
}

/// The reason why a text was refused as a policy, with the position if it is known. Messages have a
/// bounded length.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// The text is not JSON or YAML of the expected shape.
    #[error("{0}")]
    Syntax(String),
    /// The YAML uses an unsupported feature, exceeds a limit or cannot be parsed.
    #[error(transparent)]
    Yaml(#[from] YamlError),
    /// The text is too long.
    #[error("larger than {max_bytes} bytes")]
    TooLarge { max_bytes: usize },
    /// Lists and objects in JSON are nested too deeply.
    #[error("nested more than {max_depth} levels deep")]
    TooDeep { max_depth: usize },
    /// There are too many values in JSON.
    #[error("more than {max_nodes} keys and values: split the policy or combine its rules")]
    TooManyNodes { max_nodes: usize },
    /// There are too many rules.
    #[error("{rules} rules, more than {max_rules}: combine rules that differ in one list only")]
    TooManyRules { rules: usize, max_rules: usize },
    /// A rule is invalid.
    #[error("rule {rule}: {problem}")]
    Rule { rule: usize, problem: String },
}

/// The decision about one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthorizationDecision {
    /// The first rule that allows it, counted from one; `None`: no opinion.
    pub allowed_by: Option<usize>,
}

impl AuthorizationDecision {
    pub fn allowed(self) -> bool {
        self.allowed_by.is_some()
    }
}

/// How far one rule matches a request; for explanations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It does not apply to this user.
    OtherUser,
    /// It applies to the user, but not to the request.
    OtherRequest,
    Allows,
}

impl Policy {
    /// Reads a policy. A JSON list is one of k8s-keystone-auth's, anything else one of Portico's
    /// format.
    ///
    /// # Errors
    /// Returns [`PolicyError::Rule`] for a rule that would crash the reference or mean more than
    /// its text says, and any other variant if the text cannot be read or exceeds a limit.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        bounds::check_size(text)?;
        let policy = if text.trim_start().starts_with('[') {
            reference::Rules::parse(text).map(Self::Reference)
        } else {
            strict::Rules::parse(text).map(Self::Strict)
        };
        policy.map_err(bounds::shortened)
    }

    /// Decides one request.
    pub fn decide(&self, attributes: &Attributes) -> AuthorizationDecision {
        let first = self.steps(attributes).position(|step| step == Step::Allows);
        AuthorizationDecision {
            allowed_by: first.map(|index| index + 1),
        }
    }

    /// Returns the step of each rule for a request, in order.
    pub fn steps<'a>(&'a self, attributes: &'a Attributes) -> impl Iterator<Item = Step> + 'a {
        let membership = Membership::of(&attributes.user);
        (0..self.len()).map(move |index| self.step(index, attributes, &membership))
    }

    /// Returns the step of one rule for a request; the user is that of `membership`.
    fn step(&self, index: usize, attributes: &Attributes, membership: &Membership<'_>) -> Step {
        match self {
            Self::Reference(rules) => rules.step(index, attributes, membership),
            Self::Strict(rules) => rules.step(index, attributes, membership),
        }
    }

    /// Returns the number of rules.
    pub fn len(&self) -> usize {
        match self {
            Self::Reference(rules) => rules.len(),
            Self::Strict(rules) => rules.len(),
        }
    }

    /// Returns whether it has no rules, and so never allows anything.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a description of the users to whom a rule applies.
    pub fn describe(&self, index: usize) -> String {
        match self {
            Self::Reference(rules) => rules.describe(index),
            Self::Strict(rules) => rules.describe(index),
        }
    }

    /// Returns what is valid but probably not intended.
    pub fn lint(&self) -> Vec<Finding> {
        lint::lint(self)
    }
}

/// Returns whether a list contains the value or a star, the meaning of lists of verbs in every
/// format.
fn any(list: &[String], value: &str) -> bool {
    list.iter().any(|one| one == "*" || one == value)
}

#[cfg(test)]
mod tests;
