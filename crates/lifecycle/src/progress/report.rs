//! What viewers see of an operation.
use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::{Outcome, Progress, Record, StepName, outcome::is_blocking};
use crate::failure::{classify, sentence};

/// Duration after which a step counts as stalled where no typical one is known.
const DEFAULT_STALL: SignedDuration = SignedDuration::from_mins(20);
/// How many times the typical duration a step may take.
const STALL_FACTOR: i32 = 3;

/// Durations of steps that were observed for the same template, such as their median.
pub type Typical = BTreeMap<StepName, SignedDuration>;

/// The state of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepState {
    /// It has not begun.
    Pending,
    /// It began at this time.
    Running { since: Timestamp },
    /// It began at this time, and its reason does not resolve itself.
    Blocked { since: Timestamp },
    /// It began at this time, and failed.
    Failed { since: Timestamp },
    /// It took so long.
    Done { took: SignedDuration },
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepReport {
    /// Which step it is.
    pub name: StepName,
    /// How far it is.
    pub state: StepState,
    /// Magnum's text about it.
    pub reason: Option<String>,
    /// What the text means, as a sentence.
    pub explanation: Option<String>,
    /// How long it takes typically with this template, if that is known.
    pub typical: Option<SignedDuration>,
}

/// An operation at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressReport {
    /// The state of the whole operation.
    pub outcome: Outcome,
    /// In their order.
    pub steps: Vec<StepReport>,
    /// Since Magnum accepted the request.
    pub elapsed: SignedDuration,
    /// The step that takes much longer than typically, as a sentence.
    pub stalled: Option<String>,
    /// From typical durations; `None`: not all are known, show [`Self::position`].
    pub percent: Option<u8>,
}

impl ProgressReport {
    /// Returns the number of the current step and of all, such as (4, 7).
    pub fn position(&self) -> (usize, usize) {
        let done = self.steps.iter().filter(|step| is_done(step)).count();
        let all = self.steps.len();
        ((done + 1).min(all), all)
    }
}

fn is_done(step: &StepReport) -> bool {
    matches!(step.state, StepState::Done { .. })
}

impl Progress {
    /// Describes the operation at a time.
    pub fn report(&self, now: Timestamp, typical: &Typical) -> ProgressReport {
        let outcome = self.outcome(now);
        let has_ended = outcome.is_final() && outcome != Outcome::Failed;
        let open = self.records.iter().filter(|record| record.ended.is_none());
        // steps of one stage run at the same time
        let stage = open.map(|record| record.name.stage()).min();
        let steps: Vec<_> = self
            .records
            .iter()
            .map(|record| {
                let is_current =
                    !has_ended && record.ended.is_none() && Some(record.name.stage()) == stage;
                let reason = is_current.then(|| self.reason_of(&record.name)).flatten();
                StepReport {
                    state: self.state_of(record, is_current, reason.as_deref(), &outcome),
                    explanation: reason.as_deref().map(|text| sentence(classify(text), text)),
                    reason,
                    typical: typical.get(&record.name).copied(),
                    name: record.name.clone(),
                }
            })
            .collect();
        ProgressReport {
            stalled: steps.iter().find_map(|step| stalled(step, now)),
            percent: percent(&steps, now),
            elapsed: now.duration_since(self.accepted_at),
            outcome,
            steps,
        }
    }

    fn state_of(
        &self,
        record: &Record,
        is_current: bool,
        reason: Option<&str>,
        outcome: &Outcome,
    ) -> StepState {
        let since = record.began.unwrap_or(self.accepted_at);
        if let Some(ended) = record.ended {
            return StepState::Done {
                took: ended.duration_since(since),
            };
        }
        if !is_current {
            return StepState::Pending;
        }
        let failed = self.last.as_ref().map(|last| &last.failed);
        if failed.is_some_and(|failed| failed.contains(&record.name)) {
            return StepState::Failed { since };
        }
        match outcome {
            Outcome::Failed => StepState::Failed { since },
            Outcome::Blocked(_) if reason.is_some_and(is_blocking) => StepState::Blocked { since },
            _ => StepState::Running { since },
        }
    }

    /// The reason of a current step: its own, or else that of the cluster.
    fn reason_of(&self, name: &StepName) -> Option<String> {
        let last = self.last.as_ref()?;
        let own = last.reasons.iter().find(|(step, _)| step == name);
        own.map(|(_, text)| text.clone())
            .or_else(|| last.reason.clone())
            .filter(|text| !text.trim().is_empty())
    }
}

fn stalled(step: &StepReport, now: Timestamp) -> Option<String> {
    let (StepState::Running { since } | StepState::Blocked { since }) = step.state else {
        return None;
    };
    let limit = match step.typical {
        Some(typical) => typical.saturating_mul(STALL_FACTOR),
        None => DEFAULT_STALL,
    };
    let took = now.duration_since(since);
    if took <= limit {
        return None;
    }
    let typical = match step.typical {
        Some(typical) => format!("typically it takes {}", in_words(typical)),
        None => "no duration of this template is known".to_owned(),
    };
    Some(format!(
        "Stalled at \"{}\" for {}; {typical}.",
        step.name.title(),
        in_words(took)
    ))
}

/// Writes a duration in seconds below two minutes, else in minutes.
fn in_words(duration: SignedDuration) -> String {
    match duration.as_secs() {
        seconds @ ..120 => format!("{seconds} seconds"),
        _ => format!("{} minutes", duration.as_mins()),
    }
}

/// The share of the typical durations that has passed, at most 99 until the end.
fn percent(steps: &[StepReport], now: Timestamp) -> Option<u8> {
    let (mut passed, mut all) = (0_i128, 0_i128);
    for step in steps {
        let typical = step.typical?.as_millis();
        all += typical;
        passed += match step.state {
            StepState::Done { .. } => typical,
            StepState::Running { since } | StepState::Blocked { since } => {
                now.duration_since(since).as_millis().clamp(0, typical)
            }
            StepState::Pending | StepState::Failed { .. } => 0,
        };
    }
    if all == 0 {
        return None;
    }
    if steps.iter().all(is_done) {
        return Some(100);
    }
    u8::try_from(passed * 100 / all)
        .ok()
        .map(|percent| percent.min(99))
}
