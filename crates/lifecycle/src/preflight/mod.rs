//! Checks before a change is sent. Each has a level and a sentence; all are shown, also those that pass.
mod creation;
mod deletion;
mod healing;
mod resize;
mod upgrade;

pub use creation::{CreationContext, MIN_FLAVOR, before_creation};
pub use deletion::{DeletionContext, before_deletion};
pub use healing::{AutoHealing, HealingContext, auto_healing, before_healing, healing_hint};
pub use resize::{ResizeContext, before_growth, before_nodes_leave, before_resize};
pub use upgrade::{Reading, UpgradeContext, before_upgrade};

use crate::quota::{Fit, Projection};

/// How grave the result of a check is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Ok,
    /// It can be sent; the text states what may follow.
    Warning,
    /// It must not be sent.
    Blocks,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was checked, such as "Quota".
    pub subject: &'static str,
    /// Whether it passed.
    pub level: Level,
    /// A sentence for users.
    pub text: String,
}

/// The results of all checks, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checks(pub Vec<Check>);

impl Checks {
    /// Returns the gravest level.
    pub fn level(&self) -> Level {
        let levels = self.0.iter().map(|check| check.level);
        levels.max().unwrap_or(Level::Ok)
    }

    fn ok(&mut self, subject: &'static str, text: impl Into<String>) {
        self.add(subject, Level::Ok, text.into());
    }

    fn warn(&mut self, subject: &'static str, text: impl Into<String>) {
        self.add(subject, Level::Warning, text.into());
    }

    fn block(&mut self, subject: &'static str, text: impl Into<String>) {
        self.add(subject, Level::Blocks, text.into());
    }

    fn add(&mut self, subject: &'static str, level: Level, text: String) {
        self.0.push(Check {
            subject,
            level,
            text,
        });
    }

    /// Adds one line for each quota that is not simply sufficient, or one that all are.
    fn quotas(&mut self, projections: &[Projection]) {
        let mut is_sufficient = true;
        for projection in projections {
            match projection.fit {
                Fit::Fits => continue,
                Fit::Exceeded(_) => self.block("Quota", projection.sentence()),
                Fit::FitsWithoutSurge | Fit::Unknown => self.warn("Quota", projection.sentence()),
            }
            is_sufficient = false;
        }
        if is_sufficient && !projections.is_empty() {
            self.ok("Quota", "The quotas of the project suffice.");
        }
    }
}
