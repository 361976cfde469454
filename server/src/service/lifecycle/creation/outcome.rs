//! How a creation ended, in words.
use super::review::{self, ReadyReview};
use crate::service::lifecycle::error::{self, sentence};
use portico_cluster_operations::conductor::NO_CONDUCTOR;
use portico_domain::panel::lifecycle::{
    Check, CheckLevel, CreationOutcome, CreationRefusal, FieldProblem, UnknownCreation,
};
use portico_lifecycle::idempotency::LostResponse;
use portico_openstack::rest::{Error, ErrorKind};
use portico_store::AttemptState;
use uuid::Uuid;

/// Words of Magnum's refusals with the field that they are about.
const FIELDS: [(&str, &str); 8] = [
    ("clustertemplate", "spec.template"),
    ("keypair", "spec.keypair"),
    ("master_count", "spec.controlPlane.replicas"),
    ("master nodegroup size", "spec.controlPlane.replicas"),
    ("fixed subnet", "spec.network.existing.subnet"),
    ("fixed network", "spec.network.existing.network"),
    ("docker_volume_size", "spec.dockerVolumeSize"),
    ("name", "metadata.name"),
];

/// Portico refuses: nothing was sent.
pub fn blocked(ready: &ReadyReview) -> CreationOutcome {
    let is_blocked = |check: &&Check| check.level == CheckLevel::Blocks;
    let checks: Vec<Check> = ready.checks.iter().filter(is_blocked).cloned().collect();
    let refusals = ready.review.plan.steps.iter();
    let mut refusals = refusals.filter_map(|step| step.refusal.clone());
    let reason = match checks.first() {
        Some(check) => format!("{}: {}", check.subject, check.text),
        None => refusals
            .next()
            .unwrap_or_else(|| "The cluster cannot be created with these values.".to_owned()),
    };
    let next_step = checks.first().and_then(|check| check.next_step.clone());
    CreationOutcome::Refused(Box::new(CreationRefusal {
        reason,
        next_step: next_step.or_else(|| Some("Change the values and review again.".to_owned())),
        problems: ready.problems.clone(),
        checks,
        request_id: None,
    }))
}

/// The template does not exist or is not chosen: nothing was sent.
pub fn without_template(problems: Vec<FieldProblem>) -> CreationOutcome {
    CreationOutcome::Refused(Box::new(CreationRefusal {
        reason: "The cluster needs a template that this project may use.".to_owned(),
        next_step: Some("Choose a template.".to_owned()),
        problems,
        checks: Vec::new(),
        request_id: None,
    }))
}

/// Another creation with the name is not finished: nothing was sent.
pub fn unfinished(name: &str) -> CreationOutcome {
    let check = review::unfinished(name);
    CreationOutcome::Refused(Box::new(CreationRefusal {
        reason: check.text,
        next_step: check.next_step,
        problems: Vec::new(),
        checks: Vec::new(),
        request_id: None,
    }))
}

/// Magnum refuses.
pub fn refused(error: &Error) -> CreationOutcome {
    let text = match &error.kind {
        ErrorKind::Forbidden(text)
        | ErrorKind::QuotaExceeded(text)
        | ErrorKind::NotFound(text)
        | ErrorKind::Conflict(text)
        | ErrorKind::Invalid(text) => text.as_str(),
        _ => "",
    };
    let reason = if text.is_empty() {
        error::message(error)
    } else {
        format!("Magnum refused the cluster: {}", sentence(text))
    };
    let is_about_fields = matches!(error.kind, ErrorKind::NotFound(_) | ErrorKind::Invalid(_));
    let field = is_about_fields.then(|| field_of(text)).flatten();
    let problem = field.map(|field| FieldProblem {
        field: field.to_owned(),
        message: sentence(text),
    });
    let next_step = error
        .next_step()
        .map_or_else(|| "Change the values and try again.".to_owned(), sentence);
    CreationOutcome::Refused(Box::new(CreationRefusal {
        reason,
        next_step: Some(next_step),
        problems: problem.into_iter().collect(),
        checks: Vec::new(),
        request_id: error.request_id.clone(),
    }))
}

fn field_of(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    // "cluster name": other refusals contain the word too
    let is_about = |word: &str| match word {
        "name" => text.contains("name is invalid") || text.starts_with("name "),
        _ => text.contains(word),
    };
    let found = FIELDS.iter().find(|(word, _)| is_about(word));
    found.map(|(_, field)| *field)
}

/// The run continues, here or in another replica.
pub fn running() -> CreationOutcome {
    CreationOutcome::Unknown(UnknownCreation {
        reason: "The request for the cluster is still being processed.".to_owned(),
        next_step:
            "Wait for a moment and send it again: the same request never makes a second cluster."
                .to_owned(),
        candidates: Vec::new(),
    })
}

