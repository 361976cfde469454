//! The steps of each operation, and the signs that they are done.
use serde::{Deserialize, Serialize};

use super::{Followed, Snapshot};
use crate::{driver::Family, model::NodeGroup};

/// A step, in the order in which they happen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepName {
    /// Magnum has a record of the cluster, or has begun the change.
    Accepted,
    /// Certificates and cloud credential.
    Credentials,
    /// Network, router and security groups.
    Network,
    /// The address of the API, with its load balancer if it has one.
    ApiAddress,
    ControlPlane,
    /// The workers of a group.
    Workers(String),
    AddOns,
    /// The resources of a deleted cluster.
    Resources,
    /// Magnum's record of a deleted cluster.
    Record,
}

impl StepName {
    /// Returns the place in the course of an operation. Steps of one stage run at the same time.
    pub fn stage(&self) -> u8 {
        match self {
            Self::Accepted => 0,
            Self::Credentials => 1,
            Self::Network => 2,
            Self::ApiAddress => 3,
            Self::ControlPlane => 4,
            Self::Workers(_) => 5,
            Self::AddOns | Self::Resources => 6,
            Self::Record => 7,
        }
    }

    /// Returns the name to show.
    pub fn title(&self) -> String {
        match self {
            Self::Accepted => "Accepted".to_owned(),
            Self::Credentials => "Certificates and credential".to_owned(),
            Self::Network => "Network and security groups".to_owned(),
            Self::ApiAddress => "Address of the API".to_owned(),
            Self::ControlPlane => "Control plane".to_owned(),
            Self::Workers(group) => format!("Workers of {group}"),
            Self::AddOns => "Add-ons".to_owned(),
            Self::Resources => "Deletion of resources".to_owned(),
            Self::Record => "Deletion of the record".to_owned(),
        }
    }
}

/// Returns the steps of an operation, and whether the sign that each is done is there.
pub fn signs(
    followed: &Followed,
    family: Family,
    snapshot: &Snapshot<'_>,
    has_effect: bool,
) -> Vec<(StepName, bool)> {
    match followed {
        Followed::Creation { .. } => creation(family, snapshot),
        Followed::Change { goal, .. } => {
            let groups = snapshot.known_groups().iter().filter(|group| {
                let is_about = goal.group().is_none_or(|name| name == group.name);
                is_about && !group.status.is_deletion()
            });
            let of_groups =
                groups.map(|group| (step_of(group), has_effect && group.status.is_complete()));
            std::iter::once((StepName::Accepted, has_effect))
                .chain(of_groups)
                .collect()
        }
        Followed::Deletion { .. } => {
            let groups = snapshot.known_groups();
            let are_gone = !groups.is_empty()
                && groups
                    .iter()
                    .all(|group| group.status.is_deletion() && group.status.is_complete());
            vec![
                (StepName::Accepted, has_effect),
                (StepName::Resources, has_effect && are_gone),
                (StepName::Record, snapshot.cluster.is_none()),
            ]
        }
    }
}

fn creation(family: Family, snapshot: &Snapshot<'_>) -> Vec<(StepName, bool)> {
    let cluster = snapshot.cluster;
    let is_ready = |part: &str| {
        let text = cluster.and_then(|cluster| cluster.health.get(part));
        text.is_some_and(|text| is_positive(text))
    };
    let mut steps = vec![(StepName::Accepted, cluster.is_some())];
    // Heat's resources are made by one stack, which has its ID at once
    if family != Family::Heat {
        let has_id = cluster.is_some_and(|cluster| cluster.driver_id.is_some());
        steps.push((StepName::Credentials, has_id));
    }
    steps.push((StepName::Network, is_ready("infrastructure")));
    let has_address = cluster.is_some_and(|cluster| cluster.api_address.is_some());
    steps.push((StepName::ApiAddress, has_address));
    let of_groups: Vec<_> = snapshot
        .known_groups()
        .iter()
        .filter(|group| !group.status.is_deletion())
        .map(|group| (step_of(group), group.status.is_complete()))
        .collect();
    let is_up = snapshot.is_api_ready == Some(true) || is_ready("controlplane");
    let is_made = of_groups.contains(&(StepName::ControlPlane, true));
    steps.push((StepName::ControlPlane, is_up || is_made));
    let workers = of_groups.into_iter();
    steps.extend(workers.filter(|(name, _)| *name != StepName::ControlPlane));
    let is_complete = cluster.is_some_and(|cluster| cluster.status.is_complete());
    steps.push((StepName::AddOns, is_complete));
    steps
}

/// Returns the steps whose node group failed.
pub fn failed(snapshot: &Snapshot<'_>) -> Vec<StepName> {
    let groups = snapshot.known_groups().iter();
    groups
        .filter(|group| group.status.is_failed())
        .map(step_of)
        .collect()
}

/// A health reason of a part that works: the drivers write "Ready", "ok" or "True".
fn is_positive(text: &str) -> bool {
    ["ready", "ok", "true"].contains(&text.trim().to_lowercase().as_str())
}

/// Returns the reasons that Magnum gives for single steps.
pub fn reasons(snapshot: &Snapshot<'_>) -> Vec<(StepName, String)> {
    let health = snapshot.cluster.map(|cluster| &cluster.health);
    let of_parts = [
        ("infrastructure", StepName::Network),
        ("infrastructure", StepName::ApiAddress),
        ("controlplane", StepName::ControlPlane),
    ];
    let of_parts = of_parts.into_iter().filter_map(|(part, step)| {
        let text = health?.get(part)?;
        (!is_positive(text)).then(|| (step, text.clone()))
    });
    let of_groups = snapshot.known_groups().iter().filter_map(|group| {
        let reason = group.reason.clone().filter(|text| !text.is_empty())?;
        Some((step_of(group), reason))
    });
    of_parts.chain(of_groups).collect()
}

fn step_of(group: &NodeGroup) -> StepName {
    if group.is_control_plane() {
        StepName::ControlPlane
    } else {
        StepName::Workers(group.name.clone())
    }
}
