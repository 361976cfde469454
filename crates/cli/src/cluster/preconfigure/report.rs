//! What was found in a cloud, and who can provide what is missing.
use crate::output::TableRow;
use serde::Serialize;
use std::fmt::Write as _;

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Ok,
    /// Clusters can be created; the text states what is limited.
    Warning,
    Missing,
    /// It could not be read.
    NotChecked,
}

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Missing => "missing",
            Self::NotChecked => "not checked",
        }
    }
}

/// Who can do a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Assignee {
    You,
    ProjectAdministrator,
    Operator,
}

impl Assignee {
    const ALL: [Self; 3] = [Self::You, Self::ProjectAdministrator, Self::Operator];

    fn heading(self) -> &'static str {
        match self {
            Self::You => "For you",
            Self::ProjectAdministrator => "For an administrator of the project",
            Self::Operator => "For the operator of the cloud",
        }
    }
}

/// What remains to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Task {
    pub assignee: Assignee,
    pub text: String,
}

impl Task {
    /// Returns a task for the user.
    pub fn yours(text: impl Into<String>) -> Self {
        Self::of(Assignee::You, text)
    }

    /// Returns a task for the cloud's operator.
    pub fn operators(text: impl Into<String>) -> Self {
        Self::of(Assignee::Operator, text)
    }

    /// Returns a task.
    pub fn of(assignee: Assignee, text: impl Into<String>) -> Self {
        Self {
            assignee,
            text: text.into(),
        }
    }
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    #[serde(rename = "check")]
    pub subject: &'static str,
    pub result: Outcome,
    pub detail: String,
    pub task: Option<Task>,
}

impl Check {
    /// Returns that nothing is missing.
    pub fn ok(subject: &'static str, detail: impl Into<String>) -> Self {
        Self::new(subject, Outcome::Ok, detail, None)
    }

    /// Returns a warning without a task.
    pub fn notice(subject: &'static str, detail: impl Into<String>) -> Self {
        Self::new(subject, Outcome::Warning, detail, None)
    }

    /// Returns what is limited.
    pub fn warning(subject: &'static str, detail: impl Into<String>, task: Task) -> Self {
        Self::new(subject, Outcome::Warning, detail, Some(task))
    }

    /// Returns what is missing.
    pub fn missing(subject: &'static str, detail: impl Into<String>, task: Task) -> Self {
        Self::new(subject, Outcome::Missing, detail, Some(task))
    }

    /// Returns why it could not be read.
    pub fn not_checked(subject: &'static str, detail: impl Into<String>) -> Self {
        Self::new(subject, Outcome::NotChecked, detail, None)
    }

    fn new(
        subject: &'static str,
        result: Outcome,
        detail: impl Into<String>,
        task: Option<Task>,
    ) -> Self {
        Self {
            subject,
            result,
            detail: detail.into(),
            task,
        }
    }
}

impl TableRow for Check {
    const HEADINGS: &'static [&'static str] = &["CHECK", "RESULT", "DETAIL"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.subject.to_owned(),
            self.result.word().to_owned(),
            self.detail.clone(),
        ]
    }
}

/// Returns whether clusters can be created, as far as was checked.
pub fn is_ready(checks: &[Check]) -> bool {
    let is_acceptable = |check: &Check| matches!(check.result, Outcome::Ok | Outcome::Warning);
    checks.iter().all(is_acceptable)
}

/// Returns the tasks, by who can do them; empty if there are none.
pub fn tasks(checks: &[Check]) -> String {
    let mut text = String::new();
    for assignee in Assignee::ALL {
        let tasks = checks.iter().filter_map(|check| check.task.as_ref());
        let own: Vec<_> = tasks.filter(|task| task.assignee == assignee).collect();
        if own.is_empty() {
            continue;
        }
        // writing to a string cannot fail
        let _ = writeln!(text, "\n{}:", assignee.heading());
        for task in own {
            let _ = writeln!(text, "- {}", crate::one_line(&task.text));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_listed_by_who_can_do_them() {
        let checks = [
            Check::missing("Image", "none", Task::operators("upload one")),
            Check::missing("Key pair", "none", Task::yours("create one")),
            Check::warning("Catalogue", "no DNS", Task::operators("offer it")),
            Check::ok("Quota", "enough"),
        ];
        assert_eq!(
            tasks(&checks),
            "\nFor you:\n- create one\n\nFor the operator of the cloud:\n- upload one\n- offer it\n"
        );
        assert_eq!(tasks(&checks[3..]), "");
    }

    #[test]
    fn what_is_missing_or_was_not_checked_is_not_ready_and_a_warning_is() {
        let warning = Check::warning("Catalogue", "no DNS", Task::operators("offer it"));
        assert!(is_ready(&[warning.clone(), Check::ok("Quota", "enough")]));
        assert!(!is_ready(&[
            warning,
            Check::not_checked("Image", "no answer")
        ]));
        let missing = Check::missing("Image", "none", Task::operators("upload one"));
        assert!(!is_ready(&[missing]));
    }
}
