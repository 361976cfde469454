//! Which operation of a cluster is followed: one that the panel has sent, or one that is seen running.
#[cfg(test)]
mod tests;

use jiff::{SignedDuration, Timestamp};
use portico_cluster_operations::inside::Inspection;
use portico_domain::panel::lifecycle::Operation;
use portico_lifecycle::{
    driver::Family,
    model::{Cluster, NodeGroup},
    progress::{Followed, Goal, Mark, Outcome, Progress, ProgressReport, Snapshot, Typical},
    spec::DEFAULT_CREATE_TIMEOUT_MINUTES,
    status::{Activity, Operation as Request, Phase, Status},
    version::{KubernetesVersion, VersionChange},
};

/// An operation and its course.
#[derive(Clone, Debug)]
pub struct Following {
    followed: Followed,
    progress: Progress,
    /// Of an upgrade that the panel has sent.
    versions: Option<VersionChange>,
    /// When Magnum accepted it, as far as that is known.
    since: Timestamp,
    /// When it was first looked at.
    first_look: Option<Timestamp>,
}

/// How much later than its beginning an operation may be looked at first, so that the durations of its
/// steps were observed.
const MAX_FIRST_LOOK: SignedDuration = SignedDuration::from_secs(15);

impl Following {
    /// Follows the creation of a cluster of which Magnum has no record yet.
    pub fn requested(at: Timestamp) -> Self {
        let followed = Followed::Creation {
            timeout_minutes: DEFAULT_CREATE_TIMEOUT_MINUTES,
        };
        Self::accepted(followed, Family::Unknown, at)
    }

    /// Returns the same creation for the record that Magnum has now.
    pub fn recorded(self, cluster: &Cluster, create_timeout: Option<u32>) -> Self {
        let followed = Followed::Creation {
            timeout_minutes: minutes(create_timeout),
        };
        Self::accepted(followed, cluster.driver.family, self.since)
    }

    /// Follows the deletion of a cluster; `before` is the cluster before the request.
    pub fn deletion(before: &Cluster, at: Timestamp) -> Self {
        let followed = Followed::Deletion {
            before: Mark::of(before),
        };
        Self::accepted(followed, before.driver.family, at)
    }

    /// Follows another change of a cluster, such as an upgrade.
    pub fn change(followed: Followed, family: Family, at: Timestamp) -> Self {
        Self::accepted(followed, family, at)
    }

    /// Returns the same with the versions between which the nodes change.
    #[must_use]
    pub fn with_versions(self, versions: Option<VersionChange>) -> Self {
        Self { versions, ..self }
    }

    /// Follows a request that Magnum has accepted.
    fn accepted(followed: Followed, family: Family, at: Timestamp) -> Self {
        Self {
            progress: Progress::new(followed.clone(), family, at),
            followed,
            versions: None,
            since: at,
            first_look: None,
        }
    }

    /// Follows what the state of a cluster shows; `None` if nothing runs and nothing failed.
    /// `create_timeout` is that of the cluster, in minutes.
    fn seen(cluster: &Cluster, create_timeout: Option<u32>, now: Timestamp) -> Option<Self> {
        let followed = Followed::running(cluster, create_timeout)
            .or_else(|| failed(&cluster.status, create_timeout))?;
        let began = match followed {
            Followed::Creation { .. } => cluster.created_at,
            _ => cluster.updated_at,
        };
        let began = began.unwrap_or(now).min(now);
        Some(Self::accepted(followed, cluster.driver.family, began))
    }

    /// Returns what is followed after a look at the cluster; `current` is what was followed before.
    pub fn next(
        current: Option<Self>,
        cluster: &Cluster,
        create_timeout: Option<u32>,
        now: Timestamp,
    ) -> Option<Self> {
        match current {
            Some(current) if current.is_about(&cluster.status, now) => Some(current),
            _ => Self::seen(cluster, create_timeout, now),
        }
    }

    /// Returns whether a state of the cluster belongs to the operation.
    fn is_about(&self, status: &Status, now: Timestamp) -> bool {
        // the same activity once more is another operation
        if status.is_in_progress() && self.progress.outcome(now).is_final() {
            return false;
        }
        match &self.followed {
            Followed::Creation { .. } => matches!(status, Status::Known(Activity::Create, _)),
            Followed::Deletion { before } => status.is_deletion() || before.status == *status,
            Followed::Change { before, .. } => {
                let is_other = matches!(
                    status,
                    Status::Known(
                        Activity::Create | Activity::Delete,
                        Phase::InProgress | Phase::Failed
                    )
                );
                !is_other || before.status == *status
            }
        }
    }

    /// Takes what Magnum answered at a time; `None`: it has no such cluster.
    pub fn look(
        &mut self,
        cluster: Option<&Cluster>,
        groups: Option<&[NodeGroup]>,
        now: Timestamp,
    ) {
        self.look_inside(cluster, groups, None, now);
    }

