//! One cluster of Magnum as the pages show it.
use super::{card, following, origin::Origin, upgrade, viewer::Viewer, words};
use jiff::Timestamp;
use portico_domain::{
    identity::Named,
    panel::{
        Health,
        lifecycle::{
            ActionOffer, ClusterAction, EnrolmentState, ManagedCluster, NodeGroupRow, PlannedStep,
            PlannedStepState,
        },
    },
};
use portico_lifecycle::{
    capabilities::{Feature, capability},
    driver::Cloud,
    idempotency::MARKER_LABEL,
    model::{Cluster, NodeGroup},
    progress::Outcome,
    rights::Call,
    status::{Activity, Phase, Status},
};
use portico_openstack::magnum;
use uuid::Uuid;

/// What is known about a cluster.
pub struct Known<'a> {
    pub cluster: &'a magnum::Cluster,
    /// The same, as the engine has it.
    pub model: &'a Cluster,
    /// `None`: the template cannot be read.
    pub template_name: Option<&'a str>,
    pub enrolment: EnrolmentState,
    pub origin: Origin,
    /// Steps of the plan of its creation that were not sent yet.
    pub remaining: &'a [PlannedStep],
    /// What Magnum offers; `None`: not known.
    pub cloud: Option<Cloud>,
    /// Whether Magnum no longer has it.
    pub is_gone: bool,
}

/// Returns the row of a cluster, with what the viewer may do.
pub fn row(known: Known<'_>, viewer: &Viewer, now: Timestamp) -> ManagedCluster {
    let (cluster, model) = (known.cluster, known.model);
    let blocked = match following::outcome(model, cluster.create_timeout, now) {
        Some(Outcome::Blocked(text)) if !known.is_gone => Some(text),
        _ => None,
    };
    let state = match (&blocked, known.is_gone) {
        (_, true) => "Deleted".to_owned(),
        (Some(_), _) => format!("{}, blocked", words::state(&model.status)),
        (None, _) => words::state(&model.status),
    };
    let health = cluster.health_status.as_ref();
    ManagedCluster {
        id: cluster.uuid,
        name: cluster.name.clone(),
        health: if known.is_gone {
            Health::Unknown
        } else {
            words::tone(&model.status, health, blocked.is_some())
        },
        status: state,
        raw_status: cluster.status.to_string(),
        reason: blocked.or_else(|| card::why(model)),
        measured_health: words::measured_health(health, &cluster.health_status_reason),
        is_busy: !known.is_gone && words::is_busy(&model.status),
        driver: words::driver(model.driver),
        template: Named {
            id: cluster.cluster_template_id.clone(),
            name: known
                .template_name
                .unwrap_or(&cluster.cluster_template_id)
                .to_owned(),
        },
        version: version(cluster),
        control_plane_count: cluster.master_count,
        node_count: cluster.node_count,
        api_address: cluster.api_address.clone(),
        created_at: cluster.created_at.map(Timestamp::as_second),
        updated_at: cluster.updated_at.map(Timestamp::as_second),
        is_own: cluster.user_id == viewer.user_id,
        is_made_outside: known.origin == Origin::Outside,
        actions: actions(&known, viewer),
        enrolment: known.enrolment,
    }
}

/// Returns the row of an enrolled cluster that Magnum no longer has.
pub fn row_of_record(id: Uuid, name: &str, api_address: &str) -> ManagedCluster {
    ManagedCluster {
        id,
        name: name.to_owned(),
        health: Health::Unknown,
        status: "Deleted; its record remains".to_owned(),
        raw_status: String::new(),
        reason: Some(
            "Magnum no longer has this cluster. Remove its record, so that it leaves the list."
                .to_owned(),
        ),
        measured_health: "Not measured".to_owned(),
        is_busy: false,
        driver: "not known".to_owned(),
        template: Named {
            id: String::new(),
            name: "not known".to_owned(),
        },
        version: None,
        control_plane_count: None,
        node_count: None,
        api_address: Some(api_address.to_owned()),
        created_at: None,
        updated_at: None,
        is_own: false,
        is_made_outside: false,
        enrolment: EnrolmentState::Enrolled,
        actions: vec![offer(ClusterAction::RemoveRecord, None)],
    }
}

/// Returns the row of a node group.
pub fn group_row(group: &NodeGroup) -> NodeGroupRow {
    NodeGroupRow {
        name: group.name.clone(),
        role: group.role.clone(),
        flavor: group.flavor.clone(),
        node_count: group.node_count,
        min: group.bounds.map(|bounds| bounds.min),
        max: group.bounds.and_then(|bounds| bounds.max),
        health: words::tone(&group.status, None, false),
        status: words::state(&group.status),
        reason: group.reason.clone().filter(|text| !text.is_empty()),
    }
}

