//! The result of a check.
use super::fault::Fault;
use serde::Serialize;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    /// It works.
    Ok,
    /// It works, or need not work now, but an operator should know.
    Warning,
    /// It does not work.
    Error,
}

impl Status {
    /// Returns the name used in `--json` and in the documentation.
    #[cfg(test)]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One line of the report, and one object of `--json`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Finding {
    /// The fault's ID; `ok` if there is none.
    pub id: &'static str,
    pub status: Status,
    /// The subject of the check.
    pub subject: String,
    /// What the check observed.
    pub message: String,
    /// What to do; `null` if there is no fault.
    pub remedy: Option<String>,
    /// The URL of the fault's documentation; `null` if there is no fault.
    pub docs: Option<String>,
    #[serde(skip)]
    pub fault: Option<Fault>,
}

impl Finding {
    /// Returns a finding without a fault.
    pub fn ok(subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            id: "ok",
            status: Status::Ok,
            subject: subject.into(),
            message: message.into(),
            remedy: None,
            docs: None,
            fault: None,
        }
    }

    /// Returns a finding of a fault, with what was observed.
    pub fn fault(fault: Fault, subject: impl Into<String>, seen: impl Into<String>) -> Self {
        let seen = seen.into();
        let message = if seen.is_empty() {
            fault.cause().to_owned()
        } else {
            format!("{}: {seen}", fault.cause())
        };
        Self {
            id: fault.id(),
            status: fault.status(),
            subject: subject.into(),
            message,
            remedy: Some(fault.remedy().to_owned()),
            docs: None,
            fault: Some(fault),
        }
    }

    /// Replaces the remedy with one that fits the case.
    #[must_use]
    pub fn remedy(mut self, remedy: &str) -> Self {
        self.remedy = Some(remedy.to_owned());
        self
    }
}