/// Another run works on the attempt.
pub fn taken(state: AttemptState) -> CreationOutcome {
    match state {
        AttemptState::Created(cluster) | AttemptState::Complete(cluster) => {
            CreationOutcome::AlreadyCreated { cluster }
        }
        AttemptState::NotSent | AttemptState::Unknown | AttemptState::Accepted(_) => running(),
    }
}

/// The request was sent, and what followed failed.
pub fn unknown(cause: &str) -> CreationOutcome {
    CreationOutcome::Unknown(UnknownCreation {
        reason: format!(
            "The request was sent, and Portico could not find out whether the cluster exists. {}",
            sentence(cause)
        ),
        next_step:
            "Send it again in a minute: Portico looks for the cluster and does not request a \
                    second one."
                .to_owned(),
        candidates: Vec::new(),
    })
}

/// The user must decide.
pub fn lost(lost: &LostResponse) -> CreationOutcome {
    let uuids = match lost {
        LostResponse::NothingFound => Vec::new(),
        LostResponse::SameName(uuids) | LostResponse::Duplicates(uuids) => candidates(uuids),
    };
    let next_step = match lost {
        LostResponse::NothingFound => {
            "Look at the list of clusters in some minutes. If it is not there, create it under another name."
        }
        LostResponse::SameName(_) => {
            "Open the clusters. If none of them is yours, create it under another name."
        }
        LostResponse::Duplicates(_) => "Use one of them, and delete the others.",
    };
    CreationOutcome::Unknown(UnknownCreation {
        reason: lost.to_string(),
        next_step: next_step.to_owned(),
        candidates: uuids,
    })
}

/// Magnum accepted the cluster and has no record of it. `has_conductor`: whether a conductor is up, if that
/// is known.
pub fn not_recorded(uuid: &str, has_conductor: Option<bool>) -> CreationOutcome {
    let conductor = if has_conductor == Some(false) {
        NO_CONDUCTOR
    } else {
        "If it stays so, ask the cloud's operator whether Magnum's conductor is running."
    };
    CreationOutcome::Unknown(UnknownCreation {
        reason: format!("Magnum accepted the request and has no record of the cluster {uuid} yet."),
        next_step: format!("Send it again in a minute: nothing is requested twice. {conductor}"),
        candidates: candidates(&[uuid.to_owned()]),
    })
}

fn candidates(uuids: &[String]) -> Vec<Uuid> {
    uuids.iter().filter_map(|uuid| uuid.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::lifecycle::error::tests::failed;

    fn refusal(kind: ErrorKind) -> CreationRefusal {
        match refused(&failed(kind)) {
            CreationOutcome::Refused(refusal) => *refusal,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn case_14_a_full_quota_is_not_a_lack_of_rights() {
        let text = "Resource limit exceeded: You have reached the maximum clusters per project, 3. You may \
                    delete a cluster to make room for a new one.";
        let found = refusal(ErrorKind::QuotaExceeded(text.to_owned()));
        assert!(found.reason.contains("You may delete a cluster"));
        assert_eq!(found.problems, []);
        assert_eq!(found.request_id.as_deref(), Some("req-1"));
        assert!(found.next_step.unwrap().ends_with('.'));
    }

    #[test]
    fn a_refusal_marks_the_field_that_it_names() {
        for (text, field) in [
            ("Unable to find keypair ops.", Some("spec.keypair")),
            (
                "ClusterTemplate k8s could not be found.",
                Some("spec.template"),
            ),
            (
                "master_count must be 1 when master_lb_enabled is False",
                Some("spec.controlPlane.replicas"),
            ),
            ("Unable to find flavor nope.", None),
        ] {
            let found = refusal(ErrorKind::Invalid(text.to_owned()));
            let first = found.problems.first().map(|problem| problem.field.as_str());
            assert_eq!(first, field, "{text}");
        }
    }

    #[test]
    fn case_59_a_cluster_without_a_record_names_a_missing_conductor_where_it_is_known() {
        let uuid = "900e3758-8071-430e-a8cf-5c48f428dc0e";
        for (has_conductor, part) in [
            (None, "ask the cloud's operator whether"),
            (Some(true), "ask the cloud's operator whether"),
            (Some(false), "No conductor of Magnum answers"),
        ] {
            let CreationOutcome::Unknown(found) = not_recorded(uuid, has_conductor) else {
                panic!("the outcome is not known");
            };
            assert!(found.next_step.contains(part), "{}", found.next_step);
        }
    }

    #[test]
    fn a_lost_response_has_its_candidates_and_a_next_step() {
        let uuid = "900e3758-8071-430e-a8cf-5c48f428dc0e".to_owned();
        let CreationOutcome::Unknown(found) = lost(&LostResponse::SameName(vec![uuid.clone()]))
        else {
            panic!("the user must decide");
        };
        assert_eq!(found.candidates, [uuid.parse::<Uuid>().unwrap()]);
        assert!(found.next_step.ends_with('.'));
    }
}
