//! What is known about a followed cluster, and who may see it.
#[cfg(test)]
mod tests;

use super::super::{
    error, following::Following, inspector::Inspector, pace, pace::Circumstances, viewer::Viewer,
    words,
};
use super::nodes::Nodes;
use jiff::{SignedDuration, Timestamp};
use portico_cluster_operations::inside::Inspection;
use portico_domain::panel::lifecycle::PlannedStep;
use portico_lifecycle::{
    driver::{Cloud, Family},
    journal::ObservedGroup,
    model::{Cluster, NodeGroup},
    progress::Followed,
    version::VersionChange,
};
use portico_openstack::{
    magnum::{self, ClusterTemplate},
    rest::{Error, ScopedToken},
};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};
use tokio::time::Instant;

/// How long Magnum's answer to a user's own token confirms that the user may see the cluster.
const CONFIRMED: u32 = 60;
/// The same while Magnum cannot be asked.
const CONFIRMED_IN_OUTAGE: u32 = 900;
/// Age from which a viewer does not get the last answer, but waits for a new one.
pub const MAX_AGE: u32 = 20;
/// The same for a page that is opened.
pub const MAX_AGE_OPENED: u32 = 3;
/// How long node groups are used again while the cluster changes nothing of its record.
const GROUPS_AGE: u32 = 10;
/// The same while nothing runs: only a group of which Magnum does not report a change is read later.
const SETTLED_GROUPS_AGE: u32 = 60;

/// What the pages show of a cluster.
#[derive(Clone, Debug)]
pub struct View {
    pub cluster: Arc<magnum::Cluster>,
    pub model: Arc<Cluster>,
    pub template_name: Option<String>,
    pub groups: Arc<Vec<NodeGroup>>,
    pub following: Option<Following>,
    pub remaining: Vec<PlannedStep>,
    pub cloud: Option<Cloud>,
    /// What the cluster's own API has returned with the rights of a viewer: only for those who may read it
    /// themselves.
    pub inspection: Option<Arc<Inspection>>,
    /// Whether Magnum no longer has it.
    pub is_gone: bool,
    /// When Magnum last answered.
    pub observed_at: Timestamp,
    /// Why the data is old, as a sentence.
    pub outdated: Option<String>,
    /// Milliseconds until a viewer should ask again.
    pub poll_millis: u32,
    /// Milliseconds until a page that is opened gets a newer answer; `None`: it has the newest one.
    pub refresh_millis: Option<u32>,
}

/// What was read besides the cluster.
#[derive(Debug, Default)]
pub(super) struct Details {
    /// `None`: not read, or not completely.
    pub groups: Option<Vec<NodeGroup>>,
    /// The same for the journal.
    pub observed: Option<BTreeMap<String, ObservedGroup>>,
    pub remaining: Option<Vec<PlannedStep>>,
    pub cloud: Option<Cloud>,
}

/// The last answers.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub cluster: Arc<magnum::Cluster>,
    pub model: Arc<Cluster>,
    pub template: Option<Arc<ClusterTemplate>>,
}

#[derive(Default)]
pub(super) struct State {
    /// `None`: Magnum has not returned it yet.
    pub seen: Option<Seen>,
    /// A new cluster as it was requested, until Magnum has its record.
    pub requested: Option<Seen>,
    pub groups: Arc<Vec<NodeGroup>>,
    groups_read: Option<Instant>,
    following: Option<Following>,
    remaining: Vec<PlannedStep>,
    cloud: Option<Cloud>,
    /// The nodes, during an operation.
    pub nodes: Nodes,
    is_gone: bool,
    observed_at: Option<Timestamp>,
    /// When Magnum was last asked.
    read: Option<Instant>,
    outage: Option<String>,
    failures: u32,
    /// The viewer that asked last.
    asked: Option<(ScopedToken, Instant)>,
    /// When Magnum confirmed that a user may see the cluster.
    confirmed: HashMap<String, Instant>,
    /// Whether a poller runs.
    pub runs: bool,
}

impl State {
    /// Returns whether Magnum must be asked with the viewer's token before the viewer gets anything.
    pub fn needs_read(&self, viewer: &str, second: Duration, max_age: u32) -> bool {
        let limit = match self.outage {
            Some(_) => CONFIRMED_IN_OUTAGE,
            None => CONFIRMED,
        };
        let is_old = self.outage.is_none()
            && !self.is_gone
            && self
                .read
                .is_none_or(|read| read.elapsed() > second * max_age);
        is_old || !self.is_confirmed(viewer, second * limit)
    }

    /// Returns whether the viewer may see the last answers while Magnum cannot be asked.
    pub fn may_see_in_outage(&self, viewer: &str, second: Duration) -> bool {
        self.is_confirmed(viewer, second * CONFIRMED_IN_OUTAGE)
    }

