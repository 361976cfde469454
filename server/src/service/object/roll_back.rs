//! Rolling back to a revision, as `kubectl rollout undo` does.
use super::{
    related::{stored_in, template},
    text,
};
use crate::{
    kube::{Api, KubeError, changes, discovery, objects, path},
    service::{error::ServiceError, manifest, text_diff},
};
use portico_domain::panel::{ObjectRef, TextDiff};
use serde_json::{Value, json};

/// Added by the Deployment controller, and not part of a revision.
const TEMPLATE_HASH: &str = "pod-template-hash";

/// Returns the difference between a workload's pod template and that of a revision.
pub async fn diff(api: &Api, object: &ObjectRef, number: i64) -> Result<TextDiff, ServiceError> {
    let (workload, wanted) = revision(api, object, number).await?;
    let yaml = |template: &Value| objects::yaml(json!({ "spec": { "template": template } }));
    let now = workload.pointer("/spec/template").unwrap_or(&Value::Null);
    Ok(text_diff::compare(&yaml(now)?, &yaml(&wanted)?))
}

/// Replaces the pod template of exactly the workload with this UID by that of a revision.
pub async fn roll_back(
    api: &Api,
    object: &ObjectRef,
    uid: &str,
    number: i64,
) -> Result<(), ServiceError> {
    let (workload, template) = revision(api, object, number).await?;
    if text(&workload, "/metadata/uid") != uid {
        return Err(ServiceError::conflict(
            "Another object has been made under this name meanwhile; it was not changed.",
        ));
    }
    if workload.pointer("/spec/paused") == Some(&Value::Bool(true)) {
        return Err(
            ServiceError::invalid("A paused rollout cannot be rolled back.")
                .next("Resume it first."),
        );
    }
    // of exactly the template that was compared; a change of the status is not in the way
    let patch = json!([
        { "op": "test", "path": "/metadata/uid", "value": uid },
        { "op": "test", "path": "/spec/template", "value": workload["spec"]["template"] },
        { "op": "replace", "path": "/spec/template", "value": template },
    ]);
    match changes::json_patch(api, object, &patch).await {
        Ok(()) => Ok(()),
        // a test that failed is reported as any other invalid patch
        Err(KubeError::Invalid(_))
            if manifest::is_outdated(
                api,
                object,
                &text(&workload, "/metadata/resourceVersion"),
            )
            .await =>
        {
            Err(manifest::outdated(object))
        }
        Err(error) => Err(error.into()),
    }
}

/// Reads a workload, and the pod template of one of its revisions.
async fn revision(
    api: &Api,
    object: &ObjectRef,
    number: i64,
) -> Result<(Value, Value), ServiceError> {
    let plural = (object.resource.group == "apps")
        .then(|| stored_in(&object.resource.plural))
        .flatten()
        .ok_or_else(|| ServiceError::invalid("This kind has no revisions."))?;
    let workload = objects::get(api, object).await?;
    let resource = discovery::catalog(api)
        .await?
        .preferred("apps", plural)
        .map(discovery::reference)
        .ok_or_else(|| ServiceError::not_found("This cluster stores no revisions."))?;
    let labels = super::selector::of_pods(&object.resource, &workload).unwrap_or_default();
    let collection = path::collection(&resource, object.namespace.as_deref())?;
    let list = api
        .get(&path::with_query(
            &collection,
            &[("labelSelector", &labels)],
        ))
        .await?;
    let uid = text(&workload, "/metadata/uid");
    let stored = list["items"].as_array().into_iter().flatten().find(|one| {
        let owners = one["metadata"]["ownerReferences"].as_array();
        number_of(one) == Some(number)
            && owners.is_some_and(|owners| owners.iter().any(|owner| owner["uid"] == uid.as_str()))
    });
    let mut template = stored.and_then(template).cloned().ok_or_else(|| {
        ServiceError::not_found(format!(
            "Revision {number} of {} no longer exists.",
            object.name
        ))
    })?;
    if let Some(labels) = template
        .pointer_mut("/metadata/labels")
        .and_then(Value::as_object_mut)
    {
        labels.remove(TEMPLATE_HASH);
    }
    // how a ControllerRevision marks that it replaces the template
    if let Some(fields) = template.as_object_mut() {
        fields.remove("$patch");
    }
    Ok((workload, template))
}

fn number_of(stored: &Value) -> Option<i64> {
    stored["revision"].as_i64().or_else(|| {
        stored
            .pointer("/metadata/annotations/deployment.kubernetes.io~1revision")?
            .as_str()?
            .parse()
            .ok()
    })
}
