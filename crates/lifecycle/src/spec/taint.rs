//! Taints of nodes, written as kubectl writes them.
use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The effects that Kubernetes knows.
const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// A taint: `key=value:Effect` or `key:Effect`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Taint {
    pub key: String,
    pub value: Option<String>,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: String,
}

/// A text that is not a taint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a taint: write key=value:Effect or key:Effect with the effect NoSchedule, \
     PreferNoSchedule or NoExecute"
)]
pub struct TaintError(String);

impl FromStr for Taint {
    type Err = TaintError;

    fn from_str(text: &str) -> Result<Self, TaintError> {
        let error = || TaintError(text.to_owned());
        let (what, effect) = text.rsplit_once(':').ok_or_else(error)?;
        let (key, value) = match what.split_once('=') {
            Some((key, value)) => (key, Some(value.to_owned())),
            None => (what, None),
        };
        if key.is_empty() || !EFFECTS.contains(&effect) {
            return Err(error());
        }
        Ok(Self {
            key: key.to_owned(),
            value,
            effect: effect.to_owned(),
        })
    }
}

impl fmt::Display for Taint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => write!(f, "{}={value}:{}", self.key, self.effect),
            None => write!(f, "{}:{}", self.key, self.effect),
        }
    }
}

impl TryFrom<String> for Taint {
    type Error = TaintError;

    fn try_from(text: String) -> Result<Self, TaintError> {
        text.parse()
    }
}

impl From<Taint> for String {
    fn from(taint: Taint) -> Self {
        taint.to_string()
    }
}