    fn is_confirmed(&self, viewer: &str, limit: Duration) -> bool {
        let confirmed = self.confirmed.get(viewer);
        confirmed.is_some_and(|at| at.elapsed() < limit)
    }

    /// Notes that the viewer may see the cluster.
    pub fn confirm(&mut self, viewer: String, second: Duration) {
        let limit = second * CONFIRMED_IN_OUTAGE;
        self.confirmed.retain(|_, at| at.elapsed() < limit);
        self.confirmed.insert(viewer, Instant::now());
    }

    /// Notes that Magnum refuses the viewer.
    pub fn forget(&mut self, viewer: &str) {
        self.confirmed.remove(viewer);
    }

    /// Notes that a viewer has asked; returns whether none had asked for a while.
    pub fn ask(&mut self, viewer: &Viewer, second: Duration) -> bool {
        let before = self.asked.as_ref().map(|(_, at)| at.elapsed());
        self.asked = Some((viewer.token.clone(), Instant::now()));
        before.is_none_or(|before| before > second * MAX_AGE)
    }

    /// Returns the token to ask Magnum with.
    pub fn token(&self) -> Option<ScopedToken> {
        self.asked.as_ref().map(|(token, _)| token.clone())
    }

    /// Follows a creation; `new` is the cluster as it was requested. A cluster that Magnum has shown is
    /// followed already.
    pub fn accept_creation(&mut self, new: Seen, at: Timestamp) {
        if self.seen.is_some() {
            return;
        }
        self.following = Some(Following::requested(at));
        self.requested = Some(new);
        self.observed_at = Some(at);
        self.look_at_once();
    }

    /// Follows a deletion, unless Magnum has shown that it runs: that is followed already.
    pub fn accept_deletion(&mut self, at: Timestamp) {
        if let Some(seen) = &self.seen
            && !seen.model.status.is_deletion()
        {
            self.following = Some(Following::deletion(&seen.model, at));
        }
        self.look_at_once();
    }

    /// Follows another change than a creation or a deletion.
    pub fn accept_change(
        &mut self,
        followed: Followed,
        family: Family,
        versions: Option<VersionChange>,
        at: Timestamp,
    ) {
        let following = Following::change(followed, family, at);
        self.following = Some(following.with_versions(versions));
        // nodes of an earlier operation
        self.nodes.forget();
        self.look_at_once();
    }

    /// Makes the next look due at once.
    fn look_at_once(&mut self) {
        self.read = None;
        self.groups_read = None;
    }

    /// Returns whether node groups and template have to be read with this answer.
    pub fn needs_details(&self, cluster: &magnum::Cluster, second: Duration) -> bool {
        let is_same = self.seen.as_ref().is_some_and(|seen| {
            seen.cluster.status == cluster.status && seen.cluster.updated_at == cluster.updated_at
        });
        let age = if cluster.status.is_in_progress() {
            GROUPS_AGE
        } else {
            SETTLED_GROUPS_AGE
        };
        let is_young = self
            .groups_read
            .is_some_and(|read| read.elapsed() < second * age);
        !(is_same && is_young)
    }

    /// Returns with what the cluster's own API is to be read now; `None`: it is not. It is read only while an
    /// operation runs or has failed, and a viewer looks who may read it.
    pub fn inspector(&mut self, second: Duration, now: Timestamp) -> Option<Arc<dyn Inspector>> {
        let following = self.following.as_ref();
        let is_of_interest = following.is_some_and(|one| one.is_about_nodes(now));
        self.nodes.inspector(second).filter(|_| is_of_interest)
    }

    /// Takes an answer; returns the operation if the answer is its end.
    pub fn observe(
        &mut self,
        (seen, details): (Seen, Details),
        second: Duration,
        now: Timestamp,
    ) -> Option<&Following> {
        self.answered(now);
        self.is_gone = false;
        if let Some(groups) = details.groups {
            self.groups = Arc::new(groups);
            self.groups_read = Some(Instant::now());
        }
        if let Some(remaining) = details.remaining {
            self.remaining = remaining;
        }
        self.cloud = details.cloud.or(self.cloud);
        let timeout = seen.cluster.create_timeout;
        let mut current = self.following.take();
        if self.requested.take().is_some() {
            // which steps there are depends on the driver, which is known now
            current = current.map(|one| one.recorded(&seen.model, timeout));
        }
        let was_over = current.as_ref().is_none_or(|one| one.is_over(now));
        self.following = Following::next(current, &seen.model, timeout, now);
        // without a complete list, a group that it lacks may exist
        let groups = self.groups_read.map(|_| self.groups.as_slice());
        let inside = self.nodes.recent(second * MAX_AGE);
        if let Some(following) = &mut self.following {
            following.look_inside(Some(&seen.model), groups, inside.as_deref(), now);
        }
        self.seen = Some(seen);
        let following = self.following.as_ref();
        following.filter(|one| !was_over && one.is_over(now))
    }

