//! Changes without arguments: pause, suspend, run now, cordon and their opposites. The same requests
//! as kubectl sends.
use super::text;
use crate::{
    kube::{Api, KubeError, api::Call, changes, discovery, objects, path},
    service::error::ServiceError,
};
use portico_domain::panel::{ObjectRef, ResourceRef, StateChange};
use serde_json::{Value, json};

/// Maximum length of a CronJob's name in the name of a Job that is made from it: the API server adds
/// five characters, and 63 are allowed.
const MAX_JOB_PREFIX_CHARS: usize = 48;

/// Makes a change of exactly the object with this UID; returns what happens in a sentence.
pub async fn change(
    api: &Api,
    object: &ObjectRef,
    uid: &str,
    change: StateChange,
) -> Result<String, ServiceError> {
    if !has(&object.resource, change) {
        return Err(ServiceError::invalid("This kind has no such action."));
    }
    let name = &object.name;
    let (spec, sentence) = match change {
        StateChange::Pause => (
            json!({ "paused": true }),
            format!("The rollout of {name} is paused. Changes take effect when it is resumed."),
        ),
        StateChange::Resume => (
            json!({ "paused": null }),
            format!("The rollout of {name} continues."),
        ),
        StateChange::Suspend => (
            json!({ "suspend": true }),
            format!("{name} starts no jobs until it is resumed."),
        ),
        StateChange::Unsuspend => (
            json!({ "suspend": false }),
            format!("{name} starts jobs by its schedule again."),
        ),
        StateChange::Cordon => (
            json!({ "unschedulable": true }),
            format!("{name} gets no new pods. Its pods stay."),
        ),
        StateChange::Uncordon => (
            json!({ "unschedulable": null }),
            format!("{name} gets new pods again."),
        ),
        StateChange::RunNow => {
            let job = run_now(api, object, uid).await?;
            return Ok(format!("Job {job} was created from {name}."));
        }
    };
    changes::merge(api, object, uid, json!({ "spec": spec })).await?;
    Ok(sentence)
}

/// Returns whether a kind has a change.
pub fn has(resource: &ResourceRef, change: StateChange) -> bool {
    let expected = match change {
        StateChange::Pause | StateChange::Resume => ("apps", "deployments"),
        StateChange::Suspend | StateChange::Unsuspend | StateChange::RunNow => {
            ("batch", "cronjobs")
        }
        StateChange::Cordon | StateChange::Uncordon => ("", "nodes"),
    };
    (resource.group.as_str(), resource.plural.as_str()) == expected
}

/// Returns whether a change makes a difference in an object's present state.
pub fn applies(value: &Value, change: StateChange) -> bool {
    let is = |pointer: &str| value.pointer(pointer) == Some(&Value::Bool(true));
    match change {
        StateChange::Pause => !is("/spec/paused"),
        StateChange::Resume => is("/spec/paused"),
        StateChange::Suspend => !is("/spec/suspend"),
        StateChange::Unsuspend => is("/spec/suspend"),
        StateChange::Cordon => !is("/spec/unschedulable"),
        StateChange::Uncordon => is("/spec/unschedulable"),
        StateChange::RunNow => true,
    }
}

/// Creates a Job as `kubectl create job --from` does; returns its name.
async fn run_now(api: &Api, object: &ObjectRef, uid: &str) -> Result<String, ServiceError> {
    let cron_job = objects::get(api, object).await?;
    if text(&cron_job, "/metadata/uid") != uid {
        return Err(KubeError::Conflict("its UID has changed".to_owned()).into());
    }
    let jobs = discovery::catalog(api)
        .await?
        .preferred("batch", "jobs")
        .map(discovery::reference)
        .ok_or_else(|| ServiceError::not_found("This cluster has no Jobs."))?;
    let collection = path::collection(&jobs, object.namespace.as_deref())?;
    let job = job_of(&cron_job, &object.name)?;
    let made: Value = api
        .json(Call::send(http::Method::POST, &collection, &job))
        .await?;
    Ok(text(&made, "/metadata/name"))
}

fn job_of(cron_job: &Value, name: &str) -> Result<Value, ServiceError> {
    let template = cron_job
        .pointer("/spec/jobTemplate")
        .ok_or_else(|| ServiceError::invalid("This CronJob has no template for its jobs."))?;
    let mut annotations = template
        .pointer("/metadata/annotations")
        .cloned()
        .unwrap_or_else(|| json!({}));
    annotations["cronjob.kubernetes.io/instantiate"] = json!("manual");
    let prefix: String = name.chars().take(MAX_JOB_PREFIX_CHARS).collect();
    Ok(json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "generateName": format!("{prefix}-manual-"),
            "labels": template.pointer("/metadata/labels"),
            "annotations": annotations,
            "ownerReferences": [{
                "apiVersion": cron_job["apiVersion"],
                "kind": "CronJob",
                "name": name,
                "uid": cron_job["metadata"]["uid"],
                "controller": true,
            }],
        },
        "spec": template["spec"],
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_is_run_now_has_the_template_and_belongs_to_its_cron_job() {
        let cron_job = json!({"apiVersion": "batch/v1", "metadata": {"uid": "u1"}, "spec": {"jobTemplate": {
            "metadata": {"labels": {"app": "report"}}, "spec": {"template": {"spec": {}}}}}});
        let name = "r".repeat(60);
        let job = job_of(&cron_job, &name).unwrap();
        assert_eq!(job["metadata"]["ownerReferences"][0]["uid"], "u1");
        assert_eq!(job["metadata"]["labels"]["app"], "report");
        assert_eq!(
            job["metadata"]["annotations"]["cronjob.kubernetes.io/instantiate"],
            "manual"
        );
        let prefix = job["metadata"]["generateName"].as_str().unwrap();
        assert!(prefix.len() + 5 <= 63, "{prefix}");
        assert_eq!(job["spec"], json!({"template": {"spec": {}}}));
    }

    #[test]
    fn only_the_change_that_makes_a_difference_applies() {
        let paused = json!({"spec": {"paused": true}});
        assert!(applies(&paused, StateChange::Resume) && !applies(&paused, StateChange::Pause));
        let running = json!({"spec": {}});
        assert!(applies(&running, StateChange::Pause) && !applies(&running, StateChange::Resume));
        assert!(has(&ResourceRef::core("nodes"), StateChange::Cordon));
        assert!(!has(&ResourceRef::core("pods"), StateChange::Cordon));
    }
}