    /// Does the same with what the cluster's own API server has returned.
    pub fn look_inside(
        &mut self,
        cluster: Option<&Cluster>,
        groups: Option<&[NodeGroup]>,
        inside: Option<&Inspection>,
        now: Timestamp,
    ) {
        let survey = inside.and_then(|inside| inside.nodes.as_ref().ok());
        let wanted = groups.filter(|groups| !groups.is_empty()).map(|groups| {
            let kept = groups.iter().filter(|group| !group.status.is_deletion());
            kept.map(|group| group.node_count).sum()
        });
        // a failure that was not seen happening has happened at the last change
        let is_past =
            self.first_look.is_none() && cluster.is_some_and(|cluster| cluster.status.is_failed());
        let changed_at = cluster.and_then(|cluster| cluster.updated_at);
        self.first_look.get_or_insert(now);
        self.progress.observe(&Snapshot {
            at: changed_at.filter(|_| is_past).unwrap_or(now).min(now),
            cluster,
            groups,
            is_api_ready: inside.and_then(|inside| inside.is_api_ready),
            nodes: survey.and_then(|survey| survey.counts(wanted, self.versions)),
        });
    }

    /// Returns whether it was looked at from its beginning.
    pub fn is_observed_from_start(&self) -> bool {
        let first = self.first_look;
        first.is_some_and(|first| first.duration_since(self.since) <= MAX_FIRST_LOOK)
    }

    /// Returns when Magnum accepted the operation.
    pub fn since(&self) -> Timestamp {
        self.since
    }

    /// Returns whether the operation has ended.
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.progress.outcome(now).is_final()
    }

    /// Returns whether the nodes of the cluster are of interest: while it runs, and after a failure, but not
    /// when the cluster is to disappear.
    pub fn is_about_nodes(&self, now: Timestamp) -> bool {
        let outcome = self.progress.outcome(now);
        !self.is_deletion() && (!outcome.is_final() || outcome == Outcome::Failed)
    }

    /// Returns the version to which an upgrade leads, if that is known.
    pub fn target_version(&self) -> Option<KubernetesVersion> {
        self.versions.map(|versions| versions.to)
    }

    /// Returns the operation at a time.
    pub fn report(&self, now: Timestamp, typical: &Typical) -> ProgressReport {
        self.progress.report(now, typical)
    }

    /// Returns whether the end of the operation is that the cluster disappears.
    pub fn is_deletion(&self) -> bool {
        matches!(self.followed, Followed::Deletion { .. })
    }

    /// Returns whether the cluster is being created.
    pub fn is_creation(&self) -> bool {
        matches!(self.followed, Followed::Creation { .. })
    }

    /// Returns the operation for the page.
    pub fn operation(&self) -> Operation {
        match &self.followed {
            Followed::Creation { .. } => Operation::Creation,
            Followed::Deletion { .. } => Operation::Deletion,
            Followed::Change { operation, .. } => Operation::Change(words(*operation).to_owned()),
        }
    }
}

/// Returns what a single look at a cluster shows of a running operation, such as what blocks it.
pub fn outcome(cluster: &Cluster, create_timeout: Option<u32>, now: Timestamp) -> Option<Outcome> {
    let mut following = Following::seen(cluster, create_timeout, now)?;
    following.look(Some(cluster), None, now);
    Some(following.progress.outcome(now))
}

/// Returns the operation that has led to a state of failure.
fn failed(status: &Status, create_timeout: Option<u32>) -> Option<Followed> {
    let Status::Known(activity, Phase::Failed) = status else {
        return None;
    };
    // the state before is not known, and was another one
    let before = Mark {
        status: Status::Other(String::new()),
        updated_at: None,
    };
    Some(match activity {
        Activity::Create => Followed::Creation {
            timeout_minutes: minutes(create_timeout),
        },
        Activity::Delete => Followed::Deletion { before },
        _ => Followed::Change {
            operation: Request::Patch,
            before,
            goal: Goal::Unseen,
        },
    })
}

/// Returns the time limit of a creation.
fn minutes(create_timeout: Option<u32>) -> u32 {
    create_timeout
        .filter(|minutes| *minutes > 0)
        .unwrap_or(DEFAULT_CREATE_TIMEOUT_MINUTES)
}

fn words(operation: Request) -> &'static str {
    match operation {
        Request::Patch => "Change",
        Request::Resize => "Resize",
        Request::Upgrade => "Upgrade",
        Request::RotateCa => "Rotation of the CA",
        Request::RotateCredential => "Rotation of the credential",
        Request::CreateNodeGroup => "New node group",
        Request::UpdateNodeGroup => "Change of a node group",
        Request::DeleteNodeGroup => "Deletion of a node group",
        Request::Delete => "Deletion",
    }
}
