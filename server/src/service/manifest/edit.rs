//! Edits of existing objects: a JSON patch (RFC 6902) of what the user changed, for exactly the version
//! that they saw, so that fields which they removed disappear.
use super::{FIELD_MANAGER, answer, compare, document, strip};
use crate::{
    kube::{Api, api::Call, objects, path},
    service::error::ServiceError,
};
use portico_domain::panel::{EditText, Effect, ObjectRef, PlannedDocument, RebasedText, TextDiff};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// How often an edit is sent if the object's status changes meanwhile.
const MAX_TRIES: u32 = 5;

/// Returns an object as text to edit. The values of a Secret are part of it.
pub async fn text(api: &Api, object: &ObjectRef) -> Result<EditText, ServiceError> {
    editable(objects::get(api, object).await?)
}

fn editable(mut value: Value) -> Result<EditText, ServiceError> {
    let version = version(&value);
    strip::server_fields(&mut value);
    Ok(EditText {
        text: objects::plain_yaml(value)?,
        version,
    })
}

/// Returns what identifies the part of an object that can be edited, and the object itself: a hash, so that
/// the text of a Secret does not become part of it.
pub fn version(value: &Value) -> String {
    let mut stripped = value.clone();
    strip::server_fields(&mut stripped);
    let uid = value.pointer("/metadata/uid").unwrap_or(&Value::Null);
    let digest = Sha256::digest(format!("{uid} {stripped}"));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn resource_version(value: &Value) -> String {
    let version = value.pointer("/metadata/resourceVersion");
    version
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

/// Returns what saving an edit would change. Nothing is changed.
pub async fn plan_edit(
    api: &Api,
    object: &ObjectRef,
    edited: &EditText,
) -> Result<PlannedDocument, ServiceError> {
    let (live, patch) = patch(api, object, edited).await?;
    let mut plan = PlannedDocument {
        index: 0,
        title: document::title(
            live["kind"].as_str().unwrap_or_default(),
            object.namespace.as_deref(),
            &object.name,
        ),
        object: Some(object.clone()),
        effect: Effect::Nothing,
        diff: TextDiff::default(),
        problems: Vec::new(),
        conflicts: Vec::new(),
    };
    let Some(patch) = patch else {
        return Ok(plan);
    };
    match send(api, object, &patch, true).await {
        Ok(result) => {
            plan.diff = compare(Some(&live), &result)?;
            if !plan.diff.is_empty() {
                plan.effect = Effect::Change;
            }
        }
        Err(refusal) => {
            plan.effect = Effect::Refused;
            plan.problems = refusal.problems;
        }
    }
    Ok(plan)
}

/// Saves an edit; returns whether anything was changed. A change of the status in between is not a conflict.
pub async fn save(api: &Api, object: &ObjectRef, edited: &EditText) -> Result<bool, ServiceError> {
    let mut tries = 0;
    loop {
        let (live, patch) = patch(api, object, edited).await?;
        let Some(patch) = patch else {
            return Ok(false);
        };
        let Err(refusal) = send(api, object, &patch, false).await else {
            return Ok(true);
        };
        // a test that failed is reported as any other invalid patch
        if !is_outdated(api, object, &resource_version(&live)).await {
            return Err(explain(refusal));
        }
        tries += 1;
        if tries == MAX_TRIES {
            return Err(outdated(object));
        }
    }
}

fn explain(refusal: answer::Refusal) -> ServiceError {
    let problems = refusal.problems.iter();
    let words: Vec<_> = problems
        .map(|problem| {
            let words = format!("{} {}", problem.path, problem.message);
            words.trim().to_owned()
        })
        .collect();
    let mut error = ServiceError::from(refusal.error);
    if !words.is_empty() {
        error.message = words.join("; ");
    }
    error
}

/// Repeats an edit on the newest version of an object.
pub async fn rebase(
    api: &Api,
    object: &ObjectRef,
    original: &str,
    edited: &str,
) -> Result<RebasedText, ServiceError> {
    let newest = text(api, object).await?;
    let (before, after) = (document::parse_one(original)?, document::parse_one(edited)?);
    let mut rebased = document::parse_one(&newest.text)?;
    let patch = json_patch::diff(&before, &after);
    let fits = json_patch::patch(&mut rebased, &patch).is_ok();
    let text = fits.then(|| objects::plain_yaml(rebased)).transpose()?;
    Ok(RebasedText { newest, text })
}

/// Returns the live object and the patch that makes it what was edited; `None` if nothing was changed.
async fn patch(
    api: &Api,
    object: &ObjectRef,
    edited: &EditText,
) -> Result<(Value, Option<Value>), ServiceError> {
    let mut wanted = document::parse_one(&edited.text)?;
    let live = objects::get(api, object).await?;
    if version(&live) != edited.version {
        return Err(outdated(object));
    }
    let mut original = live.clone();
    strip::server_fields(&mut original);
    strip::server_fields(&mut wanted);
    for pointer in [
        "/apiVersion",
        "/kind",
        "/metadata/name",
        "/metadata/namespace",
    ] {
        if original.pointer(pointer) != wanted.pointer(pointer) {
            let field = pointer.trim_start_matches('/').replace('/', ".");
            return Err(ServiceError::invalid(format!(
                "{field} of an existing object cannot be changed."
            ))
            .next("Create a new object with another name instead."));
        }
    }
    let mut operations = vec![json!({
        "op": "test", "path": "/metadata/resourceVersion", "value": resource_version(&live),
    })];
    let changes = json_patch::diff(&original, &wanted);
    if changes.0.is_empty() {
        return Ok((live, None));
    }
    let changes =
        serde_json::to_value(&changes).map_err(|error| ServiceError::invalid(error.to_string()))?;
    if let Value::Array(changes) = changes {
        operations.extend(restored(changes, &live));
    }
    Ok((live, Some(Value::Array(operations))))
}

/// Adapts operations that were made for the stripped object to the live one: annotations that were
/// left out of the text must stay.
fn restored(operations: Vec<Value>, live: &Value) -> Vec<Value> {
    const ANNOTATIONS: &str = "/metadata/annotations";
    let hidden = live.pointer(ANNOTATIONS).and_then(Value::as_object);
    operations
        .into_iter()
        .flat_map(|operation| {
            let is_whole = operation["path"] == ANNOTATIONS;
            let Some(hidden) = hidden.filter(|_| is_whole) else {
                return vec![operation];
            };
            let wanted = operation["value"].as_object().cloned().unwrap_or_default();
            let mut merged = serde_json::Map::new();
            let mut stripped = json!({ "metadata": { "annotations": hidden } });
            strip::server_fields(&mut stripped);
            let shown = stripped.pointer(ANNOTATIONS).cloned().unwrap_or_default();
            for (key, value) in hidden {
                if shown.get(key).is_none() {
                    merged.insert(key.clone(), value.clone());
                }
            }
            merged.extend(wanted);
            vec![json!({ "op": "add", "path": ANNOTATIONS, "value": merged })]
        })
        .collect()
}

/// Returns whether an object has another version by now.
pub async fn is_outdated(api: &Api, object: &ObjectRef, version: &str) -> bool {
    let newest = objects::get(api, object).await;
    newest.is_ok_and(|newest| resource_version(&newest) != version)
}

/// Describes an edit of a version that is not the newest.
pub fn outdated(object: &ObjectRef) -> ServiceError {
    ServiceError::conflict(format!(
        "{} was changed in the meantime; nothing was saved and your text is still here.",
        object.name
    ))
    .next("Load the newest version and repeat your changes on it.")
}

async fn send(
    api: &Api,
    object: &ObjectRef,
    patch: &Value,
    dry_run: bool,
) -> Result<Value, answer::Refusal> {
    let base = path::object(object).map_err(|error| answer::Refusal {
        problems: vec![super::failure(0, "", &error)],
        conflicts: Vec::new(),
        error,
    })?;
    let query = [
        ("fieldManager", FIELD_MANAGER),
        ("fieldValidation", "Strict"),
        ("dryRun", if dry_run { "All" } else { "" }),
    ];
    let path = path::with_query(&base, &query);
    answer::send(api, Call::json_patch(&path, patch), 0).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_that_were_not_shown_stay_when_the_others_are_removed_or_added() {
        let hidden = "kubectl.kubernetes.io/last-applied-configuration";
        let live = json!({"metadata": {"annotations": {hidden: "{}"}}});
        let add = json!({"op": "add", "path": "/metadata/annotations", "value": {"a": "b"}});
        let merged = restored(vec![add], &live);
        assert_eq!(merged[0]["value"], json!({"a": "b", hidden: "{}"}));
        let live = json!({"metadata": {"annotations": {hidden: "{}", "old": "x"}}});
        let remove = json!({"op": "remove", "path": "/metadata/annotations"});
        assert_eq!(
            restored(vec![remove], &live)[0]["value"],
            json!({hidden: "{}"})
        );
        let other = json!({"op": "remove", "path": "/spec/a"});
        assert_eq!(restored(vec![other.clone()], &live), [other]);
    }
}