/// Returns whether an action is offered; `refusal` is a sentence.
pub fn offer(action: ClusterAction, refusal: Option<String>) -> ActionOffer {
    ActionOffer { action, refusal }
}

/// Returns the version that Magnum reports, or else the one that was requested.
pub fn version(cluster: &magnum::Cluster) -> Option<String> {
    let requested = || cluster.labels.applied.get("kube_tag").cloned();
    let reported = cluster.coe_version.clone();
    reported.filter(|text| !text.is_empty()).or_else(requested)
}

fn actions(known: &Known<'_>, viewer: &Viewer) -> Vec<ActionOffer> {
    let has_record = matches!(
        known.enrolment,
        EnrolmentState::Enrolled
            | EnrolmentState::NotChecked
            | EnrolmentState::WaitingForConfiguration
    );
    if known.is_gone {
        let record = has_record.then(|| offer(ClusterAction::RemoveRecord, None));
        return record.into_iter().collect();
    }
    let mut actions = vec![
        offer(ClusterAction::Delete, deletion_refusal(known.model, viewer)),
        offer(
            ClusterAction::Upgrade,
            upgrade::refusal(viewer, known.model, known.cloud),
        ),
    ];
    if !has_record {
        actions.push(offer(
            ClusterAction::Enrol,
            enrolment_refusal(&known.enrolment),
        ));
    }
    if let Some(next) = known.remaining.first() {
        actions.push(offer(
            ClusterAction::Continue,
            continuation_refusal(next, known, viewer),
        ));
    }
    actions
}

fn deletion_refusal(model: &Cluster, viewer: &Viewer) -> Option<String> {
    let refusal = viewer.refusal(Call::DeleteCluster, model.user_id.as_deref());
    refusal.or_else(|| {
        let is_running = model.status == Status::Known(Activity::Delete, Phase::InProgress);
        is_running.then(|| {
            "The cluster is being deleted already. Wait until Magnum has deleted it.".to_owned()
        })
    })
}

fn enrolment_refusal(state: &EnrolmentState) -> Option<String> {
    match state {
        EnrolmentState::Ready
        | EnrolmentState::Offered
        | EnrolmentState::Enrolled
        | EnrolmentState::NotChecked
        | EnrolmentState::WaitingForConfiguration => None,
        EnrolmentState::WaitingForApi => {
            Some("Its API has no address yet. Wait until the control plane is made.".to_owned())
        }
        EnrolmentState::Running => {
            Some("It is being enrolled. Wait for up to two minutes.".to_owned())
        }
        EnrolmentState::NotOffered(text) => Some(text.clone()),
    }
}

fn continuation_refusal(next: &PlannedStep, known: &Known<'_>, viewer: &Viewer) -> Option<String> {
    let refusal = viewer.refusal(Call::CreateNodeGroup, known.model.user_id.as_deref());
    refusal
        .or_else(|| {
            let capability = capability(known.model.driver, known.cloud?, Feature::NodeGroups);
            (!capability.is_offered()).then_some(capability.reason)
        })
        .or_else(|| match &next.state {
            PlannedStepState::Ready => None,
            PlannedStepState::Waiting => {
                Some("Magnum still works on the cluster. Wait until it is settled.".to_owned())
            }
            PlannedStepState::Refused(text) => Some(text.clone()),
        })
}

/// Returns whether the creation of a cluster was sent by Portico, so that it may have stored steps.
pub fn is_of_portico(cluster: &magnum::Cluster) -> bool {
    cluster.labels.applied.contains_key(MARKER_LABEL)
}

#[cfg(test)]
mod tests {
    use super::super::{fixtures, viewer::tests::viewer};
    use super::*;
    use portico_cluster_operations::{Drivers, mapping};
    use portico_lifecycle::driver::ApiVersion;
    use serde_json::{Value, json};

    fn of(
        status: &str,
        change: Value,
        viewer: &Viewer,
        remaining: &[PlannedStep],
    ) -> ManagedCluster {
        let cluster = fixtures::with(status, change);
        let model = mapping::cluster(&cluster, None, &Drivers::default());
        let known = Known {
            cluster: &cluster,
            model: &model,
            template_name: Some("small"),
            enrolment: EnrolmentState::Ready,
            origin: Origin::Portico,
            remaining,
            cloud: Some(Cloud {
                api: ApiVersion(14),
                release: None,
            }),
            is_gone: false,
        };
        row(known, viewer, fixtures::NOW)
    }

