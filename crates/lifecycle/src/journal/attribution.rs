//! Who requested a difference: a user of Portico, another client of Magnum, or no one.
use jiff::{SignedDuration, Timestamp};

/// How long after a difference was observed the entry of its request may be written: another replica
/// can observe the effect before the request has been answered.
const WRITE_DELAY: SignedDuration = SignedDuration::from_secs(30);

/// How long after a request its effect may begin.
const MAX_START: SignedDuration = SignedDuration::from_mins(10);

/// How long after a request a difference may follow from it. The end of an operation may never be observed.
const MAX_DURATION: SignedDuration = SignedDuration::from_hours(24);

/// An entry of a journal, as far as attribution needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Timeline {
    Requested(Requested),
    Observed(Observed),
}

/// A request through Portico that changes the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requested {
    pub at: Timestamp,
    /// False: Magnum did not accept it, or nothing was sent.
    pub may_have_effect: bool,
}

/// A difference between two observations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    pub at: Timestamp,
    /// When the cluster was observed before.
    pub since: Timestamp,
    /// Whether a client of Magnum must have requested it.
    pub is_requested: bool,
    /// Whether Magnum works on the cluster afterwards.
    pub is_busy: bool,
}

/// What a difference follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The request at this index of the timeline.
    Request(usize),
    /// A request that did not come through Portico.
    Outside,
    /// Magnum itself.
    Magnum,
}

/// Returns the cause of each observed difference of a timeline, oldest first; `None` for requests.
///
/// A request explains the differences from it on until the cluster is settled again. A difference that
/// must have been requested, and that no request explains, came from outside of Portico.
pub fn causes(timeline: &[Timeline]) -> Vec<Option<Cause>> {
    attribute(timeline).0
}

/// Returns the index of the request that explains what follows after a timeline, oldest first: Magnum may be
/// carrying it out. `None`: the last one has ended, or there is none.
///
/// A settled cluster ends a request only once an effect of it was observed: what is observed just after the
/// request may be the end of the operation before, or a measured health. After a day it explains nothing: an
/// effect, or its end, may never be observed.
pub fn unfinished(timeline: &[Timeline], now: Timestamp) -> Option<usize> {
    let request = attribute(timeline).1?;
    let requested = at(timeline.get(request)?);
    (now.duration_since(requested) <= MAX_DURATION).then_some(request)
}

fn attribute(timeline: &[Timeline]) -> (Vec<Option<Cause>>, Option<usize>) {
    let mut current: Option<usize> = None;
    // whether an effect of it was observed
    let mut has_begun = false;
    let mut causes = Vec::with_capacity(timeline.len());
    for (index, entry) in timeline.iter().enumerate() {
        let observed = match entry {
            Timeline::Requested(request) => {
                if request.may_have_effect {
                    // its effect may have been observed before its entry was written
                    has_begun &= current == Some(index);
                    current = Some(index);
                }
                causes.push(None);
                continue;
            }
            Timeline::Observed(observed) => observed,
        };
        let max = if has_begun { MAX_DURATION } else { MAX_START };
        let is_late = |request: &usize| {
            let requested = timeline.get(*request).map(at);
            requested.is_some_and(|requested| observed.at.duration_since(requested) > max)
        };
        current = current.filter(|request| !is_late(request));
        let request = current.or_else(|| late_request(timeline, index, observed));
        let cause = match request {
            Some(request) if observed.is_requested => Cause::Request(request),
            None if observed.is_requested => Cause::Outside,
            _ => Cause::Magnum,
        };
        // Magnum may measure the health before it begins
        has_begun |= observed.is_busy || observed.is_requested;
        current = request.filter(|_| observed.is_busy || !has_begun);
        causes.push(Some(cause));
    }
    (causes, current)
}

/// Returns the request whose entry was written after its effect was observed.
fn late_request(timeline: &[Timeline], index: usize, observed: &Observed) -> Option<usize> {
    if !observed.is_requested {
        return None;
    }
    let later = timeline.iter().enumerate().skip(index + 1);
    later
        .take_while(|(_, entry)| at(entry) <= observed.at + WRITE_DELAY)
        .find_map(|(index, entry)| match entry {
            Timeline::Requested(request) if request.may_have_effect => Some(index),
            _ => None,
        })
}

