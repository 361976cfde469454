//! Authorization policies: those of k8s-keystone-auth, decided as it decides them, and a strict
//! format of our own.
//!
//! Every policy is a list of rules that allow; nothing denies, and what no rule allows is left to
//! the API server's other authorizers. Start with [`Policy::parse`]. Pure: no I/O, no clock.
mod attributes;
mod cases;
mod lint;
mod reference;
mod strict;

pub use attributes::{Attributes, ResourceAttributes, Target, User, extra};
pub use cases::{Case, CaseError, CaseRole, CaseUser};
pub use lint::{Finding, Severity};

/// A policy that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Policy {
    /// A JSON list of entries in versions 1 and 2 of k8s-keystone-auth.
    Reference(reference::Rules),
    /// `apiVersion: kube-auth.portico.dev/v1`, as YAML or JSON.
    Strict(strict::Rules),
}

/// Why a text is no policy; with the place where it is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    #[error("{0}")]
    Syntax(String),
    #[error("rule {rule}: {problem}")]
    Rule { rule: usize, problem: String },
}

/// What a policy says about one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The first rule that allows it, counted from one; none: no opinion.
    pub allowed_by: Option<usize>,
}

impl Verdict {
    pub fn allowed(self) -> bool {
        self.allowed_by.is_some()
    }
}

/// How far one rule goes along with a request; for explanations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is not about this user.
    OtherUser,
    /// It is about the user, and does not name the request.
    OtherRequest,
    Allows,
}

impl Policy {
    /// Reads a policy. A list in JSON is one of k8s-keystone-auth, anything else one of ours.
    ///
    /// # Errors
    /// When it cannot be read, or holds a rule that would crash the reference or mean more than
    /// its text says.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        if text.trim_start().starts_with('[') {
            reference::Rules::parse(text).map(Self::Reference)
        } else {
            strict::Rules::parse(text).map(Self::Strict)
        }
    }

    /// Decides one request.
    pub fn decide(&self, attributes: &Attributes) -> Verdict {
        let first = self.steps(attributes).position(|step| step == Step::Allows);
        Verdict {
            allowed_by: first.map(|index| index + 1),
        }
    }

    /// What each rule says about a request, in order.
    pub fn steps<'a>(&'a self, attributes: &'a Attributes) -> impl Iterator<Item = Step> + 'a {
        (0..self.len()).map(move |index| match self {
            Self::Reference(rules) => rules.step(index, attributes),
            Self::Strict(rules) => rules.step(index, attributes),
        })
    }

    /// How many rules it has.
    pub fn len(&self) -> usize {
        match self {
            Self::Reference(rules) => rules.len(),
            Self::Strict(rules) => rules.len(),
        }
    }

    /// Whether it has no rule, and so never allows anything.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whom a rule is about, in words.
    pub fn describe(&self, index: usize) -> String {
        match self {
            Self::Reference(rules) => rules.describe(index),
            Self::Strict(rules) => rules.describe(index),
        }
    }

    /// What is legal and probably not meant.
    pub fn lint(&self) -> Vec<Finding> {
        lint::lint(self)
    }
}

/// Whether a list holds the value or a star, as every format means lists of verbs.
fn any(list: &[String], value: &str) -> bool {
    list.iter().any(|one| one == "*" || one == value)
}

#[cfg(test)]
mod tests;