    /// Notes that Magnum has no such cluster.
    pub fn miss(&mut self, now: Timestamp) {
        self.read = Some(Instant::now());
        if self.seen.is_none() && self.requested.is_none() {
            return;
        }
        self.answered(now);
        self.is_gone = self.seen.is_some();
        self.remaining.clear();
        if let Some(following) = &mut self.following {
            following.look(None, None, now);
        }
    }

    /// Returns whether Magnum no longer has a cluster that it has shown.
    pub fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// Returns the driver's ID of the cluster that Magnum has shown last.
    pub fn backend_id(&self) -> Option<String> {
        let seen = self.seen.as_ref()?;
        seen.cluster.backend_id().map(str::to_owned)
    }

    /// Notes that Magnum refuses the token that was used. Each viewer is confirmed again then, with the
    /// own token.
    pub fn refuse(&mut self) {
        self.read = Some(Instant::now());
        self.asked = None;
        self.confirmed.clear();
    }

    /// Notes that Magnum could not be asked.
    pub fn fail(&mut self, failure: &Error) {
        self.read = Some(Instant::now());
        self.failures = self.failures.saturating_add(1);
        self.outage = Some(format!(
            "{} The last known state is shown.",
            error::message(failure)
        ));
    }

    /// Notes an answer from which nothing follows.
    pub fn pass(&mut self) {
        self.read = Some(Instant::now());
    }

    fn answered(&mut self, now: Timestamp) {
        self.read = Some(Instant::now());
        self.observed_at = Some(now);
        self.outage = None;
        self.failures = 0;
    }

    /// Returns how long to wait until Magnum is asked again; `None`: it is not.
    pub fn pause(&self, second: Duration, now: Timestamp) -> Option<Duration> {
        let seconds = pace::pause(self.circumstances(second, now))?;
        let interval = second * u32::try_from(seconds).unwrap_or(u32::MAX);
        let since = self.read.map_or(interval, |read| read.elapsed());
        Some(interval.saturating_sub(since))
    }

    /// Returns how long a viewer should wait: until Magnum's next answer is expected. Asking in the poller's interval,
    /// but at other times, would show each change up to twice that interval late.
    fn viewer_pause(&self, second: Duration, now: Timestamp) -> Duration {
        let seconds = pace::watched_pause(self.circumstances(second, now));
        let interval = second * u32::try_from(seconds).unwrap_or(u32::MAX);
        let since = self.read.map_or(Duration::ZERO, |read| read.elapsed());
        // the answer itself takes a moment
        interval.saturating_sub(since) + second * 3 / 10
    }

    /// Returns how long a page that was opened should wait until Magnum is asked for it; `None`: Magnum was not asked,
    /// cannot be asked, or has no such cluster.
    fn refresh_pause(&self, second: Duration) -> Option<Duration> {
        if self.outage.is_some() || self.is_gone {
            return None;
        }
        let age = self.read?.elapsed();
        // an answer that is exactly as old is not read again
        Some((second * MAX_AGE_OPENED).saturating_sub(age) + second * 3 / 10)
    }

    fn circumstances(&self, second: Duration, now: Timestamp) -> Circumstances {
        let running = self.following.as_ref().filter(|one| !one.is_over(now));
        let is_busy = self
            .seen
            .as_ref()
            .is_some_and(|seen| words::is_busy(&seen.model.status));
        let running = running
            .map(|one| now.duration_since(one.since()))
            .or_else(|| is_busy.then_some(SignedDuration::ZERO));
        let seconds = |elapsed: Duration| elapsed.as_millis() / second.as_millis().max(1);
        Circumstances {
            running,
            asked: self
                .asked
                .as_ref()
                .map(|(_, at)| u64::try_from(seconds(at.elapsed())).unwrap_or(u64::MAX)),
            failures: self.failures,
            is_gone: self.is_gone,
        }
    }

    /// Returns what the pages show; `None` if nothing is known.
    pub fn view(&self, second: Duration, now: Timestamp) -> Option<View> {
        let seen = self.seen.as_ref().or(self.requested.as_ref())?;
        Some(View {
            cluster: Arc::clone(&seen.cluster),
            model: Arc::clone(&seen.model),
            template_name: seen.template.as_ref().map(|one| one.name.clone()),
            groups: Arc::clone(&self.groups),
            following: self.following.clone(),
            remaining: self.remaining.clone(),
            cloud: self.cloud,
            inspection: self.nodes.shown(second),
            is_gone: self.is_gone,
            observed_at: self.observed_at?,
            outdated: self.outage.clone(),
            poll_millis: millis(self.viewer_pause(second, now)),
            refresh_millis: self.refresh_pause(second).map(millis),
        })
    }
}

fn millis(pause: Duration) -> u32 {
    u32::try_from(pause.as_millis()).unwrap_or(u32::MAX)
}