fn at(entry: &Timeline) -> Timestamp {
    match entry {
        Timeline::Requested(request) => request.at,
        Timeline::Observed(observed) => observed.at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn requested(second: i64, may_have_effect: bool) -> Timeline {
        Timeline::Requested(Requested {
            at: time(second),
            may_have_effect,
        })
    }

    fn observed(second: i64, is_requested: bool, is_busy: bool) -> Timeline {
        Timeline::Observed(Observed {
            at: time(second),
            since: time(second - 2),
            is_requested,
            is_busy,
        })
    }

    #[test]
    fn a_request_explains_what_follows_until_the_cluster_is_settled() {
        let causes = causes(&[
            requested(0, true),
            observed(2, true, true),
            observed(10, false, false),
            observed(20, true, true),
        ]);
        assert_eq!(
            causes,
            [
                None,
                Some(Cause::Request(0)),
                Some(Cause::Magnum),
                Some(Cause::Outside)
            ]
        );
    }

    #[test]
    fn a_refused_request_explains_nothing() {
        let causes = causes(&[requested(0, false), observed(2, true, true)]);
        assert_eq!(causes, [None, Some(Cause::Outside)]);
    }

    #[test]
    fn an_effect_that_another_replica_observes_first_is_explained() {
        let soon = [observed(0, true, true), requested(1, true)];
        assert_eq!(causes(&soon), [Some(Cause::Request(1)), None]);
        let late = [observed(0, true, true), requested(60, true)];
        assert_eq!(causes(&late), [Some(Cause::Outside), None]);
    }

    #[test]
    fn a_measured_health_before_the_effect_ends_no_request() {
        let soon = [
            requested(0, true),
            observed(1, false, false),
            observed(3, true, true),
        ];
        assert_eq!(causes(&soon)[2], Some(Cause::Request(0)));
        // one that Magnum has not acted on explains nothing later
        let late = [requested(0, true), observed(3_600, true, true)];
        assert_eq!(causes(&late)[1], Some(Cause::Outside));
    }

    #[test]
    fn the_end_of_the_operation_before_ends_no_request() {
        let mut timeline = vec![
            requested(0, true),
            observed(2, true, true),
            requested(30, true),
            // the first operation has ended before the second request was sent
            observed(31, false, false),
        ];
        assert_eq!(unfinished(&timeline, time(90)), Some(2));
        timeline.push(observed(33, true, true));
        assert_eq!(causes(&timeline)[4], Some(Cause::Request(2)));
        assert_eq!(unfinished(&timeline, time(90)), Some(2));
        timeline.push(observed(60, false, false));
        assert_eq!(unfinished(&timeline, time(90)), None);
    }

    #[test]
    fn a_request_without_an_observed_effect_is_not_running_days_later() {
        let timeline = [requested(0, true), observed(5, false, false)];
        let day = 24 * 3_600;
        assert_eq!(unfinished(&timeline, time(day)), Some(0));
        assert_eq!(unfinished(&timeline, time(day + 1)), None);
    }

    #[test]
    fn a_request_whose_effect_was_observed_before_its_entry_ends_with_it() {
        let timeline = [
            observed(0, true, true),
            requested(1, true),
            observed(5, false, false),
            observed(8, true, true),
        ];
        assert_eq!(unfinished(&timeline[..2], time(90)), Some(1));
        assert_eq!(unfinished(&timeline[..3], time(90)), None);
        assert_eq!(causes(&timeline)[3], Some(Cause::Outside));
    }

    #[test]
    fn a_request_whose_end_was_never_observed_explains_nothing_days_later() {
        let hour = 3_600;
        let causes = causes(&[
            requested(0, true),
            observed(2, true, true),
            // the next step of a long upgrade
            observed(5 * hour, true, true),
            observed(30 * hour, true, true),
        ]);
        assert_eq!(causes[2], Some(Cause::Request(0)));
        assert_eq!(causes[3], Some(Cause::Outside));
    }

    #[test]
    fn what_magnum_does_by_itself_has_no_request() {
        assert_eq!(causes(&[observed(0, false, false)]), [Some(Cause::Magnum)]);
    }
}
