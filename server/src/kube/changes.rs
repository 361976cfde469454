//! Changes to single objects.
use super::{Api, KubeError, api::Call, path};
use http::Method;
use portico_domain::panel::ObjectRef;
use serde_json::{Map, Value, json};

/// Deletes exactly the object with this UID; a newer object with the same name stays.
pub async fn delete(api: &Api, object: &ObjectRef, uid: &str) -> Result<(), KubeError> {
    let body = json!({
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": { "uid": uid },
        "propagationPolicy": "Background",
    });
    let path = path::object(object)?;
    api.bytes(Call::send(Method::DELETE, &path, &body)).await?;
    Ok(())
}

/// Sets the replica count through the scale subresource; with `uid`, of exactly that object.
pub async fn scale(
    api: &Api,
    object: &ObjectRef,
    uid: Option<&str>,
    replicas: i64,
) -> Result<(), KubeError> {
    let path = format!("{}/scale", path::object(object)?);
    let body = json!({ "spec": { "replicas": replicas } });
    patch(api, &path, uid, body).await
}

/// Starts a rollout, as `kubectl rollout restart` does; with `uid`, of exactly that object.
pub async fn restart(api: &Api, object: &ObjectRef, uid: Option<&str>) -> Result<(), KubeError> {
    let body = json!({ "spec": { "template": { "metadata": { "annotations": {
        "kubectl.kubernetes.io/restartedAt": api.now().to_string(),
    }}}}});
    patch(api, &path::object(object)?, uid, body).await
}

/// Sets labels of exactly the object with this UID, and removes others.
pub async fn label(
    api: &Api,
    object: &ObjectRef,
    uid: &str,
    set: &[(String, String)],
    remove: &[String],
) -> Result<(), KubeError> {
    let removed = remove.iter().map(|key| (key.clone(), Value::Null));
    let labels: Map<_, _> = set
        .iter()
        .map(|(key, value)| (key.clone(), json!(value)))
        .chain(removed)
        .collect();
    let body = json!({ "metadata": { "labels": labels } });
    patch(api, &path::object(object)?, Some(uid), body).await
}

/// Merges fields into exactly the object with this UID.
pub async fn merge(
    api: &Api,
    object: &ObjectRef,
    uid: &str,
    fields: Value,
) -> Result<(), KubeError> {
    patch(api, &path::object(object)?, Some(uid), fields).await
}

/// Sends a JSON patch (RFC 6902). The API server reports a `test` that fails as an invalid patch.
pub async fn json_patch(api: &Api, object: &ObjectRef, patch: &Value) -> Result<(), KubeError> {
    let path = path::object(object)?;
    api.bytes(Call::json_patch(&path, patch)).await?;
    Ok(())
}

/// Sends a merge patch. The API server refuses to change a UID, so that a patch that includes one is
/// for that object alone.
async fn patch(api: &Api, path: &str, uid: Option<&str>, mut body: Value) -> Result<(), KubeError> {
    if let Some(uid) = uid {
        body["metadata"]["uid"] = json!(uid);
    }
    api.bytes(Call::merge_patch(path, &body)).await?;
    Ok(())
}

/// Returns whether an error means that another object has the name now: its UID is not the one of
/// the request.
pub fn is_of_another_object(error: &KubeError) -> bool {
    match error {
        // the precondition of a deletion, and of the scale subresource
        KubeError::Conflict(message) => message.contains("UID"),
        // a patch of the object itself
        KubeError::Invalid(message) => message.contains("metadata.uid"),
        _ => false,
    }
}

/// Creates an object in a collection.
pub async fn create(api: &Api, collection: &str, object: &Value) -> Result<Value, KubeError> {
    api.json(Call::send(Method::POST, collection, object)).await
}

/// Replaces an object; its `resourceVersion` prevents overwriting a concurrent edit.
pub async fn replace(api: &Api, path: &str, object: &Value) -> Result<Value, KubeError> {
    api.json(Call::send(Method::PUT, path, object)).await
}

/// Deletes the object with exactly this UID and version.
pub async fn delete_exact(
    api: &Api,
    path: &str,
    uid: &str,
    resource_version: &str,
) -> Result<(), KubeError> {
    let body = json!({
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": { "uid": uid, "resourceVersion": resource_version },
    });
    api.bytes(Call::send(Method::DELETE, path, &body)).await?;
    Ok(())
}