    fn refusal(row: &ManagedCluster, action: ClusterAction) -> Option<&str> {
        row.offer(action).unwrap().refusal.as_deref()
    }

    #[test]
    fn case_13_what_the_policy_forbids_a_reader_is_disabled_with_the_rule() {
        let reader = of(
            "CREATE_COMPLETE",
            json!({}),
            &viewer("bob", &["reader"]),
            &[],
        );
        let text = refusal(&reader, ClusterAction::Delete).unwrap();
        assert!(text.contains("cluster:delete"), "{text}");
        assert!(!reader.is_own);
        let member = of(
            "CREATE_COMPLETE",
            json!({}),
            &viewer("ada", &["member"]),
            &[],
        );
        assert_eq!(refusal(&member, ClusterAction::Delete), None);
        assert_eq!(refusal(&member, ClusterAction::Enrol), None);
        assert!(member.is_own);
        assert_eq!(
            (member.health, member.status.as_str()),
            (Health::Ok, "Running")
        );
        assert_eq!(member.template.name, "small");
    }

    #[test]
    fn case_36_an_upgrade_is_offered_where_policy_driver_and_state_permit_it() {
        let of_driver = |status: &str, stack: &str, who: &Viewer| {
            let row = of(status, json!({"stack_id": stack}), who, &[]);
            refusal(&row, ClusterAction::Upgrade).map(str::to_owned)
        };
        let ada = viewer("ada", &["member"]);
        let heat = "6e03b504-1563-4dc7-9cda-eaeed562ea66";
        let refused = of_driver("CREATE_COMPLETE", heat, &ada).unwrap();
        assert!(refused.contains("Create a new cluster"), "{refused}");
        assert_eq!(of_driver("CREATE_COMPLETE", "kube-abc12", &ada), None);
        let busy = of_driver("UPDATE_IN_PROGRESS", "kube-abc12", &ada).unwrap();
        assert!(busy.contains("UPDATE_IN_PROGRESS"), "{busy}");
        let bob = viewer("bob", &["reader"]);
        let refused = of_driver("CREATE_COMPLETE", "kube-abc12", &bob).unwrap();
        assert!(refused.contains("cluster:upgrade"), "{refused}");
    }

    #[test]
    fn case_23_only_a_cluster_certainly_of_another_client_is_named_so() {
        let cluster = fixtures::with("CREATE_COMPLETE", json!({}));
        let model = mapping::cluster(&cluster, None, &Drivers::default());
        let of_origin = |origin| {
            let known = Known {
                cluster: &cluster,
                model: &model,
                template_name: None,
                enrolment: EnrolmentState::Offered,
                origin,
                remaining: &[],
                cloud: None,
                is_gone: false,
            };
            row(known, &viewer("ada", &["member"]), fixtures::NOW)
        };
        let outside = of_origin(Origin::Outside);
        assert!(outside.is_made_outside);
        assert_eq!(refusal(&outside, ClusterAction::Enrol), None);
        assert!(!of_origin(Origin::Unknown).is_made_outside);
        assert!(!of_origin(Origin::Portico).is_made_outside);
    }

    #[test]
    fn a_blocked_creation_is_a_warning_with_what_blocks_it() {
        let reason = json!({"health_status_reason":
            {"infrastructure": "Quota exceeded for resources: ['network']"}, "stack_id": "kube-abc12",
            "status_reason": "Quota exceeded for resources: ['network']"});
        let row = of(
            "CREATE_IN_PROGRESS",
            reason,
            &viewer("ada", &["member"]),
            &[],
        );
        assert_eq!(row.status, "Being created, blocked");
        assert_eq!(row.health, Health::Warning);
        assert!(row.reason.unwrap().contains("quota of network"));
        assert!(row.is_busy);
    }

    #[test]
    fn the_next_step_of_a_plan_waits_until_the_cluster_is_settled() {
        let step = |state| PlannedStep {
            effect: "Creates the node group gpu.".to_owned(),
            state,
        };
        let ada = viewer("ada", &["member"]);
        let waiting = [step(PlannedStepState::Waiting)];
        let row = of("CREATE_IN_PROGRESS", json!({}), &ada, &waiting);
        assert!(refusal(&row, ClusterAction::Continue).is_some());
        let ready = [step(PlannedStepState::Ready)];
        let row = of("CREATE_COMPLETE", json!({}), &ada, &ready);
        assert_eq!(refusal(&row, ClusterAction::Continue), None);
    }
}
