//! How long the steps of creations took with each template, in this process.
use jiff::SignedDuration;
use parking_lot::Mutex;
use portico_lifecycle::progress::{ProgressReport, StepName, StepState, Typical};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Maximum number of templates whose durations are remembered; further ones have none.
const MAX_TEMPLATES: usize = 1_000;
/// Number of creations of a template that count.
const MAX_SAMPLES: usize = 20;

type Samples = BTreeMap<StepName, VecDeque<SignedDuration>>;

/// Durations that were observed, by the UUID of the template.
#[derive(Debug, Default)]
pub struct Durations(Mutex<HashMap<String, Samples>>);

impl Durations {
    /// Takes the durations of a creation that has succeeded.
    pub fn add(&self, template: &str, report: &ProgressReport) {
        let mut all = self.0.lock();
        if all.len() >= MAX_TEMPLATES && !all.contains_key(template) {
            return;
        }
        let samples = all.entry(template.to_owned()).or_default();
        for step in &report.steps {
            let StepState::Done { took } = step.state else {
                continue;
            };
            let of_step = samples.entry(step.name.clone()).or_default();
            if of_step.len() >= MAX_SAMPLES {
                of_step.pop_front();
            }
            of_step.push_back(took);
        }
    }

    /// Returns the median of each step; empty for a template without observations.
    pub fn typical(&self, template: &str) -> Typical {
        let all = self.0.lock();
        let Some(samples) = all.get(template) else {
            return Typical::new();
        };
        let median = |durations: &VecDeque<SignedDuration>| {
            let mut sorted: Vec<_> = durations.iter().copied().collect();
            sorted.sort_unstable();
            sorted.get(sorted.len() / 2).copied()
        };
        samples
            .iter()
            .filter_map(|(name, durations)| Some((name.clone(), median(durations)?)))
            .collect()
    }

    /// Returns the usual duration of a whole creation in seconds, which is the sum of its steps;
    /// `None`: no creation was observed.
    pub fn usual_seconds(&self, template: &str) -> Option<u64> {
        let typical = self.typical(template);
        if typical.is_empty() {
            return None;
        }
        // groups of workers are made at the same time
        let (workers, others): (Vec<_>, Vec<_>) = typical
            .into_iter()
            .partition(|(name, _)| matches!(name, StepName::Workers(_)));
        let longest = workers.into_iter().map(|(_, took)| took.as_secs()).max();
        let sum: i64 = others.into_iter().map(|(_, took)| took.as_secs()).sum();
        u64::try_from(sum.saturating_add(longest.unwrap_or_default())).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_lifecycle::progress::{Outcome, StepReport};

    fn report(seconds: &[(StepName, i64)]) -> ProgressReport {
        let step = |(name, took): &(StepName, i64)| StepReport {
            name: name.clone(),
            state: StepState::Done {
                took: SignedDuration::from_secs(*took),
            },
            reason: None,
            explanation: None,
            typical: None,
        };
        ProgressReport {
            outcome: Outcome::Succeeded,
            steps: seconds.iter().map(step).collect(),
            elapsed: SignedDuration::ZERO,
            stalled: None,
            percent: None,
        }
    }

    #[test]
    fn the_usual_duration_is_the_median_of_what_was_observed() {
        let durations = Durations::default();
        assert_eq!(durations.usual_seconds("small"), None);
        for seconds in [10, 90, 20] {
            let workers = |name: &str| StepName::Workers(name.to_owned());
            durations.add(
                "small",
                &report(&[
                    (StepName::ControlPlane, seconds),
                    (workers("default-worker"), 30),
                    (workers("gpu"), 40),
                ]),
            );
        }
        let typical = durations.typical("small");
        assert_eq!(typical[&StepName::ControlPlane].as_secs(), 20);
        assert_eq!(durations.usual_seconds("small"), Some(60));
        assert!(durations.typical("large").is_empty());
    }
}
