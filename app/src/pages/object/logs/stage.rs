//! The state of the logs of a pane.
use portico_domain::{panel::Refusal, stream::LogQuery};

/// A log that a pane shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LogSource {
    pub query: LogQuery,
    /// Before each of its lines; empty if it is the only one.
    pub prefix: String,
}

/// The state of one log, and of all logs of a pane together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// There is no log.
    Nothing,
    Waiting,
    Following,
    /// The container has not started, with the reason.
    NotStarted(String),
    Interrupted,
    /// With the reason, and the permission that is missing if that is the reason.
    Ended(Refusal),
}

/// Returns the state of all logs together: lines of one are enough to follow.
pub fn together(stages: &[(LogQuery, Stage)]) -> Stage {
    let any = |wanted: fn(&Stage) -> bool| {
        let found = stages
            .iter()
            .map(|(_, stage)| stage)
            .find(|stage| wanted(stage));
        found.cloned()
    };
    any(|stage| *stage == Stage::Following)
        .or_else(|| any(|stage| *stage == Stage::Interrupted))
        .or_else(|| any(|stage| *stage == Stage::Waiting))
        .or_else(|| any(|stage| matches!(stage, Stage::NotStarted(_))))
        .or_else(|| any(|_| true))
        .unwrap_or(Stage::Nothing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_one_log_are_enough_to_follow() {
        let query = |pod: &str| LogQuery {
            namespace: "shop".to_owned(),
            pod: pod.to_owned(),
            container: "main".to_owned(),
            previous: false,
            follow: true,
            timestamps: false,
            tail: 1,
            since: None,
            until: None,
        };
        let ended = || {
            (
                query("a"),
                Stage::Ended("The log ends here.".to_owned().into()),
            )
        };
        let late = || (query("b"), Stage::NotStarted("It is pulled.".to_owned()));
        assert_eq!(together(&[]), Stage::Nothing);
        assert_eq!(
            together(&[ended(), (query("c"), Stage::Following)]),
            Stage::Following
        );
        assert_eq!(together(&[ended(), late()]), late().1);
        assert_eq!(together(&[ended()]), ended().1);
    }
}
