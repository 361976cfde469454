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
        // a refusal of some logs is in the note
        .or_else(|| any(|stage| matches!(stage, Stage::Ended(end) if end.missing.is_none())))
        .or_else(|| any(|_| true))
        .unwrap_or(Stage::Nothing)
}

/// Returns how many logs ended otherwise than the state of all logs shows, with the reason of the first, or how
/// many are refused, with the permission that is missing for the first.
pub fn note(stages: &[(LogQuery, Stage)]) -> Option<Refusal> {
    let all = stages.len();
    let mut ended: Vec<&Refusal> = Vec::new();
    for (_, stage) in stages {
        if let Stage::Ended(end) = stage {
            ended.push(end);
        }
    }
    let refused = ended.iter().filter(|end| end.missing.is_some()).count();
    // the state is the first refusal
    if refused == all {
        return None;
    }
    if let Some(first) = ended.iter().find(|end| end.missing.is_some()) {
        let verb = if refused == 1 { "is" } else { "are" };
        return Some(Refusal {
            reason: format!("{refused} of {all} logs {verb} refused"),
            missing: first.missing.clone(),
        });
    }
    if let Stage::Ended(shown) = together(stages) {
        ended.retain(|end| **end != shown);
    }
    let first = ended.first()?;
    let reason = format!("{} of {all} logs ended: {}", ended.len(), first.reason);
    Some(Refusal::from(reason))
}

/// Returns the state of all logs with the note on some of them.
pub fn with_note(state: String, note: Option<Refusal>) -> String {
    match note {
        Some(note) => format!("{}; {}", state.trim_end_matches('.'), note.reason),
        None => state,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::RightQuestion;

    fn query(pod: &str) -> LogQuery {
        LogQuery {
            namespace: "shop".to_owned(),
            pod: pod.to_owned(),
            container: "main".to_owned(),
            previous: false,
            follow: true,
            timestamps: false,
            tail: 1,
            since: None,
            until: None,
        }
    }

    fn ended(reason: &str) -> Stage {
        Stage::Ended(reason.to_owned().into())
    }

    fn refused() -> Stage {
        Stage::Ended(Refusal::of(RightQuestion {
            verb: "get".to_owned(),
            group: String::new(),
            resource: "pods".to_owned(),
            subresource: "log".to_owned(),
            namespace: Some("shop".to_owned()),
            name: None,
        }))
    }

    /// The note on logs in these states, and whether it names a permission.
    fn noted(stages: &[Stage]) -> Option<(String, bool)> {
        let stages: Vec<_> = stages
            .iter()
            .map(|stage| (query("a"), stage.clone()))
            .collect();
        note(&stages).map(|note| (note.reason, note.missing.is_some()))
    }

    #[test]
    fn refused_logs_among_others_are_named_with_the_permission() {
        let of = |text: &str| Some((text.to_owned(), true));
        assert_eq!(
            noted(&[Stage::Following, refused(), ended("It failed."), refused()]),
            of("2 of 4 logs are refused")
        );
        assert_eq!(
            noted(&[refused(), ended("The log ends here.")]),
            of("1 of 2 logs is refused")
        );
        // then it is the state itself
        assert_eq!(noted(&[refused(), refused()]), None);
        assert_eq!(noted(&[refused()]), None);
    }

    #[test]
    fn logs_that_ended_among_others_are_counted_with_the_first_reason() {
        let of = |text: &str| Some((text.to_owned(), false));
        let end = || ended("The log ends here.");
        assert_eq!(
            noted(&[Stage::Following, end(), ended("It failed.")]),
            of("2 of 3 logs ended: The log ends here.")
        );
        assert_eq!(
            noted(&[end(), end(), ended("It failed.")]),
            of("1 of 3 logs ended: It failed.")
        );
        assert_eq!(noted(&[end(), end()]), None);
        assert_eq!(noted(&[Stage::Following, Stage::Waiting]), None);
        assert_eq!(noted(&[]), None);
    }

    #[test]
    fn a_note_follows_the_state() {
        let note = || Some(Refusal::from("1 of 2 logs is refused".to_owned()));
        let state = |text: &str, note| with_note(text.to_owned(), note);
        assert_eq!(
            state("Following", note()),
            "Following; 1 of 2 logs is refused"
        );
        assert_eq!(
            state("The log ends here.", note()),
            "The log ends here; 1 of 2 logs is refused"
        );
        assert_eq!(state("The log ends here.", None), "The log ends here.");
    }

    #[test]
    fn lines_of_one_log_are_enough_to_follow() {
        let ended = || (query("a"), ended("The log ends here."));
        let late = || (query("b"), Stage::NotStarted("It is pulled.".to_owned()));
        assert_eq!(together(&[]), Stage::Nothing);
        assert_eq!(
            together(&[ended(), (query("c"), Stage::Following)]),
            Stage::Following
        );
        assert_eq!(together(&[ended(), late()]), late().1);
        assert_eq!(together(&[ended()]), ended().1);
        // some refused logs are in the note
        assert_eq!(together(&[(query("b"), refused()), ended()]), ended().1);
    }
}
